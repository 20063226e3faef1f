// Repairs of webview behaviour that must happen before anything else runs.

/** WebKitGTK under LANG=C calls the language "C", and every Intl constructor then throws. */
export function guardLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US' });
    Object.defineProperty(navigator, 'languages', { value: ['en-US'] });
  }
}

/** True for a drag that carries files. WebKitGTK names them text/uri-list, not "Files". */
export function carriesFiles(transfer: DataTransfer | null): boolean {
  const types = transfer?.types ?? [];
  return types.includes('Files') || types.includes('text/uri-list');
}

/** Without this a dropped file replaces the page. */
export function guardDrops(): void {
  for (const type of ['dragenter', 'dragover', 'drop'] as const) {
    addEventListener(
      type,
      (event) => {
        if (!carriesFiles(event.dataTransfer)) return;
        event.preventDefault();
        if (type !== 'drop' && event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
      },
      true,
    );
  }
}

/** True while Enter belongs to an input method that is composing a word. */
export function composing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
