// Static colours for code, from the same grammar that the editor uses.
import { classHighlighter, highlightCode } from '@lezer/highlight';
import { parser } from '@lezer/python';

const LIMIT = 60_000; // characters; longer code is shown plain

export const escapeHTML = (text: string): string =>
  text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** Characters that make text read otherwise than it is: direction marks, and signs without width. */
const HIDDEN = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Escaped text in which hidden characters are spelled out. */
const visible = (text: string): string =>
  escapeHTML(text).replace(HIDDEN, (c) => {
    const code = c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `<span class="hidden-char">U+${code}</span>`;
  });

const isPython = (language: string) => /^(python|py|python3|ipython)$/i.test(language.trim());

/** HTML of code with tok-* classes; everything from code is escaped. */
export function highlight(code: string, language: string): string {
  if (!isPython(language) || code.length > LIMIT) return visible(code);
  let html = '';
  highlightCode(
    code,
    parser.parse(code),
    classHighlighter,
    (text, classes) => {
      const safe = visible(text);
      html += classes ? `<span class="${classes}">${safe}</span>` : safe;
    },
    () => {
      html += '\n';
    },
  );
  return html;
}
