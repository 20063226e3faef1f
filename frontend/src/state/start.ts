// Joins the connection to the stores.
import type { Event } from '../rpc/api.gen';
import { asFault } from '../rpc/transport';
import { chats } from './chats.svelte';
import { drafts } from './drafts.svelte';
import { host, transport } from './host.svelte';
import { notices } from './notices.svelte';
import { theme } from './theme.svelte';

/** At most one fold per frame, and one per this many ms where frames stand still. */
const HIDDEN = 100;

/** Starts the page. Returns the way to stop it. */
export function start(): () => void {
  theme.start();
  const queue: Event[] = [];
  let due = false;
  const flush = () => {
    if (!due) return;
    due = false;
    const events = queue.splice(0);
    host.fold(events);
    chats.fold(events);
  };
  const batch = (events: Event[]) => {
    queue.push(...events);
    if (due) return;
    due = true;
    // A page in the background gets no frames; its answer must not pile up.
    setTimeout(flush, HIDDEN);
    if (!document.hidden) requestAnimationFrame(flush);
  };
  let stop = () => {};
  let ended = false;
  const open = async () => {
    host.link = 'open';
    try {
      await Promise.all([host.refresh(), chats.refreshList(), chats.refetch()]);
    } catch (cause) {
      notices.fault(asFault(cause));
    }
  };
  const begin = async () => {
    try {
      await chats.start();
    } catch {
      host.link = 'lost'; // the stream below keeps trying
    }
    if (ended) return;
    stop = transport.listen(() => chats.seq, {
      open: () => void open(),
      batch,
      lost: () => (host.link = 'lost'),
    });
  };
  void begin();
  addEventListener('pagehide', () => drafts.save());
  return () => {
    ended = true;
    stop();
  };
}
