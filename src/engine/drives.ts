import { RunsheetError, type Timer } from '../common/index.js';
import { type Enqueued, type RunRecord, type Started, type Unit, suspectAfter } from '../storage/index.js';
import { type Beginning, DrivenRun } from './driven-run.js';
import { type DriveEnd, Driver } from './driver.js';
import { Heartbeat, leasedOf } from './heartbeat.js';
import type { EngineSettings } from './options.js';
import { persist } from './persistence.js';
import type { DefinitionRegistry } from './registry.js';

export interface DrivesOptions {
  readonly settings: EngineSettings;
  readonly owner: string;
  readonly registry: DefinitionRegistry;
  /** The worker stops: what is driven from now on is suspended at its first standstill, with none of its handlers called. */
  readonly isStopping: () => boolean;
  /** Told of every unit once it is durable; of the last one when the slot is free. */
  readonly onCommitted: (record: RunRecord, unit: Unit) => void;
  /** What made it impossible to go on with a run. Answers whether it can still be given back. */
  readonly onFault: (error: unknown, runId: string) => boolean;
  readonly onLeft: (runId: string, end: DriveEnd | 'failed') => void;
}

/** The runs that an engine drives at this moment, each in a slot of its own, with their leases. */
export class Drives {
  readonly #options: DrivesOptions;
  /** By id of the run. */
  readonly #drivers = new Map<string, Driver>();
  readonly #heartbeat: Heartbeat;
  readonly #underWay = new Set<Promise<void>>();
  #fenced = false;
  /** On the monotonic clock: until then a hand-back that fails is tried again; outside of `stop` it is not. */
  #handBackUntil = Number.NEGATIVE_INFINITY;
  #hasKeptLeases = false;
  #hasLeftHandlers = false;

  constructor(options: DrivesOptions) {
    this.#options = options;
    this.#heartbeat = new Heartbeat(options.settings, options.owner, this.#drivers);
  }

  get size(): number {
    return this.#drivers.size;
  }

  /** Whether the run is driven under a lease: then its end will be told, unless it is left before that. */
  has(runId: string): boolean {
    return this.#drivers.get(runId)?.lease !== undefined;
  }

  /** Each waits for a handler, a timer or a message. */
  get areAtRest(): boolean {
    for (const driver of this.#drivers.values()) if (!driver.isAtRest) return false;
    return true;
  }

  /** Whether it is driven here, or about to be: two of the same key have the same id. */
  knows(runId: string): boolean {
    return this.#drivers.has(runId);
  }

  /** A run that has been interrupted too often is driven with nothing beside it that it could take along. */
  get haveSuspect(): boolean {
    for (const driver of this.#drivers.values()) if (driver.interruptions >= suspectAfter) return true;
    return false;
  }

  /** Whether every lease was begun or extended after `time`, on the monotonic clock. */
  areRenewedSince(time: number): boolean {
    return this.#heartbeat.hasRenewedSince(time);
  }

  renew(): Promise<void> {
    return this.#heartbeat.renew();
  }

  /**
   * Drives a run that is not in the storage yet. Resolves to what came of its insertion; to undefined where the
   * storage was not asked, or could not.
   */
  begin({ run, claim }: Omit<Beginning, 'onStarted'>): Promise<Enqueued | undefined> {
    return new Promise((resolve) => {
      const onStarted = ({ claimed, ...enqueued }: Started): void => {
        resolve(enqueued);
        if (claimed !== undefined && claimed.id !== run.id) void this.drive(claimed);
      };
      void this.drive({ run, claim, onStarted }).then(() => resolve(undefined));
    });
  }

  /** Resolves when the run is no longer driven here. */
  drive(given: RunRecord | Beginning): Promise<void> {
    const { settings, owner, registry, isStopping, onCommitted, onLeft } = this.#options;
    const run = new DrivenRun(
      {
        settings,
        owner,
        alone: () => this.#drivers.size === 1,
        onCommitted: (committed, unit) => {
          // Before anybody is told of its end, who may have a run for its slot.
          if (unit.transition?.kind === 'end') this.#leave(driver);
          onCommitted(committed, unit);
        },
      },
      given,
    );
    const { id, definitionHash } = run.about;
    const plan = registry.plan(definitionHash);
    if (plan === undefined) throw new Error(`fault in the storage: claimed ${id} of an unknown definition`);
    const driver = new Driver({ settings, run, plan, children: registry.children() });
    this.#drivers.set(id, driver);
    if (isStopping()) driver.stop();
    if (!this.#fenced) this.#heartbeat.start();
    const drive = this.#seeToItsEnd(driver).then((end) => {
      this.#leave(driver);
      this.#underWay.delete(drive);
      onLeft(id, end);
    });
    this.#underWay.add(drive);
    return drive;
  }

  /** There may be something new in the run's inbox. */
  inboxChanged(runId: string): void {
    this.#drivers.get(runId)?.inboxChanged();
  }

  /** There may be something new in any inbox. */
  inboxesChanged(): void {
    for (const driver of this.#drivers.values()) if (driver.waitsForOthers) driver.inboxChanged();
  }

  /**
   * Lets handlers end for so long, then aborts them; those that take longer than the grace period after that are left.
   *
   * @returns whether others had better take the engine for dead once its storage is closed: it still has leases of runs
   *   with no handler executing, which it could not hand back
   */
  async stop(graceMs: number): Promise<boolean> {
    const { settings } = this.#options;
    this.#handBackUntil = settings.clock.monotonic() + graceMs;
    for (const driver of this.#drivers.values()) driver.stop();
    if (!(await this.#allEnd(graceMs))) {
      for (const driver of this.#drivers.values()) driver.abortRunning();
      if (!(await this.#allEnd(settings.abortGraceMs))) {
        for (const driver of this.#drivers.values()) {
          const what = 'a step did not end in time; its run goes on elsewhere once its lease has expired';
          settings.logger.warn({ run: driver.id }, what);
          driver.abandon();
        }
      }
    }
    await Promise.all(this.#underWay);
    this.#heartbeat.stop();
    return this.#hasKeptLeases && !this.#hasLeftHandlers;
  }

  /**
   * Hands every run back, whatever runs, in one last transaction; from then on nothing is written, begun or called.
   *
   * @param claiming a claim that is under way, whose runs are handed back, too
   */
  async fence(claiming: Promise<unknown> | undefined): Promise<void> {
    this.#fenced = true;
    this.#heartbeat.stop();
    await claiming?.catch(() => {});
    const begun = [...this.#drivers.values()];
    for (const driver of begun) if (driver.lease === undefined) driver.lost();
    await Promise.all(begun.map((driver) => driver.settled()));
    // Beside them, what was claimed instead of a run that was to be begun.
    const drivers = new Set([...begun, ...this.#drivers.values()]);
    const leases = leasedOf(drivers).map(({ lease }) => lease);
    const { settings, owner } = this.#options;
    if (leases.length > 0) await settings.storage.releaseRuns(owner, leases, settings.clock.now());
    for (const driver of drivers) driver.lost();
  }

  /** Its slot is free. By now its run may be driven again: how it was left is visible before it is acknowledged. */
  #leave(driver: Driver): void {
    if (this.#drivers.get(driver.id) === driver) this.#drivers.delete(driver.id);
  }

  async #seeToItsEnd(driver: Driver): Promise<DriveEnd | 'failed'> {
    try {
      const end = await driver.drive();
      if (end === 'stopped') {
        if (driver.handlersRunning) this.#hasLeftHandlers = true;
        else await this.#handBack(driver);
      }
      return end;
    } catch (error) {
      // What is not begun is enqueued, by whoever wanted it, and meets the same trouble there or when it is claimed.
      if (driver.lease !== undefined && !this.#fenced) await this.#giveUp(error, driver);
      return 'failed';
    }
  }

  async #giveUp(error: unknown, driver: Driver): Promise<void> {
    const { settings, onFault } = this.#options;
    if (!onFault(error, driver.id)) return;
    if (!isStorageTrouble(error)) {
      // A fault of the engine's own, which another attempt may meet again: the lease is left to expire, as if the process had
      // died of it. So the run backs off, and is driven alone from the third time on.
      this.#hasKeptLeases = true;
      return;
    }
    await this.#handBack(driver).catch((second: unknown) => {
      this.#hasKeptLeases = true;
      settings.logger.warn({ run: driver.id, error: second }, 'a run could not be handed back; its lease will expire');
    });
  }

  async #handBack({ id, lease }: Driver): Promise<void> {
    const { settings, owner } = this.#options;
    const { storage, clock, logger } = settings;
    if (lease === undefined) return;
    await persist(() => storage.releaseRuns(owner, [lease], clock.now()), {
      clock,
      until: () => this.#handBackUntil,
      onTrouble: (error) => logger.warn({ run: id, error }, 'a run could not be handed back yet; it is tried again'),
    });
  }

  /** Waits for all drives to end, at most so long. */
  async #allEnd(graceMs: number): Promise<boolean> {
    if (this.#underWay.size === 0) return true;
    let timer: Timer | undefined;
    const expired = new Promise<false>((resolve) => {
      timer = this.#options.settings.clock.setTimer(graceMs, () => resolve(false));
    });
    const done = Promise.all(this.#underWay).then(() => true as const);
    const result = await Promise.race([done, expired]);
    timer?.cancel();
    return result;
  }
}

/** Whether the storage, and not the run, is what cannot go on. */
export function isStorageTrouble(error: unknown): boolean {
  return error instanceof RunsheetError && error.code.startsWith('RS_STORAGE_');
}
