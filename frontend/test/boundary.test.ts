import { describe, expect, it } from 'vitest';
import { reportText, sections } from '../src/render/report';
import { baseName, pieces, plainName, shorten } from '../src/render/visible';
import type { Attempt, TestReport } from '../src/rpc/api.gen';
import { badHost, hoursUntil, isAbsolute, splitHosts } from '../src/state/policy';

describe('names', () => {
  it.each([
    ['report.md', 'report.md'],
    ['Отчёт 2026 – 报告.csv', 'Отчёт 2026 – 报告.csv'],
    ['invoice\u202Efdp.exe', 'invoice[U+202E]fdp.exe'],
    ['a\nb\r\tc', 'a[U+000A]b[U+000D][U+0009]c'],
    ['\u001b[31mred', '[U+001B][31mred'],
    ['x\u{e0041}y\u2028z\u00a0w', 'x[U+E0041]y[U+2028]z\u00a0w'],
    ['<b>&amp;', '<b>&amp;'],
    ['', ''],
  ])('%j is shown as %j', (name, want) => expect(plainName(name)).toBe(want));

  it('lose nothing when they are cut into pieces', () => {
    expect(pieces('\u202Ea\u202C')).toEqual([
      { text: 'U+202E', hidden: true },
      { text: 'a', hidden: false },
      { text: 'U+202C', hidden: true },
    ]);
  });

  it('that are long keep their end, and whole letters', () => {
    expect(shorten('abcdef', 6)).toBe('abcdef');
    expect(shorten('abcdefghij.txt', 8)).toBe('ab…j.txt');
    expect(shorten('🙂'.repeat(9), 5)).toBe('🙂…🙂🙂🙂');
  });

  it.each([
    ['/home/ada/reports/', 'reports'],
    ['C:\\Users\\Ada\\отчёты', 'отчёты'],
    ['/', '/'],
  ])('of folders: %j ends in %j', (path, want) => expect(baseName(path)).toBe(want));
});

describe('what is written into a boundary', () => {
  it('hosts are separated by anything and kept once', () => {
    expect(splitHosts(' a.org, b.org;a.org\n*.c.org ')).toEqual(['a.org', 'b.org', '*.c.org']);
    expect(splitHosts(' ')).toEqual([]);
  });

  it.each(['example.org', '*.example.org', 'пример.рф:8443', 'localhost', '10.0.0.1:80'])(
    '%s is a host',
    (host) => expect(badHost([host])).toBe(''),
  );

  it.each(['https://a.org', 'a.*.org', '*', 'a b', 'a..b', 'a\u202Eb', 'a:port'])(
    '%j is none',
    (host) => expect(badHost(['ok.org', host])).toBe(host),
  );

  it('folders are absolute on every system', () => {
    expect(['/a', 'C:\\a', 'd:/a', '\\\\server\\share'].every(isAbsolute)).toBe(true);
    expect(['a', './a', '~/a', 'C:a', ''].some(isAbsolute)).toBe(false);
  });

  it('today ends at midnight and is never 0 hours, which would be without end', () => {
    expect(hoursUntil('today', new Date(2026, 10, 30, 18))).toBe(6);
    expect(hoursUntil('today', new Date(2026, 10, 30, 23, 59, 59, 999))).toBeGreaterThan(0);
  });
});

describe('a test of the sandbox', () => {
  const attempt = (group: string, result: Attempt['result'], more: Partial<Attempt> = {}) => ({
    group,
    name: 'n',
    plain: `Code tries ${group}.`,
    result,
    layer: '',
    note: '',
    proven: true,
    ...more,
  });
  const report: TestReport = {
    level: 'full',
    seconds: 3,
    attempts: [
      attempt('files', 'stopped', { layer: 'mounts' }),
      attempt('later', 'stopped'),
      attempt('files', 'escaped', { note: 'read\u202E it' }),
      attempt('files', 'stopped'),
      attempt('kernel', 'absent'),
    ],
    escaped: 1,
    stopped: 3,
    absent: 1,
    unproven: 0,
  };

  it('tells first what got out, then the rest by kind', () => {
    const parts = sections(report);
    expect(parts.escaped).toHaveLength(1);
    expect(parts.stopped.map((g) => [g.label, g.attempts.length])).toEqual([
      ['Files', 2],
      ['later', 1],
    ]);
    expect(parts.absent).toHaveLength(1);
  });

  it('is written as text without hidden characters', () => {
    const lines = reportText(report).split('\n');
    expect(lines[1]).toBe('3 stopped, 1 got out, 1 not possible here');
    expect(lines[2]).toBe('  got out: Code tries files. – read[U+202E] it');
    expect(lines).toContain('  stopped: Code tries files. (stopped by mounts)');
  });

  it('of a host that lists nothing is empty', () => {
    const none = { ...report, attempts: null as unknown as Attempt[] };
    expect(sections(none).stopped).toEqual([]);
  });
});
