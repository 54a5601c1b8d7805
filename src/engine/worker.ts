import { RunsheetError, type Timer, setAlarm } from '../common/index.js';
import type { Claim, Enqueued, NewRun, RunRecord, Transition, Unit } from '../storage/index.js';
import { ClockWatch } from './clock-watch.js';
import { Drives, isStorageTrouble } from './drives.js';
import { type RunEvent, eventsOf, eventOfTransition } from './events.js';
import { patienceMs } from './interruptions.js';
import type { EngineSettings } from './options.js';
import type { OpenedStorage } from './opened-storage.js';
import type { DefinitionRegistry } from './registry.js';
import { fireSchedules } from './schedules.js';

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
  readonly #drives: Drives;
  readonly #clockWatch: ClockWatch;

  #started: { readonly only: string | undefined } | undefined;
  #stopping: Promise<void> | undefined;
  #ticking: Promise<number> | undefined;
  #tickAgain = false;
  /** The last tick had a slot free, so that it has seen what others have enqueued, committed or not. */
  #hasClaimed = false;
  /** As of when the last tick has claimed what was due. */
  #claimedAt = Number.NEGATIVE_INFINITY;
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
    const { settings, owner, registry, onLeft } = options;
    this.#clockWatch = new ClockWatch(settings.clock, settings.runLeaseDurationMs);
    this.#drives = new Drives({
      settings,
      owner,
      registry,
      isStopping: () => this.stopping,
      onCommitted: (record, unit) => this.#onCommitted(record, unit),
      onFault: (error, runId) => {
        // A fault that one run meets is no reason for others to wait.
        if (isStorageTrouble(error)) this.#pause();
        this.#report(error, runId);
        return !this.#hasLostStorage;
      },
      onLeft: (runId, end) => {
        if (end !== 'failed') this.#pauseMs = 0;
        if (end !== 'ended') onLeft(runId);
        // Where nothing waits for the slot, its end needs no look; a run that waits may be due before all others.
        if (end !== 'ended' || !this.#nothingDue) this.wake();
      },
    });
  }

  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** It looks for no run, and those that it executes wait for a handler, a timer or a message. */
  get isAtRest(): boolean {
    return !this.#isLooking && this.#ticking === undefined && this.#drives.areAtRest;
  }

  /** Whether it is driven here at this moment: then its end will be told, unless it is left before that. */
  drives(runId: string): boolean {
    return this.#drives.has(runId);
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
    const now = this.#options.settings.clock.now();
    const canBegin = this.#nothingDue && !this.#isLooking && this.#ticking === undefined && this.#hasFreeSlot;
    if (!canBegin || this.#stopping !== undefined || now < this.#pausedUntil || run.dueAt > now) return undefined;
    if (this.#started === undefined || this.#started.only !== undefined) return undefined;
    if (this.#clockWatch.look() > 0 || !this.#areLeasesFresh || this.#drives.knows(run.id)) return undefined;
    // A suspect is never taken along: it may be driven only alone, and this run is on its way.
    return this.#drives.begin({ run, claim: { ...this.#claimFor(now), limit: 1, alone: false } });
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
    this.#stopping ??= Promise.resolve();
    this.#cancelTimers();
    await this.#drives.fence(this.#ticking);
  }

  /** There may be something new in the inbox of a run that is driven here. */
  inboxChanged(runId: string): void {
    this.#drives.inboxChanged(runId);
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
        this.#drives.inboxesChanged();
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
        const { settings, registry, opened } = this.#options;
        const fires = this.#started?.only === undefined;
        const scheduledAt = fires ? await fireSchedules(opened, settings.clock, registry) : Number.POSITIVE_INFINITY;
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
    const waitMs = Math.max(this.#pausedUntil - now, this.#clockWatch.look());
    if (waitMs > 0) return this.#wakeAt(now + waitMs);
    const dueAt = (await settings.storage.nextDueAt(registry.hashes, this.#started?.only)) ?? Number.POSITIVE_INFINITY;
    // What became due since the claim has not been asked for yet.
    if (this.#hasClaimed && dueAt > this.#claimedAt && dueAt <= now) return this.#wakeAt(now);
    const isBlocked = dueAt <= now;
    this.#nothingDue = this.#hasClaimed && !isBlocked && !this.#lookAgain;
    // Due, and yet not taken: no slot is free, then the end of a drive wakes; or its workflow is full, or it may be
    // driven only alone. A place that is freed here or in another process wakes; one whose lease expires does not.
    const recheckAt = this.#hasFreeSlot ? now + blockedRecheckMs : Number.POSITIVE_INFINITY;
    const next = Math.min(scheduledAt, isBlocked ? recheckAt : dueAt);
    if (next !== Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }

  async #claim(): Promise<number> {
    const { settings, registry } = this.#options;
    const { storage, clock, concurrency, runLeaseDurationMs } = settings;
    let taken = 0;
    do {
      this.#tickAgain = false;
      this.#hasClaimed = false;
      if (this.#stopping !== undefined || clock.now() < this.#pausedUntil) break;
      const isUncertain = this.#clockWatch.look() > 0;
      // Before anything is claimed, lest its own runs be among those whose leases have expired.
      if (!this.#areLeasesFresh) await this.#drives.renew();
      if (isUncertain || !this.#hasFreeSlot || registry.hashes.length === 0) break;
      const now = clock.now();
      const only = this.#started?.only;
      const records = await storage.claimRuns({
        ...this.#claimFor(now),
        leaseExpiresAt: now + runLeaseDurationMs,
        limit: concurrency - this.#drives.size,
        alone: this.#drives.size === 0,
        ...(only !== undefined && { only }),
      });
      this.#hasClaimed = true;
      this.#claimedAt = now;
      for (const record of records) void this.#drives.drive(record);
      taken += records.length;
    } while (this.#tickAgain);
    return taken;
  }

  #claimFor(now: number): Pick<Claim, 'owner' | 'hashes' | 'now' | 'overdueSince'> {
    const { owner, registry } = this.#options;
    return { owner, hashes: registry.hashes, now, overdueSince: now - this.#patienceMs };
  }

  get #areLeasesFresh(): boolean {
    return this.#drives.areRenewedSince(this.#clockWatch.renewedBy);
  }

  get #hasFreeSlot(): boolean {
    return this.#drives.size < this.#options.settings.concurrency && !this.#drives.haveSuspect;
  }

  #pause(): void {
    // What several runs meet at once has one cause, and is one reason to wait longer.
    if (this.#options.settings.clock.now() < this.#pausedUntil) return;
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
    this.#wakeTimer = setAlarm(clock, Math.max(clock.now() + 1, time), () => this.wake());
  }

  async #stop(graceMs: number): Promise<void> {
    const { opened, owner, settings } = this.#options;
    const storage = await opened.settled();
    this.#cancelTimers();
    await this.#ticking?.catch(() => {});
    // Its lock then falls with the storage, and proves that nobody drives what it could not hand back.
    if (await this.#drives.stop(graceMs)) return;
    await storage?.unregisterEngine(owner).catch((error: unknown) => {
      settings.logger.warn({ error }, 'unregistering failed');
    });
  }

  #cancelTimers(): void {
    this.#wakeTimer?.cancel();
    this.#unsubscribe?.();
  }
}

function endedRecord(record: RunRecord, transition: Transition & { kind: 'end' }): RunRecord {
  const { status, output, error, rollbackStatus, endedAt } = transition;
  const cleared = { dueAt: null, owner: null, leaseExpiresAt: null };
  return { ...record, ...cleared, status, output, error, rollbackStatus, endedAt };
}
