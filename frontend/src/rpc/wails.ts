import type { Event } from './api.gen';
import { httpTransport } from './http';
import type { Transport } from './transport';

/** What the window binds for the page. */
interface Bridge {
  PickFiles(): Promise<string[] | null>;
  /** Optional: the native dialog for one folder. */
  PickFolder(): Promise<string>;
  Watch(since: number): Promise<void>;
  /** Optional: the native save dialog for a blob. */
  SaveBlob?(hash: string, name: string): Promise<void>;
}

interface Runtime {
  EventsOn(name: string, handler: (data: any) => void): () => void;
  OnFileDrop?(handler: (x: number, y: number, paths: string[]) => void, useTarget: boolean): void;
  OnFileDropOff?(): void;
  BrowserOpenURL(address: string): void;
}

declare global {
  interface Window {
    go?: { desktop?: { Bridge?: Bridge } };
    runtime?: Runtime;
  }
}

const RETRY = 1000; // ms

/** True in the desktop window. */
export function inWindow(): boolean {
  return Boolean(window.go?.desktop?.Bridge && window.runtime);
}

/** The desktop window: calls as on the served page, news and dialogs through the bridge. */
export function wailsTransport(): Transport {
  const bridge = window.go!.desktop!.Bridge!;
  const runtime = window.runtime!;
  const http = httpTransport();
  let retryNow = () => {};
  return {
    ...http,
    mode: 'window',
    listen(since, to) {
      let ended = false;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const off = runtime.EventsOn('atoll:events', (batch: Event[]) => to.batch(batch ?? []));
      const offLost = runtime.EventsOn('atoll:lost', () => {
        to.lost();
        clearTimeout(timer);
        timer = setTimeout(watch, RETRY);
      });
      const watch = async () => {
        clearTimeout(timer);
        if (ended) return;
        try {
          await bridge.Watch(since());
          to.open();
        } catch {
          to.lost();
          timer = setTimeout(watch, RETRY);
        }
      };
      retryNow = watch;
      void watch();
      return () => {
        ended = true;
        clearTimeout(timer);
        off?.();
        offLost?.();
      };
    },
    reconnect: () => retryNow(),
    async pickFiles() {
      return (await bridge.PickFiles()) ?? [];
    },
    pickFolder: () => bridge.PickFolder(),
    onDrop(handler) {
      runtime.OnFileDrop?.((_x, _y, paths) => handler(paths ?? []), false);
      return () => runtime.OnFileDropOff?.();
    },
    openURL: (address) => runtime.BrowserOpenURL(address),
    async save(hash, name, mime) {
      if (bridge.SaveBlob) await bridge.SaveBlob(hash, name);
      else await http.save(hash, name, mime);
    },
  };
}
