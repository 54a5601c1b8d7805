import type { Timer } from '../common/index.js';
import type { Lease } from '../storage/index.js';
import type { Driver } from './driver.js';
import type { EngineSettings } from './options.js';

/** Extends the leases of all that is driven, every third of their length, as long as anything is driven. */
export class Heartbeat {
  readonly #settings: EngineSettings;
  readonly #owner: string;
  readonly #drivers: ReadonlyMap<string, Driver>;
  #timer: Timer | undefined;
  /** On the monotonic clock: no lease of what is driven is older. */
  #renewedAt = 0;

  constructor(settings: EngineSettings, owner: string, drivers: ReadonlyMap<string, Driver>) {
    this.#settings = settings;
    this.#owner = owner;
    this.#drivers = drivers;
  }

  /** Something is driven. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#renewedAt = this.#settings.clock.monotonic();
    this.#arm();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Whether every lease was begun or extended after `time`, on the monotonic clock. */
  hasRenewedSince(time: number): boolean {
    return this.#drivers.size === 0 || this.#renewedAt > time;
  }

  async renew(): Promise<void> {
    const { storage, clock, runLeaseDurationMs } = this.#settings;
    const leased = leasedOf(this.#drivers.values());
    const leases = leased.map(({ lease }) => lease);
    const now = clock.now();
    const renewedAt = clock.monotonic();
    const lost = new Set(await storage.renewLeases(this.#owner, leases, now + runLeaseDurationMs, now));
    this.#renewedAt = renewedAt;
    for (const { driver, lease } of leased) {
      if (lost.has(lease.run)) driver.lost();
      else driver.renewed();
      // Cancelled by another process: noticed within a heartbeat.
      driver.inboxChanged();
    }
  }

  #arm(): void {
    const { clock, runLeaseDurationMs, logger } = this.#settings;
    this.#timer = clock.setTimer(runLeaseDurationMs / 3, () => {
      this.#timer = undefined;
      if (this.#drivers.size === 0) return;
      this.#arm();
      this.renew().catch((error: unknown) => {
        // Not a step's failure: the next heartbeat tries again, and until the lease expires nothing is lost.
        logger.warn({ error }, 'a heartbeat failed');
      });
    });
  }
}

/** Those that are in the storage, with their leases. */
export function leasedOf(drivers: Iterable<Driver>): { driver: Driver; lease: Lease }[] {
  return [...drivers].flatMap((driver) => (driver.lease === undefined ? [] : [{ driver, lease: driver.lease }]));
}
