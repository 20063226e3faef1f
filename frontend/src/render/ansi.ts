// Terminal text as lines: carriage returns overwrite, colours become classes,
// every other control sequence is dropped.

/** A run of characters in one style. */
export interface Span {
  text: string;
  style: string; // class names, "" for plain
}

interface Style {
  color: string;
  bold: boolean;
  dim: boolean;
}

const COLORS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

// CSI sequences, OSC strings (titles, links), charset choices and lone escapes.
const SEQUENCE =
  /\x1b\[([0-9;:?<=>]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?/g;
const CONTROL = /[\x00-\x07\x0b\x0c\x0e-\x1f\x7f]/g;

/** The text without escape sequences; carriage returns and backspaces stay. */
export function stripANSI(text: string): string {
  return text.replace(SEQUENCE, '');
}

/** Splits terminal text into lines of styled spans. */
export function lines(text: string): Span[][] {
  const style: Style = { color: '', bold: false, dim: false };
  return text.split('\n').map((line) => layout(line.replace(/\r+$/, ''), style));
}

/** Lays out one line: a cursor writes cells, and moves back on \r and \b. */
function layout(line: string, style: Style): Span[] {
  if (!/[\x1b\r\b]/.test(line)) {
    const plain = line.replace(CONTROL, '');
    return plain ? [{ text: plain, style: classes(style) }] : [];
  }
  const cells: { char: string; style: string }[] = [];
  let cursor = 0;
  const write = (piece: string) => {
    const now = classes(style);
    for (const char of piece.replace(CONTROL, '')) {
      if (char === '\r') cursor = 0;
      else if (char === '\b') cursor = Math.max(0, cursor - 1);
      else cells[cursor++] = { char, style: now };
    }
  };
  let from = 0;
  for (const match of line.matchAll(SEQUENCE)) {
    write(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === 'm') paint(style, match[1]);
    else if (match[2] === 'K') cursor = erase(cells, cursor, match[1]);
  }
  write(line.slice(from));
  return join(cells);
}

/** Erase in line: to the end (0), to the start (1), all (2). */
function erase(cells: { char: string; style: string }[], cursor: number, how: string): number {
  if (how === '' || how === '0') cells.length = Math.min(cells.length, cursor);
  else if (how === '2') cells.length = 0;
  else for (let i = 0; i < cursor && i < cells.length; i++) cells[i] = { char: ' ', style: '' };
  return cursor;
}

function join(cells: { char: string; style: string }[]): Span[] {
  const spans: Span[] = [];
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i] ?? { char: ' ', style: '' };
    const last = spans[spans.length - 1];
    if (last && last.style === cell.style) last.text += cell.char;
    else spans.push({ text: cell.char, style: cell.style });
  }
  return spans;
}

function paint(style: Style, parameters: string): void {
  const codes = parameters.split(/[;:]/).map((code) => Number(code || 0));
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i];
    if (code === 0) Object.assign(style, { color: '', bold: false, dim: false });
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code >= 30 && code <= 37) style.color = COLORS[code - 30];
    else if (code >= 90 && code <= 97) style.color = COLORS[code - 90];
    else if (code === 39) style.color = '';
    else if (code === 38 || code === 48) {
      // 256 colours and true colour keep the text plain: theirs may not be readable here.
      i += codes[i + 1] === 5 ? 2 : codes[i + 1] === 2 ? 4 : 0;
      if (code === 38) style.color = '';
    }
  }
}

function classes(style: Style): string {
  const names = [];
  if (style.color) names.push(`ansi-${style.color}`);
  if (style.bold) names.push('ansi-bold');
  if (style.dim) names.push('ansi-dim');
  return names.join(' ');
}
