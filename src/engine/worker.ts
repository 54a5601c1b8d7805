import { RunsheetError, type Timer } from '../common/index.js';
import { type RunRecord, type Transition, type Unit, suspectAfter } from '../storage/index.js';
import { Driver } from './driver.js';
import { type RunEvent, eventsOf, eventOfTransition } from './events.js';
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
  readonly #drivers = new Map<number, Driver>();
  readonly #drives = new Set<Promise<void>>();

  #started: { readonly only: string | undefined } | undefined;
  #stopping: Promise<void> | undefined;
  #fenced = false;
  #ticking: Promise<number> | undefined;
  #tickAgain = false;
  #isLooking = false;
  #lookAgain = false;
  #wakeTimer: Timer | undefined;
  #heartbeat: Timer | undefined;
  #unsubscribe: (() => void) | undefined;
  #pauseMs = 0;
  #pausedUntil = 0;
  /** The storage will never take anything again. */
  #hasLostStorage = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#patienceMs = patienceMs(options.owner, options.settings.runLeaseDurationMs);
  }

  get stopping(): boolean {
    return this.#stopping !== undefined;
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
    const drivers = [...this.#drivers.values()];
    const leases = drivers.map(({ run, epoch }) => ({ run, epoch }));
    if (leases.length > 0) await settings.storage.releaseRuns(owner, leases, settings.clock.now());
    for (const driver of drivers) driver.lost();
  }

  /** There may be something new in the inbox of a run that is driven here. */
  inboxChanged(runId: string): void {
    for (const driver of this.#drivers.values()) if (driver.id === runId) driver.inboxChanged();
  }

  /** Looks for work now, and sets the timer for the earliest that is known to come. */
  wake(): void {
    if (this.#started === undefined || this.#stopping !== undefined || this.#hasLostStorage) return;
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
    // With no slot free the end of a drive wakes.
    const free = this.#drivers.size < settings.concurrency && !this.#drivesSuspect;
    const dueAt = free ? await settings.storage.nextDueAt(registry.hashes, this.#started?.only) : undefined;
    // Due, and yet not taken: its workflow is full, or it may be driven only alone. A place that is freed here or in
    // another process wakes; one that is freed by a lease that expires does not.
    const claimAt = dueAt === undefined || dueAt > now ? dueAt : now + blockedRecheckMs;
    const next = Math.min(scheduledAt, claimAt ?? Number.POSITIVE_INFINITY);
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
    const { settings, owner, registry } = this.#options;
    const { storage, clock, concurrency, runLeaseDurationMs } = settings;
    let taken = 0;
    do {
      this.#tickAgain = false;
      const free = concurrency - this.#drivers.size;
      const hashes = registry.hashes;
      const now = clock.now();
      if (free <= 0 || hashes.length === 0 || this.#stopping !== undefined || now < this.#pausedUntil) break;
      if (this.#drivesSuspect) break;
      const only = this.#started?.only;
      const records = await storage.claimRuns({
        owner,
        hashes,
        limit: free,
        now,
        leaseExpiresAt: now + runLeaseDurationMs,
        alone: this.#drivers.size === 0,
        overdueSince: now - this.#patienceMs,
        ...(only !== undefined && { only }),
      });
      for (const record of records) this.#drive(record);
      taken += records.length;
    } while (this.#tickAgain);
    return taken;
  }

  /** A run that has been interrupted too often is driven with nothing beside it that it could take along. */
  get #drivesSuspect(): boolean {
    for (const driver of this.#drivers.values()) if (driver.interruptions >= suspectAfter) return true;
    return false;
  }

  #drive(record: RunRecord): void {
    const { settings, owner, registry } = this.#options;
    const plan = registry.plan(record.definitionHash);
    if (plan === undefined) throw new Error(`fault in the storage: claimed ${record.id} of an unknown definition`);
    const driver = new Driver({
      settings,
      owner,
      record,
      plan,
      alone: () => this.#drivers.size === 1,
      children: registry.children(),
      onCommitted: (committed, unit) => this.#onCommitted(committed, unit),
    });
    this.#drivers.set(record.run, driver);
    if (this.#stopping !== undefined) driver.stop();
    this.#beat();
    const drive = driver
      .drive()
      .then(async (end) => {
        this.#pauseMs = 0;
        if (end === 'stopped' && !driver.handlersRunning) await this.#handBack(driver);
      })
      .catch((error: unknown) => this.#giveUp(error, record.id, driver))
      .finally(() => {
        // By now it may be driven again: what it was parked with is visible before it is acknowledged.
        if (this.#drivers.get(record.run) === driver) this.#drivers.delete(record.run);
        this.#drives.delete(drive);
        this.wake();
      });
    this.#drives.add(drive);
  }

  async #handBack(driver: Driver): Promise<void> {
    const { settings, owner } = this.#options;
    await settings.storage.releaseRuns(owner, [{ run: driver.run, epoch: driver.epoch }], settings.clock.now());
  }

  /** The run is given back, if that is still possible, and claims pause: what failed will not be better at once. */
  async #giveUp(error: unknown, runId: string, driver: Driver): Promise<void> {
    if (this.#fenced) return;
    this.#pause();
    this.#report(error, runId);
    if (this.#hasLostStorage) return;
    await this.#handBack(driver).catch((second: unknown) => {
      const { logger } = this.#options.settings;
      logger.warn({ run: runId, error: second }, 'a run could not be handed back; its lease will expire');
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

  /** Heartbeats go on as long as something is driven, also while the engine stops. */
  #beat(): void {
    const { clock, runLeaseDurationMs } = this.#options.settings;
    if (this.#fenced) return;
    this.#heartbeat ??= clock.setTimer(runLeaseDurationMs / 3, () => {
      this.#heartbeat = undefined;
      if (this.#drivers.size === 0) return;
      this.#beat();
      void this.#renewLeases();
    });
  }

  async #renewLeases(): Promise<void> {
    const { settings, owner } = this.#options;
    const { storage, clock, runLeaseDurationMs, logger } = settings;
    const drivers = [...this.#drivers.values()];
    const leases = drivers.map(({ run, epoch }) => ({ run, epoch }));
    try {
      const now = clock.now();
      const lost = new Set(await storage.renewLeases(owner, leases, now + runLeaseDurationMs, now));
      for (const driver of drivers) {
        if (lost.has(driver.run)) driver.lost();
        else driver.renewed();
        // Cancelled by another process: noticed within a heartbeat.
        driver.inboxChanged();
      }
    } catch (error) {
      // Not a step's failure: the next heartbeat tries again, and until the lease expires nothing is lost.
      logger.warn({ error }, 'a heartbeat failed');
    }
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
    this.#heartbeat?.cancel();
    await storage?.unregisterEngine(owner).catch((error: unknown) => {
      settings.logger.warn({ error }, 'unregistering failed');
    });
  }

  #cancelTimers(): void {
    this.#wakeTimer?.cancel();
    this.#unsubscribe?.();
    if (this.#fenced) this.#heartbeat?.cancel();
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
