// Which part shows an output, and what a data frame's JSON holds.
import type { Output } from '../rpc/api.gen';

export const TABLE = 'application/vnd.atoll.table+json';

/** The visible part of a data frame; see kernel.Table. */
export interface Table {
  columns: string[];
  types: string[];
  index: unknown[];
  rows: unknown[][];
  shape: [number, number];
}

export type Shown = 'stream' | 'table' | 'figure' | 'text' | 'unknown';

// No SVG: as a document it can hold script, and programs here draw PNG.
const FIGURES = /^image\/(png|jpeg|gif|webp)$/;

/** The richest way in which an output can be shown. */
export function shownAs(output: Output): Shown {
  if (output.stream) return 'stream';
  if (output.blob && output.mime === TABLE) return 'table';
  if (output.blob && FIGURES.test(output.mime ?? '')) return 'figure';
  if (output.plain || output.text) return 'text';
  return 'unknown';
}

/** True when a column holds numbers, by the library's own name of its type. */
export function isNumber(type: string): boolean {
  return /^(u?int|float|decimal|complex|number)/i.test(type);
}

/** A cell as text; null for a missing value. */
export function cellText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}
