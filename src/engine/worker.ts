import { RunsheetError, type Timer } from '../common/index.js';
import {
  type Claim,
  type Enqueued,
  type NewRun,
  type RunRecord,
  type Started,
  type Transition,
  type Unit,
  suspectAfter,
} from '../storage/index.js';
import { type Beginning, DrivenRun } from './driven-run.js';
import { type DriveEnd, Driver } from './driver.js';
import { type RunEvent, eventsOf, eventOfTransition } from './events.js';
import { Heartbeat, leasedOf } from './heartbeat.js';
import { patienceMs } from './interruptions.js';
import { type EngineSettings, newRunId } from './options.js';
import type { OpenedStorage } from './opened-storage.js';
import type { DefinitionRegistry } from './registry.js';
import { fireDue } from './schedules.js';

export interface WorkerOptions {
  readonly settings: EngineSettings;
  readonly owner: string;
  readonly registry: DefinitionRegistry;
  readonly opened: OpenedStorage;
  readonly onEvent: (event: RunEvent) => void;
  /** Whether anybody wants events: else none are made. */
  readonly hasListeners: () => boolean;
  /** Something that no run is to blame for; the worker tries again by itself. */
  readonly onFault: (error: unknown, runId: string | null) => void;
  /** A run has ended, durably; as it was claimed, with how it ended. */
  readonly onEnd: (ended: RunRecord) => void;
  /** A run is no longer driven here, and has not ended here. */
  readonly onLeft: (runId: string) => void;
}

/** How often is looked whether a run can be taken that is due and could not be. */
const blockedRecheckMs = 500;

/** After a fault, claims pause so long, doubling up to the longest. */
const firstPauseMs = 1000;
const longestPauseMs = 30_000;

/**
 * The part of an engine that drives runs: slots that are independent of one another and refilled at
 * once, leases that are kept alive, schedules that fire.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #patienceMs: number;
  /** By id of the run. */
  readonly #drivers = new Map<string, Driver>();
  readonly #heartbeat: Heartbeat;
  readonly #drives = new Set<Promise<void>>();

  #started: { readonly only: string | undefined } | undefined;
  #stopping: Promise<void> | undefined;
  #fenced = false;
  #ticking: Promise<number> | undefined;
  #tickAgain = false;
  /** The last tick had a slot free, so that it has seen what others have enqueued, committed or not. */
  #hasClaimed = false;
  #isLooking = false;
  #lookAgain = false;
  /** The last look took all that was due, and nothing was heard of since that may be. */
  #nothingDue = false;
  #wakeTimer: Timer | undefined;
  #unsubscribe: (() => void) | undefined;
  #pauseMs = 0;
  #pausedUntil = 0;
  /** The storage will never take anything again. */
  #hasLostStorage = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#patienceMs = patienceMs(options.owner, options.settings.runLeaseDurationMs);
    this.#heartbeat = new Heartbeat(options.settings, options.owner, this.#drivers);
  }

  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Whether it is driven here at this moment: then its end will be told, unless it is left before that. */
  drives(runId: string): boolean {
    return this.#drivers.get(runId)?.lease !== undefined;
  }

  /** Fills the free slots once. Answers how many runs were taken. */
  tick(): Promise<number> {
    if (this.#ticking !== undefined) {
      this.#tickAgain = true;
      return this.#ticking;
    }
    this.#ticking = this.#claim().finally(() => (this.#ticking = undefined));
    return this.#ticking;
  }

  /**
   * Begins a new run at once, where a slot is free and nothing older is known to be due: it is walked to its first
   * standstill, and then inserted, leased and begun in one transaction. Undefined, or resolved to it, where it is to be
   * enqueued like any other.
   */
  begin(run: NewRun): Promise<Enqueued | undefined> | undefined {
    const { concurrency, clock } = this.#options.settings;
    const now = clock.now();
    const isFree =
      this.#nothingDue &&
      !this.#isLooking &&
      this.#ticking === undefined &&
      this.#drivers.size < concurrency &&
      !this.#drivesSuspect;
    if (!isFree || this.#stopping !== undefined || now < this.#pausedUntil || run.dueAt > now) return undefined;
    if (this.#started === undefined || this.#started.only !== undefined) return undefined;
    // A suspect is never taken along: it may be driven only alone, and this run is on its way.
    const claim = { ...this.#claimFor(now), limit: 1, alone: false };
    return new Promise((resolve) => {
      const onStarted = ({ claimed, ...enqueued }: Started): void => {
        resolve(enqueued);
        if (claimed !== undefined && claimed.id !== run.id) void this.#drive(claimed);
      };
      void this.#drive({ run, claim, onStarted }).then(() => resolve(undefined));
    });
  }

  /** @param only drive this run, and those that it owns, alone; fire no schedule */
  start(only: string | undefined): void {
    this.#started = { only };
    this.#unsubscribe ??= this.#subscribe();
    this.wake();
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stop(graceMs);
    return this.#stopping;
  }

  /**
   * Hands every run back, whatever runs, in one last transaction; from then on nothing of this worker writes,
   * begins or calls anything.
   */
  async fence(): Promise<void> {
    this.#fenced = true;
    this.#stopping ??= Promise.resolve();
    this.#cancelTimers();
    await this.#ticking?.catch(() => {});
    const { settings, owner } = this.#options;
    const begun = [...this.#drivers.values()];
    for (const driver of begun) if (driver.lease === undefined) driver.lost();
    await Promise.all(begun.map((driver) => driver.settled()));
    // Beside them, what was claimed instead of a run that was to be begun.
    const drivers = new Set([...begun, ...this.#drivers.values()]);
    const leases = leasedOf(drivers).map(({ lease }) => lease);
    if (leases.length > 0) await settings.storage.releaseRuns(owner, leases, settings.clock.now());
    for (const driver of drivers) driver.lost();
  }

  /** There may be something new in the inbox of a run that is driven here. */
  inboxChanged(runId: string): void {
    this.#drivers.get(runId)?.inboxChanged();
  }

  /** Looks for work now, and sets the timer for the earliest that is known to come. */
  wake(): void {
    if (this.#started === undefined || this.#stopping !== undefined || this.#hasLostStorage) return;
    this.#nothingDue = false;
    this.#lookAgain = true;
    if (this.#isLooking) return;
    this.#look().catch((error: unknown) => {
      if (this.#stopping !== undefined) return;
      this.#pause();
      this.#report(error, null);
      if (!this.#hasLostStorage) this.#wakeAt(this.#pausedUntil);
    });
  }

  #subscribe(): () => void {
    const { storage } = this.#options.settings;
    const ends = [
      storage.onForeignChange(() => {
        for (const driver of this.#drivers.values()) if (driver.waitsForOthers) driver.inboxChanged();
        this.wake();
      }),
      storage.onEngineDeath(() => void this.#takeFromTheDead()),
    ];
    return () => ends.forEach((end) => end());
  }

  /** Their runs need not wait for their leases to expire. */
  async #takeFromTheDead(): Promise<void> {
    const { storage, clock, logger } = this.#options.settings;
    try {
      const released = await storage.releaseDeadEngines(clock.now());
      if (released.length > 0) this.wake();
    } catch (error) {
      // Told of them again; and when their leases expire nobody needs to take anything.
      if (this.#stopping === undefined) logger.warn({ error }, 'the runs of a dead engine could not be taken over');
    }
  }

  /** All who wake it meanwhile share the next look. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#lookAgain) {
        this.#lookAgain = false;
        const scheduledAt = await this.#fireSchedules();
        await this.tick();
        if (this.#stopping !== undefined) return;
        if (!this.#lookAgain) await this.#setWakeTimer(scheduledAt);
      }
    } finally {
      this.#isLooking = false;
    }
  }

  async #setWakeTimer(scheduledAt: number): Promise<void> {
    const { settings, registry } = this.#options;
    const now = settings.clock.now();
    if (now < this.#pausedUntil) return this.#wakeAt(this.#pausedUntil);
    const dueAt = (await settings.storage.nextDueAt(registry.hashes, this.#started?.only)) ?? Number.POSITIVE_INFINITY;
    const isBlocked = dueAt <= now;
    this.#nothingDue = this.#hasClaimed && !isBlocked && !this.#lookAgain;
    // Due, and yet not taken: no slot is free, then the end of a drive wakes; or its workflow is full, or it may be
    // driven only alone. A place that is freed here or in another process wakes; one whose lease expires does not.
    const isFree = this.#drivers.size < settings.concurrency && !this.#drivesSuspect;
    const recheckAt = isFree ? now + blockedRecheckMs : Number.POSITIVE_INFINITY;
    const next = Math.min(scheduledAt, isBlocked ? recheckAt : dueAt);
    if (next !== Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }

  /** Answers when the next one is due; infinite where there is none. */
  async #fireSchedules(): Promise<number> {
    const { settings, registry } = this.#options;
    const { storage, clock } = settings;
    const workflows = registry.scheduledWorkflows();
    if (workflows.length === 0 || this.#started?.only !== undefined) return Number.POSITIVE_INFINITY;
    const due = (await storage.listSchedules(workflows)).filter(
      ({ nextAt }) => nextAt !== null && nextAt <= clock.now(),
    );
    await fireDue(
      storage,
      (workflow) => registry.newestOf(workflow),
      due,
      clock.now(),
      () => newRunId(settings),
    );
    let earliest = Number.POSITIVE_INFINITY;
    for (const { nextAt, paused } of await storage.listSchedules(workflows)) {
      if (!paused && nextAt !== null) earliest = Math.min(earliest, nextAt);
    }
    return earliest;
  }

  async #claim(): Promise<number> {
    const { settings, registry } = this.#options;
    const { storage, clock, concurrency } = settings;
    let taken = 0;
    do {
      this.#tickAgain = false;
      this.#hasClaimed = false;
      const free = concurrency - this.#drivers.size;
      const now = clock.now();
      if (free <= 0 || registry.hashes.length === 0 || this.#stopping !== undefined || now < this.#pausedUntil) break;
      if (this.#drivesSuspect) break;
      const only = this.#started?.only;
      const records = await storage.claimRuns({
        ...this.#claimFor(now),
        limit: free,
        alone: this.#drivers.size === 0,
        ...(only !== undefined && { only }),
      });
      this.#hasClaimed = true;
      for (const record of records) void this.#drive(record);
      taken += records.length;
    } while (this.#tickAgain);
    return taken;
  }

  #claimFor(now: number): Omit<Claim, 'limit' | 'alone'> {
    const { settings, owner, registry } = this.#options;
    const leaseExpiresAt = now + settings.runLeaseDurationMs;
    return { owner, hashes: registry.hashes, now, leaseExpiresAt, overdueSince: now - this.#patienceMs };
  }

  /** A run that has been interrupted too often is driven with nothing beside it that it could take along. */
  get #drivesSuspect(): boolean {
    for (const driver of this.#drivers.values()) if (driver.interruptions >= suspectAfter) return true;
    return false;
  }

  /** Resolves when the run is no longer driven here. */
  #drive(given: RunRecord | Beginning): Promise<void> {
    const { settings, owner, registry } = this.#options;
    const run = new DrivenRun(
      {
        settings,
        owner,
        alone: () => this.#drivers.size === 1,
        onCommitted: (committed, unit) => {
          // Before anybody is told of its end, who may have a run for its slot.
          if (unit.transition?.kind === 'end') this.#leave(driver);
          this.#onCommitted(committed, unit);
        },
      },
      given,
    );
    const { id, definitionHash } = run.about;
    const plan = registry.plan(definitionHash);
    if (plan === undefined) throw new Error(`fault in the storage: claimed ${id} of an unknown definition`);
    const driver = new Driver({ settings, run, plan, children: registry.children() });
    this.#drivers.set(id, driver);
    if (this.#stopping !== undefined) driver.stop();
    if (!this.#fenced) this.#heartbeat.start();
    const drive = this.#seeToItsEnd(driver).then((end) => {
      this.#leave(driver);
      this.#drives.delete(drive);
      if (end !== 'ended') this.#options.onLeft(id);
      // Where nothing waits for the slot, its end needs no look; a run that waits may be due before all others.
      if (end !== 'ended' || !this.#nothingDue) this.wake();
    });
    this.#drives.add(drive);
    return drive;
  }

  /** Its slot is free. By now its run may be driven again: how it was left is visible before it is acknowledged. */
  #leave(driver: Driver): void {
    if (this.#drivers.get(driver.id) === driver) this.#drivers.delete(driver.id);
  }

  async #seeToItsEnd(driver: Driver): Promise<DriveEnd | 'failed'> {
    try {
      const end = await driver.drive();
      this.#pauseMs = 0;
      if (end === 'stopped' && !driver.handlersRunning) await this.#handBack(driver);
      return end;
    } catch (error) {
      // What is not begun is enqueued, by whoever wanted it, and meets the same trouble there or when it is claimed.
      if (driver.lease !== undefined) await this.#giveUp(error, driver);
      return 'failed';
    }
  }

  async #handBack({ lease }: Driver): Promise<void> {
    const { settings, owner } = this.#options;
    if (lease !== undefined) await settings.storage.releaseRuns(owner, [lease], settings.clock.now());
  }

  /** The run is given back, if that is still possible, and claims pause: what failed will not be better at once. */
  async #giveUp(error: unknown, driver: Driver): Promise<void> {
    if (this.#fenced) return;
    this.#pause();
    this.#report(error, driver.id);
    if (this.#hasLostStorage) return;
    await this.#handBack(driver).catch((second: unknown) => {
      const { logger } = this.#options.settings;
      logger.warn({ run: driver.id, error: second }, 'a run could not be handed back; its lease will expire');
    });
  }

  #pause(): void {
    this.#pauseMs = Math.min(longestPauseMs, this.#pauseMs === 0 ? firstPauseMs : this.#pauseMs * 2);
    this.#pausedUntil = this.#options.settings.clock.now() + this.#pauseMs;
  }

  #report(error: unknown, runId: string | null): void {
    const { settings, onFault } = this.#options;
    if (this.#hasLostStorage) return;
    if (error instanceof RunsheetError && error.code === 'RS_STORAGE_LOST') {
      this.#hasLostStorage = true;
      settings.logger.error({ error }, 'the engine has lost its storage and drives nothing any more');
      return onFault(error, null);
    }
    settings.logger.error({ run: runId, error }, 'the engine could not go on with its work and will try again');
    onFault(error, runId);
  }

  #onCommitted(record: RunRecord, unit: Unit): void {
    const { transition, children = [], posts = [], reopen = [] } = unit;
    const { hasListeners, onEnd } = this.#options;
    for (const { runId } of posts) this.inboxChanged(runId);
    if (children.length + posts.length + reopen.length > 0) this.wake();
    if (hasListeners()) this.#tell(record, unit);
    if (transition?.kind === 'end') onEnd(endedRecord(record, transition));
  }

  #tell(record: RunRecord, { entries, transition }: Unit): void {
    const { settings, onEvent } = this.#options;
    for (const event of eventsOf(record, entries)) onEvent(event);
    const event = transition && eventOfTransition(record, transition, entries.at(-1)?.seq ?? 0, settings.clock.now());
    if (event !== undefined) onEvent(event);
  }

  #wakeAt(time: number): void {
    this.#wakeTimer?.cancel();
    if (this.#stopping !== undefined) return;
    const { clock } = this.#options.settings;
    this.#wakeTimer = clock.setTimer(Math.max(1, time - clock.now()), () => this.wake());
  }

  async #stop(graceMs: number): Promise<void> {
    const { opened, owner, settings } = this.#options;
    const storage = await opened.settled();
    this.#cancelTimers();
    await this.#ticking?.catch(() => {});
    for (const driver of this.#drivers.values()) driver.stop();
    if (!(await this.#allDriven(graceMs))) {
      for (const driver of this.#drivers.values()) driver.abortRunning();
      if (!(await this.#allDriven(settings.abortGraceMs))) {
        for (const driver of this.#drivers.values()) {
          const what = 'a step did not end in time; its run goes on elsewhere once its lease has expired';
          settings.logger.warn({ run: driver.id }, what);
          driver.abandon();
        }
      }
    }
    await Promise.allSettled(this.#drives);
    this.#heartbeat.stop();
    await storage?.unregisterEngine(owner).catch((error: unknown) => {
      settings.logger.warn({ error }, 'unregistering failed');
    });
  }

  #cancelTimers(): void {
    this.#wakeTimer?.cancel();
    this.#unsubscribe?.();
    if (this.#fenced) this.#heartbeat.stop();
  }

  /** Waits for all drives to end, at most so long. */
  async #allDriven(graceMs: number): Promise<boolean> {
    if (this.#drives.size === 0) return true;
    let timer: Timer | undefined;
    const expired = new Promise<false>((resolve) => {
      timer = this.#options.settings.clock.setTimer(graceMs, () => resolve(false));
    });
    const done = Promise.allSettled(this.#drives).then(() => true as const);
    const result = await Promise.race([done, expired]);
    timer?.cancel();
    return result;
  }
}

function endedRecord(record: RunRecord, transition: Transition & { kind: 'end' }): RunRecord {
  const { status, output, error, rollbackStatus, endedAt } = transition;
  const cleared = { dueAt: null, owner: null, leaseExpiresAt: null };
  return { ...record, ...cleared, status, output, error, rollbackStatus, endedAt };
}
