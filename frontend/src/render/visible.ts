// Text of others (names of files, hosts, code) made readable as what it is.

/** Characters that make text read otherwise than it is: control and direction marks, line ends, signs without width. */
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** A run of plain text, or the name of one hidden character. */
export interface Piece {
  text: string;
  hidden: boolean;
}

/** U+202E for the character that turns the direction of writing. */
export const codePoint = (c: string): string =>
  `U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/** Cuts a name into what is read and what is hidden in it. */
export function pieces(name: string): Piece[] {
  const list: Piece[] = [];
  let from = 0;
  for (const match of name.matchAll(HIDDEN)) {
    if (match.index > from) list.push({ text: name.slice(from, match.index), hidden: false });
    list.push({ text: codePoint(match[0]), hidden: true });
    from = match.index + match[0].length;
  }
  if (from < name.length) list.push({ text: name.slice(from), hidden: false });
  return list;
}

/** The name on one line with hidden characters spelled out, for where there is only text. */
export const plainName = (name: string): string =>
  pieces(name)
    .map(({ text, hidden }) => (hidden ? `[${text}]` : text))
    .join('');

/** A long name without its middle; the end tells the kind of file and stays. */
export function shorten(name: string, most: number): string {
  const letters = [...name];
  if (letters.length <= most) return name;
  const head = Math.floor((most - 1) * 0.4);
  return [
    ...letters.slice(0, head),
    '…',
    ...letters.slice(letters.length - (most - 1 - head)),
  ].join('');
}

/** The last part of a path of any system. */
export const baseName = (path: string): string =>
  path
    .replace(/[\\/]+$/, '')
    .split(/[\\/]/)
    .pop() || path;
