// The messages of the person's language, and numbers as that language writes them.
import { en, type Messages } from './en';

const languages: Record<string, Messages> = { en };

function pick(): { messages: Messages; code: string } {
  const wanted = typeof navigator === 'undefined' ? [] : (navigator.languages ?? []);
  for (const tag of wanted) {
    const code = tag.toLowerCase().split('-')[0];
    if (languages[code]) return { messages: languages[code], code: tag };
  }
  return { messages: en, code: 'en' };
}

const picked = pick();

/** The messages to show. */
export const text: Messages = picked.messages;

function format(options?: Intl.NumberFormatOptions): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(picked.code, options);
  } catch {
    return new Intl.NumberFormat('en', options);
  }
}

const whole = format({ maximumFractionDigits: 0 });
const tenth = format({ maximumFractionDigits: 1 });
const share = format({ style: 'percent', maximumFractionDigits: 0 });

/** 12,345 */
export const count = (n: number): string => whole.format(n);

/** 43 %, from 0..1. */
export const percent = (part: number): string => share.format(Math.min(1, Math.max(0, part)));

/** Bytes in decimal units, as file managers and model pages write them. */
export function size(bytes: number): string {
  if (!Number.isFinite(bytes) || bytes < 0) return '';
  if (bytes < 1000) return `${whole.format(bytes)} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${(value < 10 ? tenth : whole).format(value)} ${units[unit]}`;
}

/** 8.2k tokens, or the plain number when it is small. */
export function tokens(n: number): string {
  if (n < 1000) return whole.format(n);
  const thousands = n / 1000;
  return `${(thousands < 10 ? tenth : whole).format(thousands)}k`;
}

/** A day with its time, or the time alone when it is today. */
export function moment(at: string, now = new Date()): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  const time: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };
  const today = date.toDateString() === now.toDateString();
  const options = today ? time : { ...time, day: 'numeric' as const, month: 'short' as const };
  try {
    return new Intl.DateTimeFormat(picked.code, options).format(date);
  } catch {
    return new Intl.DateTimeFormat('en', options).format(date);
  }
}

/** Seconds as "0.4 s", "12 s", "3 min 5 s". */
export function duration(seconds: number): string {
  if (seconds < 10) return `${tenth.format(seconds)} s`;
  if (seconds < 60) return `${whole.format(seconds)} s`;
  const all = Math.round(seconds);
  const rest = all % 60;
  const minutes = (all - rest) / 60;
  return rest ? `${minutes} min ${rest} s` : `${minutes} min`;
}
