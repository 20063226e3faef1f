// The connection, and what the host says about itself: status, models, tasks.
import { httpTransport } from '../rpc/http';
import type { Event, ModelRow, Status, Task } from '../rpc/api.gen';
import { asFault, type Transport } from '../rpc/transport';
import { inWindow, wailsTransport } from '../rpc/wails';
import { notices } from './notices.svelte';

export const transport: Transport = inWindow() ? wailsTransport() : httpTransport();

class Host {
  link = $state<'connecting' | 'open' | 'lost'>('connecting');
  status = $state.raw<Status | null>(null);
  models = $state.raw<ModelRow[] | null>(null);
  tasks = $state.raw<Record<string, Task>>({});
  /** Task id of a model's download, by ref. */
  pulls = $state.raw<Record<string, string>>({});

  readonly installed = $derived((this.models ?? []).filter((row) => row.installed));
  /** The model a new chat gets. */
  readonly standard = $derived(
    this.installed.find((row) => row.default) ?? this.installed[0] ?? null,
  );

  model(ref: string): ModelRow | undefined {
    return (this.models ?? []).find((row) => row.ref === ref);
  }

  async refresh(): Promise<void> {
    // A question can be sent as soon as the models are known; what the machine
    // can do takes longer to find out.
    await Promise.all([
      transport.call('models.list', {}).then(({ models }) => {
        this.models = models ?? [];
      }),
      transport.call('app.status', {}).then((status) => {
        this.status = status;
      }),
    ]);
  }

  fold(events: Event[]): void {
    for (const { task } of events) {
      if (!task) continue;
      const before = this.tasks[task.id];
      this.tasks = { ...this.tasks, [task.id]: task };
      if (task.state !== 'running' && before?.state !== task.state) {
        this.refresh().catch((cause) => notices.fault(asFault(cause)));
      }
    }
  }

  /** The download of a model, while it runs or after it failed. */
  pullOf(ref: string): Task | undefined {
    const id = this.pulls[ref];
    if (id) return this.tasks[id];
    // Begun by another door or before a reload: known by its label.
    const name = this.model(ref)?.name;
    return Object.values(this.tasks).find(
      (task) =>
        task.state === 'running' &&
        task.unit === 'bytes' &&
        (task.label === ref || task.label === name),
    );
  }

  async pull(ref: string): Promise<void> {
    try {
      const { task } = await transport.call('models.pull', { ref });
      this.pulls = { ...this.pulls, [ref]: task };
      if (!this.tasks[task]) {
        const size = this.model(ref)?.size ?? 0;
        const begun: Task = {
          id: task,
          label: ref,
          done: 0,
          total: size,
          unit: 'bytes',
          state: 'running',
        };
        this.tasks = { ...this.tasks, [task]: begun };
      }
    } catch (cause) {
      notices.fault(asFault(cause));
    }
  }
}

export const host = new Host();
