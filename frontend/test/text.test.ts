import { describe, expect, it } from 'vitest';
import { keyLabel, matches } from '../src/commands/registry';
import { carriesFiles, composing, guardLanguage } from '../src/guards';
import { cellText, isNumber, shownAs, TABLE } from '../src/render/mime';
import { groups } from '../src/state/groups';
import { duration, moment, size, tokens } from '../src/text/text';

describe('numbers', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1500, '1.5 kB'],
    [999_600, '1 MB'],
    [1_929_903_264, '1.9 GB'],
    [-1, ''],
  ])('%d bytes is %j', (bytes, want) => expect(size(bytes)).toBe(want));

  it.each([
    [812, '812'],
    [8192, '8.2k'],
    [32768, '33k'],
  ])('%d tokens is %j', (n, want) => expect(tokens(n)).toBe(want));

  it.each([
    [0.42, '0.4 s'],
    [12.6, '13 s'],
    [185, '3 min 5 s'],
    [600, '10 min'],
    [119.8, '2 min'],
  ])('%d seconds is %j', (n, want) => expect(duration(n)).toBe(want));
});

it('a moment of today is a time, another has its day, and nonsense stays', () => {
  const now = new Date(2026, 10, 30, 12);
  expect(moment(new Date(2026, 10, 30, 9, 5).toISOString(), now)).toMatch(/9:05/);
  expect(moment(new Date(2026, 10, 29, 9, 5).toISOString(), now)).toMatch(/29/);
  expect(moment('soon', now)).toBe('soon');
});

describe('outputs', () => {
  it.each([
    [{ stream: 'stdout', text: 'x' }, 'stream'],
    [{ mime: TABLE, blob: 'h', plain: 'x' }, 'table'],
    [{ mime: 'image/png', blob: 'h', plain: '<Figure>' }, 'figure'],
    [{ mime: 'image/svg+xml', blob: 'h', plain: 'x' }, 'text'],
    [{ mime: 'text/html', blob: 'h', plain: 'x' }, 'text'],
    [{ mime: 'text/plain', plain: '42' }, 'text'],
    [{ mime: 'video/mp4', blob: 'h' }, 'unknown'],
  ])('%j is shown as %s', (output, want) => expect(shownAs(output)).toBe(want));

  it('tells number columns by type', () => {
    expect(['int64', 'Float32', 'uint8'].every(isNumber)).toBe(true);
    expect(['object', 'bool', 'datetime64[ns]', 'string'].some(isNumber)).toBe(false);
  });

  it('tells missing from empty', () => {
    expect(cellText(null)).toBeNull();
    expect(cellText('')).toBe('');
    expect(cellText(false)).toBe('false');
  });
});

describe('keys', () => {
  const press = (key: string, more: KeyboardEventInit = {}) =>
    new KeyboardEvent('keydown', { key, ...more });

  it('match with exactly their modifiers', () => {
    expect(matches('Mod+N', press('n', { ctrlKey: true }))).toBe(true);
    expect(matches('Mod+N', press('n'))).toBe(false);
    expect(matches('Mod+N', press('N', { ctrlKey: true, shiftKey: true }))).toBe(false);
    expect(matches('Escape', press('Escape'))).toBe(true);
    expect(keyLabel('Mod+K')).toBe('Ctrl+K');
  });

  it('of an input method are left alone', () => {
    expect(composing(press('Enter', { isComposing: true }))).toBe(true);
    expect(composing({ isComposing: false, keyCode: 229 } as KeyboardEvent)).toBe(true);
    expect(composing(press('Enter'))).toBe(false);
  });
});

describe('guards', () => {
  it('see files in what WebKitGTK and Chromium call them', () => {
    const transfer = (types: string[]) => ({ types }) as unknown as DataTransfer;
    expect(carriesFiles(transfer(['text/uri-list', 'text/html']))).toBe(true);
    expect(carriesFiles(transfer(['Files']))).toBe(true);
    expect(carriesFiles(transfer(['text/plain']))).toBe(false);
    expect(carriesFiles(null)).toBe(false);
  });

  it('replace the language "C"', () => {
    const before = navigator.language;
    Object.defineProperty(navigator, 'language', {
      value: 'C',
      configurable: true,
      writable: true,
    });
    expect(() => new Intl.NumberFormat(navigator.language)).toThrow();
    guardLanguage();
    expect(() => new Intl.NumberFormat(navigator.language)).not.toThrow();
    expect(navigator.language).not.toBe(before === 'C' ? '' : 'C');
  });
});

it('chats are grouped by the day of their last use', () => {
  const now = new Date(2026, 10, 30, 12);
  const chat = (id: string, updated: Date) =>
    ({ id, updated: updated.toISOString() }) as Parameters<typeof groups>[0][number];
  const list = [
    chat('a', new Date(2026, 10, 30, 0, 1)),
    chat('b', new Date(2026, 10, 29, 23)),
    chat('c', new Date(2026, 10, 25)),
    chat('d', new Date(2025, 1, 1)),
  ];
  expect(groups(list, now).map((g) => [g.name, g.chats.map((c) => c.id)])).toEqual([
    ['today', ['a']],
    ['yesterday', ['b']],
    ['week', ['c']],
    ['older', ['d']],
  ]);
});
