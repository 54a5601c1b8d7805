/** Those who want to know of changes by others; several changes before they are told are one. */
export class ChangeListeners {
  readonly #listeners = new Set<() => void>();
  #told = true;

  get size(): number {
    return this.#listeners.size;
  }

  add(listener: () => void): () => void {
    // A wrapper of its own, so that one function added twice is also ended twice.
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Tells them soon, but never inside the call that made the change. */
  notify(): void {
    if (!this.#told || this.#listeners.size === 0) return;
    this.#told = false;
    queueMicrotask(() => {
      this.#told = true;
      for (const listener of [...this.#listeners]) {
        try {
          listener();
        } catch {
          // It must not throw; if it does, that is no reason for the others not to hear, nor for the process to end.
        }
      }
    });
  }

  clear(): void {
    this.#listeners.clear();
  }
}
