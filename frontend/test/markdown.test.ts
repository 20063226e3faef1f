import { describe, expect, it } from 'vitest';
import { blocks, markdown } from '../src/render/markdown';

/** The elements and attributes a browser would make of the text. */
function parsed(text: string): HTMLElement {
  const place = document.createElement('div');
  place.innerHTML = markdown(text);
  return place;
}

describe('safety', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)>',
    '<iframe src="https://example.org"></iframe>',
    '<a href="javascript:alert(1)">x</a>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](file:///etc/passwd)',
    '[x](vbscript:x)',
    '![x](https://example.org/track.png)',
    '![x](data:image/svg+xml;base64,AAAA)',
    '```html\n<script>alert(1)</script>\n```',
    '```"onmouseover="alert(1)\ncode\n```',
    '`<img src=x onerror=alert(1)>`',
    '| a |\n|--|\n| <img src=x onerror=alert(1)> |',
  ];

  it.each(hostile)('%j makes no element that acts or loads', (text) => {
    const place = parsed(text);
    expect(place.querySelector('script, img, svg, iframe, object, embed, form, style')).toBeNull();
    for (const element of place.querySelectorAll('*')) {
      for (const { name, value } of element.attributes) {
        expect(name).not.toMatch(/^on/);
        if (name === 'href') expect(value).toMatch(/^(https?:|mailto:)/i);
      }
    }
  });

  it('keeps harmless links, so that the test above can fail', () => {
    const link = parsed('[guide](https://example.org/a?b=c)').querySelector('a');
    expect(link?.getAttribute('href')).toBe('https://example.org/a?b=c');
  });

  it('shows an image as the address it would load', () => {
    const link = parsed('![plot](https://example.org/p.png)').querySelector('a');
    expect(link?.textContent).toBe('plot');
  });

  it('lets only the alignment of table cells pass as style', () => {
    const html = markdown('| a | b |\n|--:|:--|\n| 1 | 2 |');
    expect(html).toContain('text-align:right');
  });
});

describe('rendering', () => {
  it('makes what the text says', () => {
    const place = parsed('# Title\n\n- **one**\n- two\n\n| a |\n|--|\n| 1 |');
    expect(place.querySelector('h1')?.textContent).toBe('Title');
    expect(place.querySelectorAll('li')).toHaveLength(2);
    expect(place.querySelector('strong')?.textContent).toBe('one');
    expect(place.querySelector('td')?.textContent).toBe('1');
  });

  it('colours Python and escapes it', () => {
    const place = parsed('```python\nimport os  # <b>\n```');
    expect(place.querySelector('.tok-keyword')?.textContent).toBe('import');
    expect(place.querySelector('pre')?.textContent).toBe('import os  # <b>');
  });

  it('keeps earlier blocks while the text grows', () => {
    const first = blocks('One.\n\nTwo');
    const second = blocks('One.\n\nTwo words\n\n- list', first);
    expect(second[0]).toBe(first[0]);
    expect(second).toHaveLength(3);
  });

  it.each([
    'a\n\n```python\nx = 1',
    '- a\n  - b\n\n  c\n\n1. d',
    '> quote\n> more\n\ntext',
    '[ref]\n\n[ref]: https://example.org',
  ])('%j gives the same in one go as piece by piece', (text) => {
    let grown = blocks('');
    for (let i = 1; i <= text.length; i++) grown = blocks(text.slice(0, i), grown);
    expect(grown.map((b) => b.html)).toEqual(blocks(text).map((b) => b.html));
  });
});
