import type { Handle } from '../interpreter/index.js';

/**
 * Calls of handlers and child runs that the walk has come to, in that order. None begins before all that is due has been
 * decided: what an overdue deadline or a cancellation ends has then never begun.
 */
export class Beginnings {
  readonly #waiting = new Map<Handle<unknown>, () => void>();

  /** @param begin appends the entry that it begins with */
  add(handle: Handle<unknown>, begin: () => void): void {
    this.#waiting.set(handle, begin);
  }

  /** Its scope was aborted. Answers whether it had not begun yet. */
  withdraw(handle: Handle<unknown>): boolean {
    return this.#waiting.delete(handle);
  }

  get any(): boolean {
    return this.#waiting.size > 0;
  }

  /** Begins one after the other, until there is none or `isFull` says so. */
  begin(isFull: () => boolean): void {
    for (const [handle, begin] of this.#waiting) {
      if (isFull()) return;
      this.#waiting.delete(handle);
      begin();
    }
  }
}
