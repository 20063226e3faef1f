import { describe, expect, it } from 'vitest';
import { lines, stripANSI } from '../src/render/ansi';

const plain = (text: string) => lines(text).map((line) => line.map((span) => span.text).join(''));

describe('carriage returns', () => {
  it.each([
    ['10%\r20%\r30%', ['30%']],
    ['100%\r5%', ['5%0%']], // a terminal overwrites, it does not clear
    ['loading\r\x1b[Kdone', ['done']],
    ['a\r\nb\r\n', ['a', 'b', '']],
    ['ab\bc', ['ac']],
    ['\rx', ['x']],
  ])('%j', (text, want) => {
    expect(plain(text)).toEqual(want);
  });
});

describe('colours', () => {
  it('become classes and end where they are reset', () => {
    expect(lines('\x1b[31mred\x1b[0m plain \x1b[1;32mok\x1b[m')).toEqual([
      [
        { text: 'red', style: 'ansi-red' },
        { text: ' plain ', style: '' },
        { text: 'ok', style: 'ansi-green ansi-bold' },
      ],
    ]);
  });

  it('last over the end of a line', () => {
    expect(lines('\x1b[31ma\nb')[1]).toEqual([{ text: 'b', style: 'ansi-red' }]);
  });

  it('of 256 and more leave the text plain', () => {
    expect(lines('\x1b[38;5;196mx\x1b[38;2;1;2;3my')).toEqual([[{ text: 'xy', style: '' }]]);
  });
});

describe('control sequences', () => {
  it.each([
    ['\x1b]0;title\x07text', ['text']],
    ['\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\', ['link']],
    ['\x1b[2J\x1b[Hhome', ['home']],
    ['a\x00b\x07c', ['abc']],
    ['\x1b', ['']],
  ])('%j leaves only text', (text, want) => {
    expect(plain(text)).toEqual(want);
  });

  it('can be stripped without laying out', () => {
    expect(stripANSI('\x1b[1mbold\x1b[0m\x1b]0;t\x07')).toBe('bold');
  });

  it('is laid out in time that grows with the text only', () => {
    const text = '\x1b[31mx\x1b[0m'.repeat(20_000);
    expect(plain(text)[0]).toHaveLength(20_000);
  });
});
