import type { Clock, Timer } from '../../src/common/index.js';

/** Time that stands still until it is moved. */
export class ManualClock implements Clock {
  #time = 0;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { at: this.#time + delayMs, callback };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  advance(ms: number): void {
    const until = this.#time + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#time = Math.max(this.#time, next.at);
      next.callback();
    }
    this.#time = until;
  }
}

/** Time in which every timer is over in the next turn of the event loop; for code that waits for somebody in vain. */
export class HastyClock implements Clock {
  #time = 0;

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const immediate = setImmediate(() => {
      this.#time += delayMs;
      callback();
    });
    return { cancel: () => clearImmediate(immediate) };
  }
}

/** Lets everything go on that needs no timer. */
export async function turns(count = 3): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
