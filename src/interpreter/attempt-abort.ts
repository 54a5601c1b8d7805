/**
 * What can end an attempt early: its scope, its time-out, the engine. The signal is made when a
 * handler asks for it, since most never do and signals are dear.
 */
export class AttemptAbort {
  #controller: AbortController | undefined;
  #ended: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#ended !== undefined;
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#controller?.abort(reason);
  }
}
