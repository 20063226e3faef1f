// Static colours for code, from the same grammar that the editor uses.
import { classHighlighter, highlightCode } from '@lezer/highlight';
import { parser } from '@lezer/python';
import { pieces, type Piece } from './visible';

const LIMIT = 60_000; // characters; longer code is shown plain

export const escapeHTML = (text: string): string =>
  text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** Escaped text in which hidden characters are spelled out; tabs and line ends are code. */
const visible = (text: string): string =>
  text
    .split(/([\t\n\r\f]+)/)
    .flatMap((part, i) => (i % 2 ? [part] : pieces(part).map(spelled)))
    .join('');

const spelled = ({ text, hidden }: Piece): string =>
  hidden ? `<span class="hidden-char">${text}</span>` : escapeHTML(text);

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
