import { pickFiles } from '../state/attach';
import { chats } from '../state/chats.svelte';
import { ui } from '../state/ui.svelte';
import { text } from '../text/text';
import type { Command } from './registry';

const focus = (testid: string) =>
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(`[data-testid="${testid}"]`)?.focus(),
  );

/** Puts the cursor where the next question is written. */
export const focusComposer = () => focus('composer');

export const newChat: Command = {
  id: 'chat.new',
  label: text.newChat,
  key: 'Mod+N',
  run() {
    chats.startNew();
    ui.foldAfterChoice();
    focusComposer();
  },
};

/** Browsers keep Ctrl+N for themselves in a tab; this one reaches the page everywhere. */
export const newChatInTab: Command = { ...newChat, id: 'chat.new.tab', key: 'Mod+Shift+O' };

export const findChat: Command = {
  id: 'chat.find',
  label: text.search,
  key: 'Mod+K',
  run() {
    ui.sidebar = true;
    focus('chat-filter');
  },
};

export const attach: Command = {
  id: 'files.attach',
  label: text.attach,
  key: 'Mod+O',
  run: () => void pickFiles(),
};

export const stop: Command = {
  id: 'turn.stop',
  label: text.stop,
  key: 'Escape',
  when: () => Boolean(chats.timeline?.turn) && !document.querySelector('dialog[open], .popover'),
  run: () => void chats.stop(),
};

export const commands: Command[] = [newChat, newChatInTab, findChat, attach, stop];
