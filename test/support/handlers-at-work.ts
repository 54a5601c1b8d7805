import type { Handler } from 'runsheet';
import type { VirtualClock } from 'runsheet/testing';

/**
 * Virtual time for handlers that really do something: it stands still while one of them is at work
 * with a file or a socket, else their time-outs would run out on them.
 */
export class HandlersAtWork {
  #count = 0;
  #changed: () => void = () => {};
  #change = this.#nextChange();

  /** The same handlers, counted. */
  watch(handlers: readonly Handler[]): Handler[] {
    return handlers.map((handler) => ({
      ...handler,
      run: async (context) => {
        this.#add(1);
        try {
          return await handler.run(context);
        } finally {
          this.#add(-1);
        }
      },
    }));
  }

  /** Moves time from timer to timer, but never while a handler is at work, until the promise settles. */
  async until<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
    let settled = false;
    const marked = promise.then(
      () => void (settled = true),
      () => void (settled = true),
    );
    while (!settled) {
      if (this.#count > 0) await Promise.race([this.#change, marked]);
      else await clock.until(Promise.race([this.#change, marked]));
    }
    return promise;
  }

  async pass(clock: VirtualClock, ms: number): Promise<void> {
    await this.until(clock, new Promise<void>((resolve) => void clock.setTimer(ms, resolve)));
    await clock.advance(0);
  }

  #add(change: number): void {
    this.#count += change;
    this.#changed();
    this.#change = this.#nextChange();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => (this.#changed = resolve));
  }
}
