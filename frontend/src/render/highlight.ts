// Static colours for code, from the same grammar that the editor uses.
import { classHighlighter, highlightCode } from '@lezer/highlight';
import { parser } from '@lezer/python';

const LIMIT = 60_000; // characters; longer code is shown plain

export const escapeHTML = (text: string): string =>
  text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const isPython = (language: string) => /^(python|py|python3|ipython)$/i.test(language.trim());

/** HTML of code with tok-* classes; everything from code is escaped. */
export function highlight(code: string, language: string): string {
  if (!isPython(language) || code.length > LIMIT) return escapeHTML(code);
  let html = '';
  highlightCode(
    code,
    parser.parse(code),
    classHighlighter,
    (text, classes) => {
      const safe = escapeHTML(text);
      html += classes ? `<span class="${classes}">${safe}</span>` : safe;
    },
    () => {
      html += '\n';
    },
  );
  return html;
}
