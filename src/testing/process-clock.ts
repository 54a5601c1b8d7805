import { type Clock, type Timer, setAlarm } from '../common/index.js';

/** The timers of one process: none of them fires once it is dead. */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.#keep(callback, (fire) => this.#clock.setTimer(delayMs, fire));
  }

  setAlarm(at: number, callback: () => void): Timer {
    return this.#keep(callback, (fire) => setAlarm(this.#clock, at, fire));
  }

  #keep(callback: () => void, set: (fire: () => void) => Timer): Timer {
    if (this.#stopped) return { cancel: () => {} };
    const timer = set(() => {
      this.#timers.delete(timer);
      callback();
    });
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
