import type { Handle } from '../interpreter/index.js';
import { JournalHandle } from './journal-handle.js';
import { ReadyQueue } from './ready-queue.js';

/** Which handles are ready, and the bell that rings when something happens. */
export class Readiness {
  readonly #ready = new ReadyQueue<JournalHandle<unknown>>();
  #rung = false;
  #wake: () => void = () => {};
  #isWaiting = false;

  /** An entry has made it ready; the first one counts. */
  settle<T>(handle: JournalHandle<T>, seq: number, read: () => T): void {
    if (handle.ready) return;
    handle.settle(seq, read);
    this.#ready.add(handle as JournalHandle<unknown>);
    this.ring();
  }

  /** Handles that are waited for from now on; some may be ready already. */
  watch(added: readonly Handle<unknown>[]): void {
    for (const handle of added) if (handle instanceof JournalHandle && handle.ready) this.#ready.add(handle);
  }

  /** Of those that are waited for, the ready one with the lowest `seq`. */
  take(handles: ReadonlySet<Handle<unknown>>): Handle<unknown> | undefined {
    for (let next = this.#ready.take(); next !== undefined; next = this.#ready.take()) {
      if (handles.has(next)) return next;
    }
    return undefined;
  }

  ring(): void {
    this.#rung = true;
    this.#wake();
  }

  /** Whether it has rung since it was last heard. */
  hasRung(): boolean {
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }

  /** Waits for the bell; at once if it has rung since the last time. */
  async nextEvent(): Promise<void> {
    if (!this.#rung) {
      this.#isWaiting = true;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#isWaiting = false;
    }
    this.#rung = false;
  }

  /** Whether somebody waits for the bell, and it has not rung. */
  get isWaiting(): boolean {
    return this.#isWaiting && !this.#rung;
  }
}
