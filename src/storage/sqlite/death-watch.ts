import type { Clock, Timer } from '../../common/index.js';
import { ChangeListeners } from '../change-listeners.js';
import type { EngineLocks } from './engine-locks.js';

const lookEveryMs = 500;

/** Notices engines that have died with their lock file left behind; looks only while somebody listens. */
export class DeathWatch {
  readonly #locks: EngineLocks;
  readonly #clock: Clock;
  readonly #listeners = new ChangeListeners();
  /** At the last look. */
  #unlocked: ReadonlySet<string> = new Set();
  #timer: Timer | undefined;

  constructor(locks: EngineLocks, clock: Clock) {
    this.#locks = locks;
    this.#clock = clock;
  }

  add(listener: () => void): () => void {
    if (this.#timer === undefined) this.#arm();
    const remove = this.#listeners.add(listener);
    return () => {
      remove();
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    this.#listeners.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(): void {
    const before = this.#unlocked;
    try {
      this.#unlocked = new Set(this.#locks.unlocked());
    } catch {
      // The folder cannot be read just now (no descriptor is left, say), which proves nothing: the next look may.
      return;
    }
    // At two looks: an engine that is just being registered has its file for a moment before it has the lock.
    if ([...this.#unlocked].some((owner) => before.has(owner))) this.#listeners.notify();
  }

  #arm(): void {
    this.#timer = this.#clock.setTimer(
      lookEveryMs,
      () => {
        this.#arm();
        this.#look();
      },
      { keepAlive: false },
    );
  }
}
