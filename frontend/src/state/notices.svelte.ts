// Short notes at the edge of the page, and what a screen reader is told.
import type { Fault } from '../rpc/api.gen';

export interface Notice {
  id: number;
  fault: Fault;
}

class Notices {
  list = $state.raw<Notice[]>([]);
  /** Read out politely. */
  spoken = $state('');
  #next = 1;

  fault(fault: Fault): void {
    if (this.list.some((known) => known.fault.title === fault.title)) return;
    this.list = [...this.list, { id: this.#next++, fault }];
  }

  dismiss(id: number): void {
    this.list = this.list.filter((notice) => notice.id !== id);
  }

  say(sentence: string): void {
    this.spoken = sentence;
  }
}

export const notices = new Notices();
