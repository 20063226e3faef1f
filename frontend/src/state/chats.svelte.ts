// The list of chats and the one that is open.
import type { Answer, Chat, Event, Example, File as HostFile, TurnState } from '../rpc/api.gen';
import { asFault, RpcError } from '../rpc/transport';
import { text } from '../text/text';
import { attachPaths } from './attach';
import { drafts } from './drafts.svelte';
import { host, transport } from './host.svelte';
import { notices } from './notices.svelte';
import { items, type Item } from './items';
import { apply, applyBuffered, fromView, type Timeline } from './timeline';

/** Whether code runs after asking, without asking, or never. */
export type Approve = Chat['approve'];

const OPEN = 'atoll.open';

class Chats {
  list = $state.raw<Chat[] | null>(null);
  /** Id of the open chat; "" is a chat that is not begun. */
  open = $state('');
  timeline = $state.raw<Timeline | null>(null);
  items = $state.raw<Item[]>([]);
  /** Running turns by chat, for the list. */
  turns = $state.raw<Record<string, TurnState>>({});
  /** Choices for a chat that is not begun. */
  nextModel = $state('');
  nextApprove = $state<Approve>('ask');
  /** True from the click on Send until the host has the prompt. */
  sending = $state(false);

  readonly current = $derived(
    this.timeline?.chat ?? (this.list ?? []).find((chat) => chat.id === this.open) ?? null,
  );
  readonly busy = $derived(this.sending || Boolean(this.timeline?.turn));
  readonly approve = $derived<Approve>(this.current?.approve ?? this.nextApprove);
  readonly model = $derived(
    (this.open ? this.current?.model : this.nextModel) || host.standard?.ref || '',
  );

  seq = 0; // last entry of the whole store that was folded
  #buffer: Event[] | null = null; // events that came while the open chat was fetched
  #fetching = 0;
  #creating: Promise<string> | null = null;

  /** Loads the list and the chat that was open last. */
  async start(): Promise<void> {
    await this.refreshList();
    const last = localStorage.getItem(OPEN) ?? '';
    const known = (this.list ?? []).some((chat) => chat.id === last);
    if (known) await this.select(last);
    else if (this.list?.length) {
      // Tells from which entry on to listen.
      this.seq = (await transport.call('chats.get', { id: this.list[0].id })).seq;
    }
  }

  async refreshList(): Promise<void> {
    const { chats } = await transport.call('chats.list', {});
    this.list = chats ?? [];
  }

  async select(id: string): Promise<void> {
    if (id !== this.open) {
      this.open = id;
      this.#show(null);
      localStorage.setItem(OPEN, id);
    }
    if (id) await this.refetch();
  }

  /** Fetches the open chat; events that arrive meanwhile are folded after it. */
  async refetch(): Promise<void> {
    const id = this.open;
    if (!id) return;
    const round = ++this.#fetching;
    this.#buffer = [];
    try {
      const view = await transport.call('chats.get', { id });
      if (round !== this.#fetching || id !== this.open) return;
      const buffered = this.#buffer ?? [];
      this.#buffer = null;
      this.seq = Math.max(this.seq, view.seq);
      this.#noteTurn(id, view.turn);
      this.#show(applyBuffered(fromView(view, this.timeline), buffered));
    } catch (cause) {
      if (round === this.#fetching) this.#buffer = null;
      const fault = asFault(cause);
      if (id === this.open && host.link === 'open') {
        notices.fault(fault);
        if (!this.timeline) this.startNew();
      }
    }
  }

  /** Folds a batch of events. */
  fold(events: Event[]): void {
    let gap = false;
    const before = this.timeline;
    for (const event of events) {
      if (event.seq) {
        if (event.seq > this.seq + 1) gap = true;
        this.seq = Math.max(this.seq, event.seq);
      }
      if (event.turn) {
        this.#noteTurn(event.turn.chat, event.turn);
        // What the model can read is known once it was loaded.
        if (event.turn.phase === 'done') host.refresh().catch(() => {});
        if (event.turn.fault) notices.fault(event.turn.fault); // the chat could not keep it
      }
      if (event.chat) this.#noteChat(event.chat);
      if (event.gone) this.#noteGone(event.gone);
    }
    if (this.#buffer) {
      this.#buffer.push(...events);
    } else if (this.timeline) {
      const next = apply(this.timeline, events);
      if (next !== this.timeline) this.#show(next);
      if (next.stale) gap = true;
    }
    if (gap) void this.refetch();
    this.#speak(before, this.timeline);
  }

  #show(timeline: Timeline | null): void {
    this.timeline = timeline;
    this.items = timeline ? items(timeline, this.items) : [];
  }

  #noteTurn(chat: string, turn: TurnState | undefined): void {
    const turns = { ...this.turns };
    if (turn && turn.phase !== 'done') turns[chat] = turn;
    else delete turns[chat];
    this.turns = turns;
  }

  #noteChat(chat: Chat): void {
    const others = (this.list ?? []).filter((known) => known.id !== chat.id);
    this.list = [chat, ...others].sort((a, b) => b.updated.localeCompare(a.updated));
  }

  #noteGone(id: string): void {
    this.list = (this.list ?? []).filter((known) => known.id !== id);
    drafts.clear(id);
    if (this.open === id) this.startNew();
  }

  /** Tells a screen reader about the end of an answer, once. */
  #speak(before: Timeline | null, after: Timeline | null): void {
    if (!before || !after || before.chat.id !== after.chat.id) return;
    if (after.asks.length > before.asks.length) notices.say(text.approveNews);
    const previewed = (timeline: Timeline) => timeline.asks.filter((ask) => ask.previewed).length;
    if (previewed(after) > previewed(before)) notices.say(text.askPreviewReady);
    if (!before.turn || after.turn) return;
    const last = after.entries[after.entries.length - 1];
    if (last?.kind === 'fault') notices.say(text.answerFault(last.body.title));
    else if (last?.kind === 'assistant') {
      notices.say(text.answerDone(String(last.body.text ?? '').slice(0, 200)));
    }
  }

  startNew(): void {
    this.open = '';
    this.#fetching++;
    this.#buffer = null;
    this.#show(null);
    localStorage.removeItem(OPEN);
  }

  /** The id of the open chat; begins it when it has none. */
  async ensure(): Promise<string> {
    if (this.open) return this.open;
    this.#creating ??= this.#create().finally(() => (this.#creating = null));
    return this.#creating;
  }

  async #create(): Promise<string> {
    const chat = await transport.call('chats.create', {
      ...(this.nextModel ? { model: this.nextModel } : {}),
      approve: this.nextApprove,
    });
    this.#noteChat(chat);
    drafts.move('', chat.id);
    await this.select(chat.id);
    return chat.id;
  }

  /** Sends the draft of the open chat. */
  async send(): Promise<void> {
    if (this.busy) return;
    const draft = drafts.of(this.open);
    const words = draft.text.trim();
    if (!words || draft.chips.some((chip) => chip.pending)) return;
    const files = draft.chips.filter((chip) => !chip.file.problem).map((chip) => plain(chip.file));
    await this.#post(words, files, draft);
  }

  /** Sends the last message once more, after a fault. */
  async sendAgain(): Promise<void> {
    const asked = [...this.items].reverse().find((item) => item.kind === 'user');
    if (this.busy || asked?.kind !== 'user') return;
    await this.#post(asked.body.text, asked.body.files ?? []);
  }

  async #post(words: string, files: HostFile[], draft?: ReturnType<typeof drafts.of>) {
    this.sending = true;
    let id = this.open;
    try {
      id = await this.ensure();
      if (draft) drafts.clear(id);
      await transport.call('chats.send', { id, text: words, files });
    } catch (cause) {
      if (draft && !drafts.of(id).text) drafts.put(id, draft);
      notices.fault(asFault(cause));
    } finally {
      this.sending = false;
    }
  }

  stop = () => this.#try(() => transport.call('chats.stop', { id: this.open }));

  answer(ask: string, allow: boolean, more: Omit<Answer, 'ask' | 'allow'> = {}) {
    return this.#try(() => transport.call('chats.answer', { ask, allow, ...more }));
  }

  /** Tries the code of a question out; its effects come as the same question once more. */
  preview(ask: string) {
    return this.#try(() => transport.call('chats.preview', { ask }));
  }

  rename(id: string, title: string) {
    return this.#try(async () =>
      this.#noteHead(await transport.call('chats.rename', { id, title })),
    );
  }

  remove(id: string) {
    return this.#try(async () => {
      await transport.call('chats.delete', { id });
      this.#noteGone(id);
    });
  }

  setModel(ref: string) {
    if (!this.open) {
      this.nextModel = ref;
      return Promise.resolve(true);
    }
    const id = this.open;
    return this.#try(async () =>
      this.#noteHead(await transport.call('chats.set', { id, model: ref })),
    );
  }

  setApprove(approve: Approve) {
    if (!this.open) {
      this.nextApprove = approve;
      return Promise.resolve(true);
    }
    const id = this.open;
    return this.#try(async () =>
      this.#noteHead(await transport.call('chats.set', { id, approve })),
    );
  }

  /** A new chat with the example's file attached and its question written. */
  async example(example: Example): Promise<void> {
    if (this.items.length > 0) this.startNew(); // an empty chat is new enough
    drafts.put(this.open, { text: example.prompt, chips: [] });
    await attachPaths([example.file]);
  }

  #noteHead(chat: Chat): void {
    this.#noteChat(chat);
    if (this.timeline?.chat.id === chat.id) this.#show({ ...this.timeline, chat });
  }

  /** Runs a call; a fault becomes a notice. Returns whether it went well. */
  async #try(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (cause) {
      if (!(cause instanceof RpcError)) console.error(cause);
      notices.fault(asFault(cause));
      return false;
    }
  }
}

function plain(file: HostFile & { problem?: string }): HostFile {
  const copy = { ...file };
  delete copy.problem;
  return copy;
}

export const chats = new Chats();
