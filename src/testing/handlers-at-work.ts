import type { Handler } from '../handlers/index.js';
import type { VirtualClock } from './virtual-clock.js';

/**
 * Virtual time for handlers that really do something: it stands still while one of them is at work
 * with a file or a socket, else their time-outs would run out on them.
 */
export class HandlersAtWork {
  readonly #names: string[] = [];
  #changed: () => void = () => {};
  #change = this.#nextChange();

  /** The same handlers, counted. */
  watch(handlers: readonly Handler[]): Handler[] {
    return handlers.map((handler) => ({
      ...handler,
      run: async (context) => {
        this.#names.push(handler.name);
        this.#tell();
        try {
          return await handler.run(context);
        } finally {
          this.#names.splice(this.#names.indexOf(handler.name), 1);
          this.#tell();
        }
      },
    }));
  }

  /** Names of the handlers that are at work, one for each call. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Settles when a handler next begins or ends. */
  get change(): Promise<void> {
    return this.#change;
  }

  /** Moves time from timer to timer, but never while a handler is at work, until the promise settles. */
  async until<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
    let settled = false;
    const marked = promise.then(
      () => void (settled = true),
      () => void (settled = true),
    );
    while (!settled) {
      if (this.#names.length > 0) await Promise.race([this.#change, marked]);
      else await clock.until(Promise.race([this.#change, marked]));
    }
    return promise;
  }

  async pass(clock: VirtualClock, ms: number): Promise<void> {
    await this.until(clock, new Promise<void>((resolve) => void clock.setTimer(ms, resolve)));
    await clock.advance(0);
  }

  #tell(): void {
    this.#changed();
    this.#change = this.#nextChange();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => (this.#changed = resolve));
  }
}
