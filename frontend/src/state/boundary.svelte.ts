// The boundary of the open chat, what was allowed for longer, and the test of the sandbox.
import type { ChatPolicy, Fault, Grant, PolicyView, Task, TestReport } from '../rpc/api.gen';
import { asFault } from '../rpc/transport';
import { text } from '../text/text';
import { chats } from './chats.svelte';
import { host, transport } from './host.svelte';
import { notices } from './notices.svelte';

/** What a chat without a policy has. */
export const SEALED: ChatPolicy = { preset: 'sealed' };

class Boundary {
  /** What holds in the open chat; null until it is known. */
  view = $state.raw<PolicyView | null>(null);
  grants = $state.raw<Grant[] | null>(null);
  report = $state.raw<TestReport | null>(null);
  testing = $state(false);
  /** Why the last thing that was asked for here did not happen; shown beside it. */
  fault = $state.raw<Fault | null>(null);
  #round = 0;
  #before: string[] = []; // tasks that were there before the test

  /** The policy of the open chat. */
  readonly policy = $derived(chats.current?.policy ?? SEALED);

  /** How far the running test is. */
  readonly progress = $derived<Task | null>(
    (this.testing &&
      Object.values(host.tasks).find(
        (task) => task.unit === 'steps' && !this.#before.includes(task.id),
      )) ||
      null,
  );

  /** Asks what holds; without a chat, what a new one gets. */
  async load(): Promise<void> {
    const round = ++this.#round;
    const chat = chats.open;
    try {
      const view = await transport.call('policy.show', { chat });
      if (round === this.#round && chat === chats.open) this.view = view;
    } catch (cause) {
      if (round === this.#round) this.fault = asFault(cause);
    }
  }

  /** Changes the boundary of the open chat; begins the chat when it has none. True when done. */
  async set(policy: ChatPolicy): Promise<boolean> {
    this.fault = null;
    try {
      const chat = await chats.ensure();
      const view = await transport.call('policy.set', { chat, policy });
      this.#round++;
      if (chat === chats.open) this.view = view;
      notices.say(view.restarted ? text.boundaryRestarted : text.boundaryChanged);
      return true;
    } catch (cause) {
      this.fault = asFault(cause);
      return false;
    }
  }

  async loadGrants(): Promise<void> {
    try {
      this.grants = (await transport.call('grants.list', {})).grants ?? [];
    } catch (cause) {
      this.fault = asFault(cause);
    }
  }

  async revoke(id: string): Promise<void> {
    try {
      await transport.call('grants.revoke', { id });
      await this.loadGrants();
    } catch (cause) {
      this.fault = asFault(cause);
    }
  }

  /** Makes hostile attempts on this machine; the report stays until the next test. */
  async test(): Promise<void> {
    if (this.testing) return;
    this.#before = Object.keys(host.tasks);
    this.testing = true;
    this.fault = null;
    try {
      this.report = await transport.call('sandbox.test', {});
      notices.say(text.testDone);
    } catch (cause) {
      this.fault = asFault(cause);
    } finally {
      this.testing = false;
    }
  }
}

export const boundary = new Boundary();
