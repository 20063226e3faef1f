import type { Chat } from '../rpc/api.gen';

export type GroupName = 'today' | 'yesterday' | 'week' | 'older';

const DAY = 24 * 60 * 60 * 1000; // ms

/** Sorts chats, newest first, under the days they were last used; empty groups are left out. */
export function groups(list: Chat[], now: Date): { name: GroupName; chats: Chat[] }[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const result: { name: GroupName; chats: Chat[] }[] = [];
  for (const chat of list) {
    const at = new Date(chat.updated).getTime();
    const name: GroupName =
      at >= midnight
        ? 'today'
        : at >= midnight - DAY
          ? 'yesterday'
          : at >= midnight - 7 * DAY
            ? 'week'
            : 'older';
    const last = result[result.length - 1];
    if (last?.name === name) last.chats.push(chat);
    else {
      const known = result.find((group) => group.name === name);
      if (known) known.chats.push(chat);
      else result.push({ name, chats: [chat] });
    }
  }
  return result;
}
