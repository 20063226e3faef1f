// What happened in the open chat, as a pure reading of entries and passing
// events. Nothing here touches the DOM or the network.
import type {
  Ask,
  Assistant,
  Chat,
  ChatView,
  Delta,
  Entry,
  Event,
  Output,
  Result,
  TurnState,
} from '../rpc/api.gen';

/** What streamed so far of a running turn; replaced by the entries that follow. */
export interface Live {
  turn: string;
  text: string;
  code: { call: string; text: string }[]; // calls being written
  outputs: Record<string, Output[]>; // of running calls
}

/** One chat as the page knows it. Values are never changed in place. */
export interface Timeline {
  chat: Chat;
  entries: Entry[];
  seq: number; // entries up to here are known
  turn?: TurnState;
  asks: Ask[];
  live: Live;
  stale: boolean; // something was missed: fetch the chat again
}

const noLive = (turn = ''): Live => ({ turn, text: '', code: [], outputs: {} });

/**
 * Starts from what chats.get answered. Entries never change, so those of an
 * earlier reading of the same chat are kept as they are.
 */
export function fromView(view: ChatView, prev?: Timeline | null): Timeline {
  const known = new Map((prev?.entries ?? []).map((entry) => [entry.id, entry]));
  let live = noLive(view.turn?.turn);
  for (const delta of view.live ?? []) live = addDelta(live, delta);
  return {
    chat: view.chat,
    entries: (view.entries ?? []).map((entry) => known.get(entry.id) ?? entry),
    seq: view.seq,
    turn: running(view.turn),
    asks: (view.asks ?? []).filter((ask) => ask.open),
    live,
    stale: false,
  };
}

/** Folds a batch of events; events of other chats change nothing. */
export function apply(timeline: Timeline, events: Event[]): Timeline {
  let next = timeline;
  for (const event of events) next = step(next, event);
  return next;
}

/**
 * Folds events that arrived while chats.get was under way. Entries are told
 * apart by their number; deltas have none, so those that the answer already
 * holds are found by comparing text.
 */
export function applyBuffered(timeline: Timeline, events: Event[]): Timeline {
  const rest = withoutSeen(timeline.live, events);
  return apply(timeline, rest);
}

function step(timeline: Timeline, event: Event): Timeline {
  const id = timeline.chat.id;
  if (event.entry) return event.entry.chat === id ? addEntry(timeline, event) : timeline;
  if (event.delta) {
    const delta = event.delta;
    if (delta.chat !== id) return timeline;
    const live = delta.turn === timeline.live.turn ? timeline.live : noLive(delta.turn);
    return { ...timeline, live: addDelta(live, delta) };
  }
  if (event.turn) return event.turn.chat === id ? setTurn(timeline, event.turn) : timeline;
  if (event.ask) {
    const ask = event.ask;
    if (ask.chat !== id) return timeline;
    const others = timeline.asks.filter((known) => known.id !== ask.id);
    return { ...timeline, asks: ask.open ? [...others, ask] : others };
  }
  if (event.chat) return event.chat.id === id ? { ...timeline, chat: event.chat } : timeline;
  return timeline;
}

function running(turn?: TurnState): TurnState | undefined {
  return turn && turn.phase !== 'done' ? turn : undefined;
}

function setTurn(timeline: Timeline, turn: TurnState): Timeline {
  if (turn.phase === 'done') {
    // A late "done" of an earlier turn must not end the present one.
    if (timeline.turn && timeline.turn.turn !== turn.turn) return timeline;
    return { ...timeline, turn: undefined, asks: [], live: noLive() };
  }
  const same = timeline.turn?.turn === turn.turn;
  const known = same ? timeline.turn : undefined;
  const merged: TurnState = {
    ...turn,
    model: turn.model ?? known?.model,
    context: turn.context ?? known?.context,
    used: turn.used ?? known?.used,
  };
  return {
    ...timeline,
    turn: merged,
    live: timeline.live.turn === turn.turn ? timeline.live : noLive(turn.turn),
  };
}

function addEntry(timeline: Timeline, event: Event): Timeline {
  const entry = event.entry!;
  const seq = event.seq ?? entry.seq;
  if (seq <= timeline.seq || timeline.entries.some((known) => known.id === entry.id)) {
    return timeline;
  }
  const leaf = timeline.entries[timeline.entries.length - 1];
  if ((entry.parent ?? '') !== (leaf?.id ?? '')) return { ...timeline, stale: true };
  return {
    ...timeline,
    seq,
    entries: [...timeline.entries, entry],
    live: settle(timeline.live, entry),
    asks: timeline.asks.filter((ask) => !decides(entry, ask.call.id)),
  };
}

function decides(entry: Entry, call: string): boolean {
  return (entry.kind === 'decision' || entry.kind === 'result') && entry.body?.call === call;
}

/** Drops from the passing part what an entry now says for good. */
function settle(live: Live, entry: Entry): Live {
  if (entry.kind === 'assistant') return { ...live, text: '', code: [] };
  if (entry.kind === 'result') {
    const outputs = { ...live.outputs };
    delete outputs[(entry.body as Result).call];
    return { ...live, outputs };
  }
  return live;
}

function addDelta(live: Live, delta: Delta): Live {
  switch (delta.kind) {
    case 'text':
      return { ...live, text: live.text + (delta.text ?? '') };
    case 'code':
      return { ...live, code: addCode(live.code, delta.call ?? '', delta.text ?? '') };
    case 'stdout':
    case 'stderr': {
      const piece = { stream: delta.kind, text: delta.text ?? delta.output?.text ?? '' };
      return withOutput(live, delta.call ?? '', piece);
    }
    case 'display':
      return delta.output ? withOutput(live, delta.call ?? '', delta.output) : live;
    default:
      return live;
  }
}

function addCode(code: Live['code'], call: string, text: string): Live['code'] {
  const at = code.findIndex((written) => written.call === call);
  if (at < 0) return [...code, { call, text }];
  return code.map((written, i) => (i === at ? { call, text: written.text + text } : written));
}

function withOutput(live: Live, call: string, piece: Output): Live {
  const outputs = appendOutput(live.outputs[call] ?? [], piece);
  return { ...live, outputs: { ...live.outputs, [call]: outputs } };
}

/** Appends a piece, joining text that continues the same stream. */
export function appendOutput(outputs: Output[], piece: Output): Output[] {
  const last = outputs[outputs.length - 1];
  if (last?.stream && last.stream === piece.stream && !piece.mime) {
    const joined = { ...last, text: (last.text ?? '') + (piece.text ?? '') };
    return [...outputs.slice(0, -1), joined];
  }
  return [...outputs, piece];
}

/** Removes the deltas at the start of each channel that the snapshot already holds. */
function withoutSeen(live: Live, events: Event[]): Event[] {
  const channels = new Map<string, number[]>(); // channel to positions in events
  events.forEach((event, i) => {
    const delta = event.delta;
    if (!delta || delta.turn !== live.turn) return;
    const key = `${delta.kind} ${delta.call ?? ''}`;
    channels.set(key, [...(channels.get(key) ?? []), i]);
  });
  const seen = new Set<number>();
  for (const positions of channels.values()) {
    const first = events[positions[0]].delta!;
    if (first.kind === 'display') {
      const shown = new Set((live.outputs[first.call ?? ''] ?? []).map((o) => o.blob ?? o.plain));
      for (const i of positions) {
        const output = events[i].delta!.output;
        if (output && shown.has(output.blob ?? output.plain)) seen.add(i);
      }
      continue;
    }
    const have = channelText(live, first);
    for (let count = positions.length; count > 0; count--) {
      const joined = positions
        .slice(0, count)
        .map((i) => events[i].delta!.text ?? '')
        .join('');
      if (joined && have.endsWith(joined)) {
        positions.slice(0, count).forEach((i) => seen.add(i));
        break;
      }
    }
  }
  return events.filter((_, i) => !seen.has(i));
}

function channelText(live: Live, delta: Delta): string {
  if (delta.kind === 'text') return live.text;
  if (delta.kind === 'code')
    return live.code.find((c) => c.call === (delta.call ?? ''))?.text ?? '';
  return (live.outputs[delta.call ?? ''] ?? [])
    .filter((output) => output.stream === delta.kind)
    .map((output) => output.text ?? '')
    .join('');
}

/** Tokens of the conversation as last told, for the context meter. */
export function usedTokens(timeline: Timeline): number {
  if (timeline.turn?.used) return timeline.turn.used;
  for (let i = timeline.entries.length - 1; i >= 0; i--) {
    const entry = timeline.entries[i];
    if (entry.kind !== 'assistant') continue;
    const usage = (entry.body as Assistant).usage;
    if (usage) return usage.prompt + usage.output;
  }
  return 0;
}
