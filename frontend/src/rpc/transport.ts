import type { Attached, Event, Fault, Methods } from './api.gen';

/** A call that the host answered with a fault, or that did not reach it. */
export class RpcError extends Error {
  constructor(readonly fault: Fault) {
    super(fault.title);
    this.name = 'RpcError';
  }
}

/** The code of a fault that was made here because the host did not answer. */
export const UNREACHABLE = 'page.unreachable';

/** Receives what the host tells. */
export interface Listener {
  /** The stream is up. Passing events may have been missed before this. */
  open(): void;
  batch(events: Event[]): void;
  /** The stream broke; it is tried again without being asked. */
  lost(): void;
}

/** How the page reaches the host. A window and a served page differ here only. */
export interface Transport {
  /** "window" or "served". */
  readonly mode: 'window' | 'served';
  call<M extends keyof Methods>(method: M, params: Methods[M]['in']): Promise<Methods[M]['out']>;
  /** Starts the stream; since() gives the last sequence number folded. Returns the way to end it. */
  listen(since: () => number, to: Listener): () => void;
  /** Tries a broken stream at once. */
  reconnect(): void;
  /** Keeps content that only the page holds. */
  upload(chat: string, name: string, content: Blob): Promise<Attached>;
  /** The native dialog, where there is one. */
  pickFiles?(): Promise<string[]>;
  /** The native dialog for one folder, where there is one; "" when the person changed their mind. */
  pickFolder?(): Promise<string>;
  /** Paths dropped on the window, where the page may know them. */
  onDrop?(handler: (paths: string[]) => void): () => void;
  /** Opens an address in the person's browser. */
  openURL(address: string): void;
  /** Saves a blob where the person says. */
  save(hash: string, name: string, mime: string): Promise<void>;
}

/** Where a blob's content is. */
export function blobURL(hash: string, mime = ''): string {
  const query = mime ? `?type=${encodeURIComponent(mime)}` : '';
  return `/blob/${encodeURIComponent(hash)}${query}`;
}

/** Turns anything thrown into a fault that can be shown. */
export function asFault(thrown: unknown): Fault {
  if (thrown instanceof RpcError) return thrown.fault;
  return { code: 'internal', title: thrown instanceof Error ? thrown.message : String(thrown) };
}
