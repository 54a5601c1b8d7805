import type { Clock } from '../common/index.js';

/**
 * Whether the wall clock, in which leases are written, can be believed. Where it was set forward, or the machine was
 * suspended (which the monotonic clock does not count), the leases of living engines seem to have expired. Then nothing
 * is claimed for a heartbeat and a half, so that each of them renews its own first; nor does anything new take the places
 * in limited workflows that these seem to have left.
 */
export class ClockWatch {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  /** What the wall clock was ahead of the monotonic one at the last look. */
  #aheadMs: number;
  #leaptAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#aheadMs = clock.now() - clock.monotonic();
  }

  /** Looks at both clocks. @returns for how long nothing is to be claimed; 0 as a rule */
  look(): number {
    const at = this.#clock.monotonic();
    const aheadMs = this.#clock.now() - at;
    if (aheadMs - this.#aheadMs > this.#leaseMs / 3) this.#leaptAt = at;
    this.#aheadMs = aheadMs;
    return Math.max(0, this.#leaptAt + this.#leaseMs / 2 - at);
  }

  /** On the monotonic clock: leases that were not renewed since then may seem to have expired. */
  get renewedBy(): number {
    return Math.max(this.#leaptAt, this.#clock.monotonic() - (this.#leaseMs * 2) / 3);
  }
}
