import type { BegunHandle, Handle } from '../interpreter/index.js';

/** A handle that is ready from the entry on that says so. */
export class JournalHandle<T> implements Handle<T> {
  readonly immediate: boolean;
  #ready: { readonly seq: number; readonly read: () => T } | undefined;

  constructor(immediate = false) {
    this.immediate = immediate;
  }

  get ready(): boolean {
    return this.#ready !== undefined;
  }

  /** The place in the journal of the entry that made it ready. */
  get seq(): number {
    return this.#ready?.seq ?? Number.POSITIVE_INFINITY;
  }

  get outcome(): T {
    if (this.#ready === undefined) throw new Error('fault in the interpreter: the outcome of what is not ready');
    return this.#ready.read();
  }

  /** The first settling counts; `read` is called when the outcome is wanted. */
  settle(seq: number, read: () => T): void {
    this.#ready ??= { seq, read };
  }
}

/** Of something that may have to be undone. */
export class JournalBegunHandle<T> extends JournalHandle<T> implements BegunHandle<T> {
  #begun: number | undefined;

  get begun(): number | undefined {
    return this.#begun;
  }

  /** @param seq of the entry that it begins with */
  begin(seq: number): void {
    this.#begun = seq;
  }
}
