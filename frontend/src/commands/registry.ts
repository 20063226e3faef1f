// What a person can do by key or button, as records.

/** One action. Its key works wherever it is not taken by the focused part. */
export interface Command {
  id: string;
  label: string;
  /** "Mod+N": Mod is Ctrl, and Cmd on a Mac. */
  key?: string;
  /** False leaves the key to others. */
  when?: () => boolean;
  run: () => void;
}

const isMac = typeof navigator !== 'undefined' && /Mac/i.test(navigator.platform);

/** True when the event is the key of the command. */
export function matches(key: string, event: KeyboardEvent): boolean {
  const parts = key.split('+');
  const name = parts.pop()!;
  const mod = parts.includes('Mod');
  return (
    event.key.toLowerCase() === name.toLowerCase() &&
    (isMac ? event.metaKey : event.ctrlKey) === mod &&
    event.shiftKey === parts.includes('Shift') &&
    !event.altKey
  );
}

/** The key as it is written on this system. */
export function keyLabel(key: string): string {
  return key.replace('Mod', isMac ? '⌘' : 'Ctrl').replace('Escape', 'Esc');
}

/** Runs the first command whose key it is. */
export function dispatch(commands: Command[], event: KeyboardEvent): boolean {
  for (const command of commands) {
    if (!command.key || !matches(command.key, event)) continue;
    if (command.when && !command.when()) continue;
    event.preventDefault();
    command.run();
    return true;
  }
  return false;
}
