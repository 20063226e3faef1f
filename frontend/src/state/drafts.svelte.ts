// What was written and attached but not sent, for each chat, kept over restarts.
import type { Attached } from '../rpc/api.gen';

/** A file of the composer; pending while the host reads it. */
export interface Chip {
  id: number;
  file: Attached;
  pending: boolean;
  /** The pasted text, which can be put into the message instead. */
  pasted?: string;
}

export interface Draft {
  text: string;
  chips: Chip[];
}

const KEY = 'atoll.drafts';
const EMPTY: Draft = { text: '', chips: [] };

class Drafts {
  #all = $state.raw<Record<string, Draft>>(load());
  #timer: ReturnType<typeof setTimeout> | undefined;

  of(chat: string): Draft {
    return this.#all[chat] ?? EMPTY;
  }

  setText(chat: string, text: string): void {
    this.#set(chat, { ...this.of(chat), text });
  }

  addChip(chat: string, chip: Chip): void {
    this.#set(chat, { ...this.of(chat), chips: [...this.of(chat).chips, chip] });
  }

  /** Replaces a chip, or removes it when there is no new one. */
  changeChip(chat: string, id: number, chips: Chip[]): void {
    const draft = this.of(chat);
    const list = draft.chips.flatMap((chip) => (chip.id === id ? chips : [chip]));
    this.#set(chat, { ...draft, chips: list });
  }

  /** Gives the draft of a chat that had no id yet its place. */
  move(from: string, to: string): void {
    const draft = this.of(from);
    this.#set(from, EMPTY);
    this.#set(to, draft);
  }

  put(chat: string, draft: Draft): void {
    this.#set(chat, draft);
  }

  clear(chat: string): void {
    this.#set(chat, EMPTY);
  }

  #set(chat: string, draft: Draft): void {
    const all = { ...this.#all, [chat]: draft };
    if (!draft.text && draft.chips.length === 0) delete all[chat];
    this.#all = all;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.save(), 300);
  }

  /** Writes now; called before the page goes away. */
  save(): void {
    const all = Object.entries(this.#all).map(([chat, draft]) => [
      chat,
      { text: draft.text, files: draft.chips.filter((c) => !c.pending).map((c) => c.file) },
    ]);
    try {
      localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(all)));
    } catch {
      // Full or forbidden storage: the draft still lives as long as the page.
    }
  }
}

let nextChip = 1;
export const chipId = (): number => nextChip++;

function load(): Record<string, Draft> {
  try {
    const saved = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<
      string,
      { text: string; files: Attached[] }
    >;
    return Object.fromEntries(
      Object.entries(saved).map(([chat, draft]) => [
        chat,
        {
          text: draft.text ?? '',
          chips: (draft.files ?? []).map((file) => ({ id: chipId(), file, pending: false })),
        },
      ]),
    );
  } catch {
    return {};
  }
}

export const drafts = new Drafts();
