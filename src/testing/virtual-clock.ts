import type { Clock, Timer } from '../common/index.js';

/**
 * Time that stands still until a test moves it: a wait of two weeks takes no time at all.
 *
 *     const clock = new VirtualClock();
 *     const engine = createEngine({ storage: new MemoryStorage(), clock, … });
 *     const run = await clock.until(engine.result(id));
 */
export class VirtualClock implements Clock {
  readonly #startedAt: number;
  #now: number;
  /** In order of their time; of the same time, in the order in which they were set. */
  readonly #timers: { readonly at: number; readonly callback: () => void }[] = [];

  /** @param startAt epoch milliseconds; default 2030-01-01T00:00:00Z */
  constructor(startAt = Date.UTC(2030, 0, 1)) {
    this.#startedAt = startAt;
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#startedAt;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { at: this.#now + Math.max(0, delayMs), callback };
    const later = this.#timers.findIndex(({ at }) => at > timer.at);
    this.#timers.splice(later < 0 ? this.#timers.length : later, 0, timer);
    return {
      cancel: () => {
        const place = this.#timers.indexOf(timer);
        if (place >= 0) this.#timers.splice(place, 1);
      },
    };
  }

  /** When the next timer fires; undefined where none is set. */
  get nextAt(): number | undefined {
    return this.#timers[0]?.at;
  }

  /** Lets everything run that needs no time to go by. */
  rest(): Promise<void> {
    return settle();
  }

  /** Moves time to the next timer and fires it, then rests. Answers whether there was one. */
  async fireNext(): Promise<boolean> {
    if (this.#timers.length === 0) return false;
    await this.#fire();
    return true;
  }

  /** Moves time to a point before or at which the next timer is set, without firing it. */
  moveTo(time: number): void {
    if (time < this.#now || time > (this.nextAt ?? time)) throw new RangeError('time is not free to be moved there');
    this.#now = time;
  }

  /** Moves time by so much, firing what becomes due on the way, each at its own time. */
  async advance(byMs: number): Promise<void> {
    const end = this.#now + byMs;
    await settle();
    for (;;) {
      const next = this.#timers[0];
      if (next === undefined || next.at > end) break;
      await this.#fire();
    }
    this.#now = end;
    await settle();
  }

  /** Moves time from timer to timer until the promise settles. @throws where nothing is left to wait for */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = (): void => void (settled = true);
    promise.then(mark, mark);
    for (;;) {
      await settle();
      if (settled) return promise;
      if (this.#timers.length === 0) {
        // Work outside of virtual time (a file, a database) may still be under way.
        await new Promise((resolve) => setTimeout(resolve, 1));
        continue;
      }
      await this.#fire();
    }
  }

  async #fire(): Promise<void> {
    const timer = this.#timers.shift();
    if (timer === undefined) return;
    this.#now = Math.max(this.#now, timer.at);
    timer.callback();
    await settle();
  }
}

/** Enough turns of the event loop for whatever runs on promises to come to rest. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
