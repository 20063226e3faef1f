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

/** Hours until the day ends, for what is remembered today; never 0, which means without end. */
export function hoursLeft(now = new Date()): number {
  const end = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
  return Math.max(1 / 60, (end.getTime() - now.getTime()) / 3_600_000);
}
