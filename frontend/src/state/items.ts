// What of a timeline is to be shown, in order.
import type { Ask, Assistant, Call, Decision, Fault, Output, Result, User } from '../rpc/api.gen';
import type { Timeline } from './timeline';

/** One thing on the screen. */
export type Item =
  | { kind: 'user'; key: string; at: string; body: User }
  | { kind: 'prose'; key: string; text: string; live: boolean; body?: Assistant }
  | {
      kind: 'cell';
      key: string;
      call: Call;
      writing: boolean;
      decision?: Decision;
      result?: Result;
      outputs?: Output[]; // while it runs
      ask?: Ask;
    }
  | { kind: 'fault'; key: string; body: Fault; last: boolean };

type Cell = Extract<Item, { kind: 'cell' }>;

/**
 * Lists what is to be shown, in order. Items of prev that did not change are
 * handed back as they are, so that a component reading one stays as it is.
 */
export function items(timeline: Timeline, prev: Item[] = []): Item[] {
  const list: Item[] = [];
  const cells = new Map<string, Cell>();
  // A model may number its calls anew in each answer, so the place is part of the key.
  // What is live stands after the same entry as what replaces it, and so keeps its key.
  const leaf = timeline.entries[timeline.entries.length - 1]?.id ?? '';
  const add = (call: Call, writing: boolean, after = leaf) => {
    const cell: Cell = { kind: 'cell', key: `cell ${after} ${call.id}`, call, writing };
    cells.set(call.id, cell);
    list.push(cell);
  };
  timeline.entries.forEach((entry, i) => {
    const body = entry.body ?? {};
    switch (entry.kind) {
      case 'user':
        list.push({ kind: 'user', key: entry.id, at: entry.at, body });
        break;
      case 'assistant':
        if (body.text || body.interrupted || body.stop === 'length') {
          list.push({
            kind: 'prose',
            key: `prose ${entry.parent ?? ''}`,
            text: body.text ?? '',
            live: false,
            body,
          });
        }
        for (const call of (body as Assistant).calls ?? []) add(call, false, entry.parent ?? '');
        break;
      case 'decision': {
        const cell = cells.get(body.call);
        if (cell) cell.decision = body;
        break;
      }
      case 'result': {
        const cell = cells.get(body.call);
        if (cell) cell.result = body;
        break;
      }
      case 'fault':
        list.push({
          kind: 'fault',
          key: entry.id,
          body,
          last: i === timeline.entries.length - 1 && !timeline.turn,
        });
    }
  });
  if (timeline.live.text) {
    list.push({ kind: 'prose', key: `prose ${leaf}`, text: timeline.live.text, live: true });
  }
  for (const { call, text } of timeline.live.code) {
    const id = call || 'writing';
    add({ id, language: 'python', code: text }, true);
  }
  for (const [call, outputs] of Object.entries(timeline.live.outputs)) {
    const cell = cells.get(call);
    if (cell && !cell.result) cell.outputs = outputs;
  }
  for (const ask of timeline.asks) {
    const known = cells.get(ask.call.id);
    if (!known || known.result) add(ask.call, false);
    const cell = cells.get(ask.call.id)!;
    cell.writing = false;
    cell.ask = ask;
  }
  const known = new Map(prev.map((item) => [item.key, item]));
  return list.map((item) => {
    const before = known.get(item.key);
    return before && same(before, item) ? before : item;
  });
}

/** Equal in every field; calls that are still written are compared by their code. */
function same(a: Item, b: Item): boolean {
  const left = a as unknown as Record<string, unknown>;
  const right = b as unknown as Record<string, unknown>;
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  for (const key of keys) {
    if (left[key] === right[key]) continue;
    if (key !== 'call') return false;
    const [x, y] = [left.call as Call, right.call as Call];
    if (x.id !== y.id || x.code !== y.code || x.language !== y.language) return false;
  }
  return true;
}
