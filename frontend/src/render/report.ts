// A test of the sandbox as a person reads it, and as text to send to somebody.
import type { Attempt, TestReport } from '../rpc/api.gen';
import { duration, text } from '../text/text';
import { plainName } from './visible';

/** Attempts of one kind, in the order in which they were made. */
export interface Group {
  name: string;
  label: string;
  attempts: Attempt[];
}

/** Splits a report: what got out first, then what was stopped by kind, then what cannot be tried. */
export function sections(report: TestReport): {
  escaped: Attempt[];
  stopped: Group[];
  absent: Attempt[];
} {
  const of = (result: Attempt['result']) =>
    (report.attempts ?? []).filter((attempt) => attempt.result === result);
  const groups = new Map<string, Attempt[]>();
  for (const attempt of of('stopped')) {
    groups.set(attempt.group, [...(groups.get(attempt.group) ?? []), attempt]);
  }
  return {
    escaped: of('escaped'),
    stopped: [...groups].map(([name, attempts]) => ({
      name,
      label: text.groups[name] ?? name,
      attempts,
    })),
    absent: of('absent'),
  };
}

const line = (attempt: Attempt) => {
  const by = attempt.layer ? ` (${text.refusedBy(attempt.layer)})` : '';
  const note = attempt.note ? ` – ${attempt.note}` : '';
  return plainName(`  ${text[attempt.result]}: ${attempt.plain}${by}${note}`);
};

/** The whole report as lines of text. */
export function reportText(report: TestReport): string {
  const { escaped, stopped, absent } = sections(report);
  return [
    text.reportTitle(report.level, duration(report.seconds)),
    text.reportCounts(report.stopped, report.escaped, report.absent),
    ...escaped.map(line),
    ...stopped.flatMap(({ label, attempts }) => [label, ...attempts.map(line)]),
    ...(absent.length ? [text.testAbsent(absent.length), ...absent.map(line)] : []),
    '',
  ].join('\n');
}
