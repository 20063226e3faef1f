// What a person writes into the fields of a boundary.

/** Names of hosts, however they were separated. */
export const splitHosts = (written: string): string[] => [
  ...new Set(written.split(/[\s,;]+/).filter((host) => host !== '')),
];

const HOST = /^(\*\.)?[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*(:\d{1,5})?$/u;

/** The first that is not the name of a host, or "". */
export const badHost = (hosts: string[]): string => hosts.find((host) => !HOST.test(host)) ?? '';

/** True for a path from the root on, of any system. */
export const isAbsolute = (path: string): boolean => /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path);

/** When what is remembered ends. */
export type End = 'hour' | 'today' | 'never';

/** Hours until then; 0 means without end, so the last moment of today is not 0. */
export function hoursUntil(end: End, now = new Date()): number {
  if (end === 'hour') return 1;
  if (end === 'never') return 0;
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
  return Math.max(1 / 60, (midnight.getTime() - now.getTime()) / 3_600_000);
}
