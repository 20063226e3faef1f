import { describe, expect, it } from 'vitest';
import type { Ask, Call, Chat, ChatView, Effects, Entry, Event } from '../src/rpc/api.gen';
import { items, type Item } from '../src/state/items';
import { apply, applyBuffered, fromView, usedTokens, type Timeline } from '../src/state/timeline';

const chat: Chat = {
  id: 'c',
  title: 'T',
  created: '',
  updated: '',
  leaf: '',
  model: 'm',
  approve: 'ask',
};

const view = (more: Partial<ChatView> = {}): ChatView => ({
  chat,
  entries: [],
  asks: [],
  live: [],
  seq: 0,
  ...more,
});

const usage = { prompt: 10, cached: 0, output: 5, seconds: 1 };

function entry(seq: number, kind: string, body: any, more: Partial<Entry> = {}): Entry {
  const parent = seq > 1 ? `e${seq - 1}` : undefined;
  return { seq, id: `e${seq}`, parent, chat: 'c', at: '', kind, body, ...more };
}

const told = (e: Entry): Event => ({ seq: e.seq, entry: e });
const said = (text: string): Event => ({ delta: { chat: 'c', turn: 't', kind: 'text', text } });
const call: Call = { id: 'k', language: 'python', code: 'print(1)' };
const kinds = (list: Item[]) => list.map((item) => item.kind);
const texts = (t: Timeline) => t.entries.map((e) => e.body.text);

const user = entry(1, 'user', { text: 'hello' });
const assistant = entry(2, 'assistant', { text: 'hi', usage });

describe('entries', () => {
  it('are appended in order', () => {
    const t = apply(fromView(view()), [told(user), told(assistant)]);
    expect(texts(t)).toEqual(['hello', 'hi']);
    expect(t.seq).toBe(2);
    expect(t.stale).toBe(false);
  });

  it('are folded once when they arrive twice', () => {
    const t = apply(fromView(view()), [told(user), told(user), told(assistant), told(user)]);
    expect(texts(t)).toEqual(['hello', 'hi']);
  });

  it('known from the snapshot are not folded again', () => {
    const t = apply(fromView(view({ entries: [user], seq: 1 })), [told(user), told(assistant)]);
    expect(texts(t)).toEqual(['hello', 'hi']);
  });

  it('whose parent is missing make the timeline stale and are not shown', () => {
    const t = apply(fromView(view()), [told(user), told(entry(3, 'assistant', { usage }))]);
    expect(texts(t)).toEqual(['hello']);
    expect(t.stale).toBe(true);
  });

  it('out of order make the timeline stale instead of swapping places', () => {
    const t = apply(fromView(view()), [told(assistant), told(user)]);
    expect(t.stale).toBe(true);
    expect(texts(t)).toEqual(['hello']);
  });

  it('of another chat change nothing', () => {
    const before = fromView(view());
    expect(apply(before, [told({ ...user, chat: 'other' })])).toBe(before);
  });
});

describe('deltas', () => {
  it('are joined and then replaced by the entry', () => {
    let t = apply(fromView(view({ entries: [user], seq: 1 })), [said('he'), said('llo')]);
    expect(t.live.text).toBe('hello');
    expect(items(t).at(-1)).toMatchObject({ kind: 'prose', text: 'hello', live: true });
    const key = items(t).at(-1)!.key;
    t = apply(t, [told(entry(2, 'assistant', { text: 'hello', usage }))]);
    expect(t.live.text).toBe('');
    expect(kinds(items(t))).toEqual(['user', 'prose']);
    expect(items(t).at(-1)).toMatchObject({ live: false, key }); // the part on screen stays
  });

  it('of a new turn drop what an earlier one left', () => {
    const other: Event = { delta: { chat: 'c', turn: 'u', kind: 'text', text: 'new' } };
    expect(apply(fromView(view()), [said('old'), other]).live.text).toBe('new');
  });

  it('of streams are joined while the stream is the same', () => {
    const out = (kind: 'stdout' | 'stderr', text: string): Event => ({
      delta: { chat: 'c', turn: 't', call: 'k', kind, text },
    });
    const t = apply(fromView(view()), [out('stdout', 'a'), out('stdout', 'b'), out('stderr', 'c')]);
    expect(t.live.outputs.k).toEqual([
      { stream: 'stdout', text: 'ab' },
      { stream: 'stderr', text: 'c' },
    ]);
  });

  it('that the snapshot already holds are not doubled', () => {
    const live = [said('one '), said('two ')].map((e) => e.delta!);
    const turn = { chat: 'c', turn: 't', phase: 'answer' as const };
    const start = fromView(view({ live, turn }));
    const t = applyBuffered(start, [said('two '), said('three')]);
    expect(t.live.text).toBe('one two three');
  });

  it('newer than the snapshot are all kept', () => {
    const live = [said('one ')].map((e) => e.delta!);
    const turn = { chat: 'c', turn: 't', phase: 'answer' as const };
    const t = applyBuffered(fromView(view({ live, turn })), [said('two '), said('three')]);
    expect(t.live.text).toBe('one two three');
  });
});

describe('turns', () => {
  it('keep what a later state leaves out, and end with done', () => {
    const t1 = apply(fromView(view()), [
      { turn: { chat: 'c', turn: 't', phase: 'prompt', done: 0.5, used: 7, context: 100 } },
      { turn: { chat: 'c', turn: 't', phase: 'answer' } },
    ]);
    expect(t1.turn).toMatchObject({ phase: 'answer', used: 7, context: 100 });
    expect(t1.turn?.done).toBeUndefined();
    expect(usedTokens(t1)).toBe(7);
    const t2 = apply(t1, [{ turn: { chat: 'c', turn: 't', phase: 'done' } }]);
    expect(t2.turn).toBeUndefined();
  });

  it('are not ended by the late end of an earlier one', () => {
    const t = apply(fromView(view()), [
      { turn: { chat: 'c', turn: 'new', phase: 'answer' } },
      { turn: { chat: 'c', turn: 'old', phase: 'done' } },
    ]);
    expect(t.turn?.turn).toBe('new');
  });
});

describe('calls', () => {
  const calls = entry(2, 'assistant', { text: 'look', calls: [call], stop: 'calls', usage });
  const ask: Ask = {
    id: 'a',
    chat: 'c',
    turn: 't',
    call,
    reasons: [],
    open: true,
    stage: 'before',
    canPreview: true,
    previewed: false,
    needs: [],
  };
  const begun = apply(fromView(view()), [told(user), told(calls), { ask }]);

  it('carry their open question until it is withdrawn', () => {
    expect(items(begun).at(-1)).toMatchObject({ kind: 'cell', ask: { id: 'a' } });
    const t = apply(begun, [{ ask: { ...ask, open: false } }]);
    expect((items(t).at(-1) as any).ask).toBeUndefined();
  });

  it('carry the effects of a preview in the same question', () => {
    const effects: Effects = {
      changes: [{ path: 'a.csv', kind: 'deleted', size: 0, was: 3, own: false }],
      more: 0,
      bytes: 0,
      procs: 1,
      hosts: [],
      seconds: 1,
      needs: [],
    };
    const t = apply(begun, [{ ask: { ...ask, effects, previewed: true } }]);
    expect(t.asks).toHaveLength(1);
    const before = items(begun);
    const after = items(t, before);
    expect(after.at(-1)).toMatchObject({ key: before.at(-1)!.key, ask: { id: 'a', effects } });
  });

  it('gather decision, running output and result in one cell', () => {
    const running = apply(begun, [
      told(entry(3, 'decision', { call: 'k', allow: true, by: 'person' })),
      { delta: { chat: 'c', turn: 't', call: 'k', kind: 'stdout', text: '1' } },
    ]);
    expect(running.asks).toEqual([]);
    expect(items(running).at(-1)).toMatchObject({ outputs: [{ stream: 'stdout', text: '1' }] });
    const outputs = [{ stream: 'stdout', text: '1\n' }];
    const ended = apply(running, [
      told(entry(4, 'result', { call: 'k', status: 'ok', outputs, seconds: 1 })),
    ]);
    expect(ended.live.outputs).toEqual({});
    const cell = items(ended).at(-1) as Extract<Item, { kind: 'cell' }>;
    expect(cell.result?.outputs).toEqual(outputs);
    expect(cell.decision?.allow).toBe(true);
    expect(kinds(items(ended))).toEqual(['user', 'prose', 'cell']);
  });

  it('with a number used before get a cell of their own', () => {
    const t = apply(begun, [
      told(entry(3, 'result', { call: 'k', status: 'error', seconds: 1 })),
      told(entry(4, 'assistant', { calls: [{ ...call, code: 'print(2)' }], usage })),
      told(entry(5, 'result', { call: 'k', status: 'ok', seconds: 1 })),
    ]);
    const cells = items(t).filter((item) => item.kind === 'cell');
    expect(cells.map((cell) => [cell.call.code, cell.result?.status])).toEqual([
      ['print(1)', 'error'],
      ['print(2)', 'ok'],
    ]);
    expect(new Set(cells.map((cell) => cell.key)).size).toBe(2);
  });

  it('that are still written are shown as such', () => {
    const t = apply(fromView(view()), [
      { delta: { chat: 'c', turn: 't', call: 'k', kind: 'code', text: 'pri' } },
      { delta: { chat: 'c', turn: 't', call: 'k', kind: 'code', text: 'nt' } },
    ]);
    expect(items(t)).toMatchObject([{ kind: 'cell', writing: true, call: { code: 'print' } }]);
  });
});

describe('items', () => {
  it('that did not change are the same objects', () => {
    const t1 = apply(fromView(view()), [told(user), told(assistant)]);
    const first = items(t1);
    const second = items(apply(t1, [said('x')]), first);
    expect(second[0]).toBe(first[0]);
    expect(second[1]).toBe(first[1]);
    expect(second).toHaveLength(3);
  });

  it('of a chat that is fetched again are the same objects', () => {
    const fetched = () => structuredClone(view({ entries: [user, assistant], seq: 2 }));
    const t1 = fromView(fetched());
    const first = items(t1);
    expect(items(fromView(fetched(), t1), first)).toEqual(first);
    expect(items(fromView(fetched(), t1), first)[1]).toBe(first[1]);
    expect(items(fromView(fetched()), first)[1]).not.toBe(first[1]);
  });

  it('offer to send again only for a fault at the end', () => {
    const fault = entry(2, 'fault', { code: 'x', title: 'X' });
    const t = apply(fromView(view()), [told(user), told(fault)]);
    expect(items(t).at(-1)).toMatchObject({ kind: 'fault', last: true });
    const more = apply(t, [told(entry(3, 'user', { text: 'again' }))]);
    expect(items(more)[1]).toMatchObject({ kind: 'fault', last: false });
  });
});
