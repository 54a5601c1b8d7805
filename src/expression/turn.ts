// Not the global one, which tests may replace by a pretended clock.
import { setImmediate } from 'node:timers';

import { systemClock } from '../common/index.js';

import { limits } from './limits.js';

/**
 * Evaluations take turns: one at a time in the whole process. JSONata runs on microtasks, so without turns
 * the evaluations of a hundred runs would interleave, none could say how much time it took itself, and no
 * timer would fire until all were done. A turn is given up for the event loop every `limits.sliceMs`.
 *
 * Time is the machine's own here, never a run's: a virtual clock does not slow a processor down.
 */
class Turns<Holder> {
  #current: Holder | undefined;
  readonly #waiting: { holder: Holder; begin: () => void }[] = [];
  /** Since when the event loop has not run; undefined while nothing was evaluated in this round of it. */
  #sliceSince: number | undefined;
  #loopRan: Promise<void> | undefined;

  /** Whose turn it is. */
  get current(): Holder | undefined {
    return this.#current;
  }

  /** Undefined when the turn is there at once. */
  take(holder: Holder): Promise<void> | undefined {
    if (this.#current !== undefined) return this.#wait(holder);
    this.#current = holder;
    return undefined;
  }

  pass(): void {
    const next = this.#waiting.shift();
    this.#current = next?.holder;
    next?.begin();
  }

  /** Whether the event loop has waited long enough. */
  isSliceOver(now: number): boolean {
    if (this.#sliceSince === undefined) {
      this.#sliceSince = now;
      this.#loopRan = new Promise((resolve) =>
        setImmediate(() => {
          this.#sliceSince = undefined;
          resolve();
        }),
      );
      return false;
    }
    return now - this.#sliceSince >= limits.sliceMs;
  }

  /** Lets the event loop run, then the others, then comes back. */
  async rest(holder: Holder): Promise<void> {
    await this.#loopRan;
    const again = this.#wait(holder);
    this.pass();
    await again;
  }

  #wait(holder: Holder): Promise<void> {
    return new Promise((begin) => this.#waiting.push({ holder, begin }));
  }
}

export const turns = new Turns<{ look(): number }>();

/** Whether some formula is being evaluated in this process; it may wait for the event loop between two slices. */
export function isEvaluating(): boolean {
  return turns.current !== undefined;
}

export const readTime = (): number => systemClock.monotonic();

/** What this process has computed so far, in milliseconds; other threads of it count too. Dearer to read than the time. */
export function readProcessorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
