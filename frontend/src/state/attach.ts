// The ways in which a file reaches the composer.
import type { Attached } from '../rpc/api.gen';
import { asFault } from '../rpc/transport';
import { baseName } from '../render/visible';
import { text } from '../text/text';
import { chats } from './chats.svelte';
import { chipId, drafts } from './drafts.svelte';
import { transport } from './host.svelte';
import { notices } from './notices.svelte';

/** Text pasted above this many characters becomes a file. */
export const LONG_PASTE = 8000;

/** Attaches files by path: window drops, the native dialog, examples. */
export async function attachPaths(paths: string[]): Promise<void> {
  if (paths.length === 0) return;
  let chat = chats.open;
  const ids = paths.map((path) => pending(baseName(path), 0));
  try {
    chat = await chats.ensure();
    const { files } = await transport.call('chats.attach', { id: chat, paths });
    settle(chat, ids, files);
  } catch (cause) {
    ids.forEach((id) => drafts.changeChip(chat, id, []));
    notices.fault(asFault(cause));
  }
}

/** Attaches content that only the page holds: browser drops and the clipboard. */
export async function attachContent(name: string, content: Blob, pasted?: string): Promise<void> {
  let chat = chats.open;
  const id = pending(name, content.size);
  try {
    chat = await chats.ensure();
    const file = await transport.upload(chat, name, content);
    drafts.changeChip(chat, id, [{ id, file, pending: false, pasted }]);
  } catch (cause) {
    const problem = asFault(cause).title;
    const file: Attached = { name, size: content.size, problem };
    drafts.changeChip(chat, id, [{ id, file, pending: false, pasted }]);
  }
}

/** Shows the native dialog or the browser's. */
export async function pickFiles(): Promise<void> {
  if (transport.pickFiles) {
    try {
      await attachPaths(await transport.pickFiles());
    } catch (cause) {
      notices.fault(asFault(cause));
    }
    return;
  }
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.onchange = () => {
    for (const file of input.files ?? []) void attachContent(file.name, file);
  };
  input.click();
}

/** Attaches what the clipboard holds beside short text. True when the paste is done with. */
export function paste(data: DataTransfer | null): boolean {
  if (!data) return false;
  const files = [...data.files];
  const words = data.getData('text/plain');
  // Spreadsheets offer a picture beside the text: the text is what is meant.
  if (files.length > 0 && !words) {
    for (const file of files) {
      const name = file.name && file.name !== 'image.png' ? file.name : pictureName(file.type);
      void attachContent(name, file);
    }
    return true;
  }
  if (words.length <= LONG_PASTE) return false;
  const table = words.split('\n', 5).every((line) => line === '' || line.includes('\t'));
  const name = table ? text.pastedTable : text.pastedText;
  const type = table ? 'text/tab-separated-values' : 'text/plain';
  void attachContent(name, new Blob([words], { type }), words);
  return true;
}

const pictureName = (type: string) => `${text.pastedImage}.${type.split('/')[1] ?? 'png'}`;

function pending(name: string, size: number): number {
  const id = chipId();
  drafts.addChip(chats.open, { id, file: { name, size }, pending: true });
  return id;
}

/** Puts the host's verdicts in place of the waiting chips. */
function settle(chat: string, ids: number[], files: Attached[]): void {
  ids.forEach((id, i) => {
    const last = i === ids.length - 1;
    const verdicts = last ? files.slice(i) : files.slice(i, i + 1); // a folder may give several
    const chips = verdicts.map((file, n) => ({
      id: n === 0 ? id : chipId(),
      file,
      pending: false,
    }));
    drafts.changeChip(chat, id, chips);
  });
}
