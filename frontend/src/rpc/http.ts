import { text } from '../text/text';
import type { Attached, Event, Fault } from './api.gen';
import { blobURL, RpcError, UNREACHABLE, type Transport } from './transport';

const FIRST_RETRY = 400; // ms
const LAST_RETRY = 5000; // ms

async function post(address: string, body: BodyInit, type: string): Promise<any> {
  let answer: Response;
  try {
    answer = await fetch(address, { method: 'POST', body, headers: { 'Content-Type': type } });
  } catch (cause) {
    throw new RpcError({
      code: UNREACHABLE,
      title: text.unreachable,
      hint: text.unreachableHint,
      detail: String(cause),
    });
  }
  if (answer.ok) return answer.json();
  throw new RpcError(await readFault(answer));
}

async function readFault(answer: Response): Promise<Fault> {
  const body = await answer.text();
  try {
    const fault = JSON.parse(body) as Fault;
    if (fault && fault.title) return fault;
  } catch {
    // Not a fault of ours; shown as it came.
  }
  return { code: `http.${answer.status}`, title: text.httpStatus(answer.status), detail: body };
}

/** The page as served on loopback: fetch for calls, server-sent events for news. */
export function httpTransport(): Transport {
  let retryNow = () => {};
  return {
    mode: 'served',
    call: (method, params) =>
      post(`/rpc/${method}`, JSON.stringify(params ?? {}), 'application/json'),
    listen(since, to) {
      let source: EventSource | undefined;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let wait = FIRST_RETRY;
      let ended = false;
      const connect = () => {
        clearTimeout(timer);
        source?.close();
        if (ended) return;
        // The browser's own retry would repeat the first "since".
        source = new EventSource(`/events?since=${since()}`);
        source.onopen = () => {
          wait = FIRST_RETRY;
          to.open();
        };
        source.onmessage = (message) => {
          to.batch(JSON.parse(message.data) as Event[]);
        };
        source.onerror = () => {
          source?.close();
          to.lost();
          clearTimeout(timer);
          timer = setTimeout(connect, wait);
          wait = Math.min(wait * 2, LAST_RETRY);
        };
      };
      retryNow = connect;
      connect();
      return () => {
        ended = true;
        clearTimeout(timer);
        source?.close();
      };
    },
    reconnect: () => retryNow(),
    upload: (chat, name, content): Promise<Attached> =>
      post(
        `/upload?chat=${encodeURIComponent(chat)}&name=${encodeURIComponent(name)}`,
        content,
        content.type || 'application/octet-stream',
      ),
    openURL(address) {
      window.open(address, '_blank', 'noopener,noreferrer');
    },
    async save(hash, name, mime) {
      const link = document.createElement('a');
      link.href = blobURL(hash, mime);
      link.download = name.split('/').pop() || name;
      document.body.append(link);
      link.click();
      link.remove();
    },
  };
}
