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

  constructor(settings: EngineSettings, owner: string, drivers: ReadonlyMap<string, Driver>) {
    this.#settings = settings;
    this.#owner = owner;
    this.#drivers = drivers;
  }

  /** Something is driven. */
  start(): void {
    const { clock, runLeaseDurationMs } = this.#settings;
    this.#timer ??= clock.setTimer(runLeaseDurationMs / 3, () => {
      this.#timer = undefined;
      if (this.#drivers.size === 0) return;
      this.start();
      void this.#renew();
    });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async #renew(): Promise<void> {
    const { storage, clock, runLeaseDurationMs, logger } = this.#settings;
    const leased = leasedOf(this.#drivers.values());
    const leases = leased.map(({ lease }) => lease);
    try {
      const now = clock.now();
      const lost = new Set(await storage.renewLeases(this.#owner, leases, now + runLeaseDurationMs, now));
      for (const { driver, lease } of leased) {
        if (lost.has(lease.run)) driver.lost();
        else driver.renewed();
        // Cancelled by another process: noticed within a heartbeat.
        driver.inboxChanged();
      }
    } catch (error) {
      // Not a step's failure: the next heartbeat tries again, and until the lease expires nothing is lost.
      logger.warn({ error }, 'a heartbeat failed');
    }
  }
}

/** Those that are in the storage, with their leases. */
export function leasedOf(drivers: Iterable<Driver>): { driver: Driver; lease: Lease }[] {
  return [...drivers].flatMap((driver) => (driver.lease === undefined ? [] : [{ driver, lease: driver.lease }]));
}
