import { describe, expect, it } from 'vitest';
import { highlight } from '../src/render/highlight';

describe('code', () => {
  it('is escaped', () => {
    expect(highlight('print("<b>&")', 'python')).not.toContain('<b>');
  });

  it.each(['python', 'text'])('spells hidden characters out (%s)', (language) => {
    const html = highlight('if ok: # \u202e evil \u2066\nx\u200b = 1', language);
    for (const name of ['U+202E', 'U+2066', 'U+200B']) {
      expect(html).toContain(`<span class="hidden-char">${name}</span>`);
    }
    expect(html).not.toMatch(/[\u200b\u202e\u2066]/);
  });

  it('leaves other scripts as they are', () => {
    expect(highlight('# Привет, 世界, שלום', 'python')).toContain('Привет, 世界, שלום');
  });
});
