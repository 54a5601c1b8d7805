import { type JsonValue, RunsheetError, type Timer, canonicalJson, toJsonText } from '../common/index.js';
import { type Definition, definitionFromCanonical, validateInput } from '../definition/index.js';
import {
  type InboxPost,
  type JournalRow,
  type ReleasedRun,
  type RunQuery,
  type RunRecord,
  type Unit,
  terminalStatuses,
} from '../storage/index.js';
import { Driver } from './driver.js';
import { type RunEvent, eventsOf } from './events.js';
import { type EngineOptions, type EngineSettings, newRunId, readOptions } from './options.js';
import { DefinitionRegistry, storeDefinition } from './registry.js';
import { assertResumable, takenOver } from './resume.js';
import { type Run, toRun } from './run.js';
import { checkPayload, gatesOf, signalGuard } from './signals.js';

/**
 * Creates an engine over a storage. Nothing is opened or driven before the first call.
 *
 *     const engine = createEngine({ storage: new SqliteStorage('runs.db'), definitions, handlers });
 *     await engine.start();
 *     const run = await engine.enqueue('order-fulfilment', input, { key: 'order-42' });
 *     const { output } = await engine.result(run.id);
 *
 * @throws RunsheetError `RS_OPTIONS_INVALID` for unknown options and impossible values
 */
export function createEngine(options: EngineOptions): Engine {
  return new Engine(readOptions(options));
}

export interface EnqueueOptions {
  /** Makes the start idempotent: the same key and input is the same run, whatever its state. */
  readonly key?: string;
  /** Not before this time (epoch ms). Default: at once. */
  readonly at?: number;
}

/** A run, by its id or by the key it was started with. */
export type RunAddress = string | { readonly workflow: string; readonly key: string };

export interface CancelOptions {
  /** Undo what the run has done so far. Default true. */
  readonly compensate?: boolean;
  /** For people: becomes the message of the run's error. */
  readonly reason?: string;
}

/** What `recover` took over, by what the runs were doing. */
export interface Recovery {
  readonly running: number;
  readonly waiting: number;
  readonly compensating: number;
  readonly total: number;
}

export type EngineListener = (event: RunEvent) => void;

/** After a fault, claims pause so long, doubling up to the longest. */
const firstPauseMs = 1000;
const longestPauseMs = 30_000;

/** One process's worker over a storage. */
export class Engine {
  readonly #settings: EngineSettings;
  readonly #owner: string;
  readonly #registry: DefinitionRegistry;
  readonly #drivers = new Map<number, Driver>();
  readonly #drives = new Set<Promise<void>>();
  readonly #listeners = new Set<EngineListener>();
  readonly #faultListeners = new Set<(error: unknown, runId: string | null) => void>();
  readonly #endWaiters = new Map<string, Set<() => void>>();

  #opening: Promise<void> | undefined;
  #started: { readonly only: string | undefined } | undefined;
  #stopping: Promise<void> | undefined;
  #ticking: Promise<number> | undefined;
  #tickAgain = false;
  #wakeTimer: Timer | undefined;
  #heartbeat: Timer | undefined;
  #unsubscribe: (() => void) | undefined;
  #pauseMs = 0;
  #pausedUntil = 0;

  constructor(settings: EngineSettings) {
    this.#settings = settings;
    this.#owner = `engine_${Buffer.from(settings.randomBytes()).toString('hex')}`;
    this.#registry = new DefinitionRegistry(settings.handlers);
    for (const definition of settings.definitions) this.#registry.add(definition);
  }

  /**
   * Adds a definition. Runs on other revisions go on as they are; new runs take the newest.
   *
   * @throws RunsheetError `RS_DEFINITION_CONFLICT`, `RS_DEFINITION_UNSUPPORTED`, `RS_HANDLER_UNKNOWN`
   */
  async register(definition: Definition): Promise<void> {
    await this.#open();
    this.#registry.add(definition);
    await storeDefinition(this.#settings.storage, definition, this.#settings.clock.now());
    this.#wake();
  }

  /**
   * Starts a run of the newest registered revision.
   *
   * @throws RunsheetError `RS_DEFINITION_UNKNOWN`, `RS_INPUT_INVALID` naming each field,
   *   `RS_IDEMPOTENCY_CONFLICT` where the key belongs to a run with other input
   */
  async enqueue(workflow: string, input: JsonValue = {}, { key, at }: EnqueueOptions = {}): Promise<Run> {
    await this.#open();
    const { storage, clock, maxPayloadBytes } = this.#settings;
    const definition = this.#registry.newest(workflow);
    const checked = await validateInput(definition, input);
    if (!checked.ok) {
      const problems = checked.problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
      throw new RunsheetError('RS_INPUT_INVALID', `the input of ${workflow} is not valid: ${problems.join('; ')}`);
    }
    const { text } = toJsonText(checked.value, maxPayloadBytes);
    const now = clock.now();
    const { run, created } = await storage.enqueueRun({
      id: newRunId(this.#settings),
      workflow,
      revision: definition.revision,
      definitionHash: definition.hash,
      key: key ?? null,
      input: text,
      createdAt: now,
      dueAt: Math.max(now, at ?? now),
    });
    if (!created && canonicalJson(JSON.parse(run.input) as JsonValue) !== canonicalJson(checked.value)) {
      throw new RunsheetError(
        'RS_IDEMPOTENCY_CONFLICT',
        `the key ${JSON.stringify(key)} of ${workflow} belongs to ${run.id}, which has another input; ` +
          'use another key for another run',
      );
    }
    if (created) this.#wake();
    return toRun(run);
  }

  /**
   * Waits for a run to end, also one that another process drives.
   *
   * @throws RunsheetError `RS_RUN_UNKNOWN`, `RS_RESULT_TIMEOUT` after `timeoutMs` (default: never), `RS_ENGINE_STOPPED`
   */
  async result(runId: string, { timeoutMs }: { timeoutMs?: number } = {}): Promise<Run> {
    await this.#open();
    const { storage, clock } = this.#settings;
    let expired = false;
    const waiters = this.#endWaiters.get(runId) ?? new Set();
    this.#endWaiters.set(runId, waiters);
    let wake = (): void => {};
    const waiter = (): void => wake();
    waiters.add(waiter);
    const timer =
      timeoutMs === undefined
        ? undefined
        : clock.setTimer(timeoutMs, () => {
            expired = true;
            wake();
          });
    // Its end may be written by another process: then only the storage can tell.
    const unsubscribe = storage.onForeignChange(waiter);
    try {
      for (;;) {
        const changed = new Promise<void>((resolve) => (wake = resolve));
        const run = await this.getRun(runId);
        if (isOver(run)) return run;
        if (expired) throw new RunsheetError('RS_RESULT_TIMEOUT', `${runId} is ${run.status} after ${timeoutMs} ms`);
        if (this.#stopping !== undefined) throw stopped();
        await changed;
      }
    } finally {
      unsubscribe();
      timer?.cancel();
      waiters.delete(waiter);
      if (waiters.size === 0) this.#endWaiters.delete(runId);
    }
  }

  /** @throws RunsheetError `RS_RUN_UNKNOWN` */
  async getRun(runId: string): Promise<Run> {
    await this.#open();
    const record = await this.#settings.storage.getRun(runId);
    if (record === undefined) throw new RunsheetError('RS_RUN_UNKNOWN', `there is no run ${runId}`);
    return toRun(record);
  }

  async listRuns(query: RunQuery = {}): Promise<{ runs: Run[]; cursor?: string }> {
    await this.#open();
    const { runs, cursor } = await this.#settings.storage.listRuns(query);
    return { runs: runs.map(toRun), ...(cursor !== undefined && { cursor }) };
  }

  /**
   * Delivers a signal. Needs no handlers, nor the definition to be registered. Kept if its gate is still to
   * come; outside loops the first delivery counts.
   *
   * @param payload JSON that fits the gate's `schema`; default null
   * @throws RunsheetError `RS_RUN_UNKNOWN`, `RS_RUN_ENDED`, `RS_SIGNAL_UNKNOWN`, `RS_SIGNAL_INVALID`,
   *   `RS_SIGNAL_ALREADY_DELIVERED`, `RS_SIGNAL_TOO_LATE`
   */
  async signal(address: RunAddress, name: string, payload: JsonValue = null): Promise<void> {
    const record = await this.#find(address);
    const gates = gatesOf(await this.#definitionOf(record), name);
    const { text } = toJsonText(payload, this.#settings.maxPayloadBytes);
    checkPayload(gates, payload);
    await this.#post(record, { kind: 'signal', name, payload: text, guard: signalGuard(gates) });
  }

  /**
   * Has a run cancelled: at once where this engine drives it, within a heartbeat elsewhere. How it ends is told
   * by `result`.
   *
   * @throws RunsheetError `RS_RUN_UNKNOWN`, `RS_RUN_ENDED`, `RS_RUN_ENDING` where its outcome is settled
   */
  async cancel(address: RunAddress, { compensate = true, reason }: CancelOptions = {}): Promise<void> {
    const record = await this.#find(address);
    const payload = JSON.stringify({ compensate, reason: reason ?? null });
    const guard = {
      steps: [],
      refuse: ({ run, entries }: { run: RunRecord; entries: readonly JournalRow[] }) =>
        entries.some(({ kind }) => kind === 'run-outcome') || run.status.startsWith('compensat')
          ? new RunsheetError('RS_RUN_ENDING', `${run.id} is ending already and cannot be cancelled any more`)
          : undefined,
    };
    await this.#post(record, { kind: 'cancel', name: null, payload, guard });
  }

  /** Goes on with an unwind that is stuck, from the reversal that failed. @throws `RS_RUN_NOT_STUCK` and as `cancel` */
  resumeCompensation(address: RunAddress): Promise<void> {
    return this.#decideUnwind(address, 'resume');
  }

  /** Gives an unwind that is stuck up: what is left of it is recorded as not undone. @throws as `resumeCompensation` */
  abandonCompensation(address: RunAddress): Promise<void> {
    return this.#decideUnwind(address, 'abandon');
  }

  /**
   * Goes on with a failed run as a new one, which takes over what had succeeded and keeps its idempotency keys.
   *
   * @throws RunsheetError `RS_RUN_UNKNOWN`, `RS_RUN_NOT_RESUMABLE` saying why
   */
  async resume(address: RunAddress): Promise<Run> {
    const { storage, clock } = this.#settings;
    const record = await this.#find(address);
    const definition = await this.#definitionOf(record);
    const journal = await storage.readJournal(record.run, 0, Number.MAX_SAFE_INTEGER);
    assertResumable(record, journal, definition);
    const now = clock.now();
    const { workflow, revision, definitionHash, key, input } = record;
    const run = {
      id: newRunId(this.#settings),
      workflow,
      revision,
      definitionHash,
      key,
      input,
      createdAt: now,
      dueAt: now,
    };
    const resumed = await storage.resumeRun(record.id, run, takenOver(record, journal, definition));
    if (resumed === undefined) {
      throw new RunsheetError('RS_RUN_NOT_RESUMABLE', `${record.id} was resumed by somebody else just now`);
    }
    this.#wake();
    return toRun(resumed);
  }

  /** Takes over at once what engines left behind that are certainly dead. */
  async recover(): Promise<Recovery> {
    await this.#open();
    const released = await this.#settings.storage.releaseDeadEngines(this.#settings.clock.now());
    this.#wake();
    const compensating = released.filter(({ status }: ReleasedRun) => status === 'compensating').length;
    return { running: released.length - compensating, waiting: 0, compensating, total: released.length };
  }

  /** Fills the free slots once. Answers how many runs were taken. */
  async tick(): Promise<number> {
    await this.#open();
    if (this.#ticking !== undefined) {
      this.#tickAgain = true;
      return this.#ticking;
    }
    this.#ticking = this.#claim().finally(() => (this.#ticking = undefined));
    return this.#ticking;
  }

  /**
   * Drives runs until `stop`: new ones, those whose time has come, and those whose lease has expired.
   *
   * @param options.only drive this run (by id) and those that it owns, at any depth, alone
   */
  async start({ only }: { only?: string } = {}): Promise<void> {
    await this.#open();
    if (this.#stopping !== undefined) throw stopped();
    this.#started = { only };
    this.#unsubscribe ??= this.#settings.storage.onForeignChange(() => {
      for (const driver of this.#drivers.values()) if (driver.waitsForOthers) driver.inboxChanged();
      this.#wake();
    });
    this.#wake();
  }

  /**
   * Claims nothing more, lets running handlers finish for `graceMs` (default `stopGraceMs`), aborts
   * the rest, and hands back every run with no handler executing. The storage stays open.
   */
  stop({ graceMs = this.#settings.stopGraceMs }: { graceMs?: number } = {}): Promise<void> {
    this.#stopping ??= this.#stop(graceMs);
    return this.#stopping;
  }

  /** `stop`, then closes the storage. */
  async close(options: { graceMs?: number } = {}): Promise<void> {
    await this.stop(options);
    await this.#settings.storage.close();
  }

  /** Events of the runs that this engine drives, each once it is durable. Returns how to end it. */
  subscribe(listener: EngineListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Faults that no run is to blame for: a full disk, a damaged file. The engine tries again by itself. */
  onFault(listener: (error: unknown, runId: string | null) => void): () => void {
    this.#faultListeners.add(listener);
    return () => this.#faultListeners.delete(listener);
  }

  #open(): Promise<void> {
    this.#opening ??= this.#openStorage();
    return this.#opening;
  }

  /** @throws RunsheetError `RS_RUN_UNKNOWN` */
  async #find(address: RunAddress): Promise<RunRecord> {
    await this.#open();
    const { storage } = this.#settings;
    const record =
      typeof address === 'string'
        ? await storage.getRun(address)
        : await storage.getRunByKey(address.workflow, address.key);
    if (record !== undefined) return record;
    const name = typeof address === 'string' ? address : `of ${address.workflow} with the key ${address.key}`;
    throw new RunsheetError('RS_RUN_UNKNOWN', `there is no run ${name}`);
  }

  /** Registered, or as it is stored with its runs. */
  async #definitionOf({ definitionHash, id }: RunRecord): Promise<Definition> {
    const registered = this.#registry.get(definitionHash);
    if (registered !== undefined) return registered;
    const stored = await this.#settings.storage.readDefinition(definitionHash);
    if (stored !== undefined) return definitionFromCanonical(stored.document);
    throw new RunsheetError('RS_DEFINITION_UNKNOWN', `the definition ${definitionHash} of ${id} is not stored`);
  }

  async #decideUnwind(address: RunAddress, verdict: 'resume' | 'abandon'): Promise<void> {
    const record = await this.#find(address);
    const guard = {
      steps: [],
      refuse: ({ run }: { run: RunRecord }) =>
        run.status === 'compensation-stuck'
          ? undefined
          : new RunsheetError('RS_RUN_NOT_STUCK', `${run.id} is ${run.status}; its unwind is not stuck`),
    };
    await this.#post(record, { kind: 'operator', name: verdict, payload: null, guard });
  }

  async #post({ id }: RunRecord, post: Omit<InboxPost<RunsheetError>, 'now'>): Promise<void> {
    const { storage, clock } = this.#settings;
    const result = await storage.postInbox<RunsheetError>(id, { ...post, now: () => clock.now() });
    switch (result.kind) {
      case 'posted':
        this.#inboxChanged(id);
        this.#wake();
        return;
      case 'refused':
        throw result.refusal;
      case 'unknown':
        throw new RunsheetError('RS_RUN_UNKNOWN', `there is no run ${id}`);
      case 'ended':
        throw new RunsheetError('RS_RUN_ENDED', `${id} has ended: it is ${result.run.status}`);
    }
  }

  #inboxChanged(runId: string): void {
    for (const driver of this.#drivers.values()) if (driver.id === runId) driver.inboxChanged();
  }

  async #openStorage(): Promise<void> {
    const { storage, definitions, clock } = this.#settings;
    await storage.open();
    await storage.registerEngine(this.#owner);
    for (const definition of definitions) await storeDefinition(storage, definition, clock.now());
  }

  async #claim(): Promise<number> {
    const { storage, clock, concurrency, runLeaseDurationMs } = this.#settings;
    let taken = 0;
    do {
      this.#tickAgain = false;
      const free = concurrency - this.#drivers.size;
      const hashes = this.#registry.hashes;
      const now = clock.now();
      if (free <= 0 || hashes.length === 0 || this.#stopping !== undefined || now < this.#pausedUntil) break;
      const only = this.#started?.only;
      const records = await storage.claimRuns({
        owner: this.#owner,
        hashes,
        limit: free,
        now,
        leaseExpiresAt: now + runLeaseDurationMs,
        ...(only !== undefined && { only }),
      });
      for (const record of records) this.#drive(record);
      taken += records.length;
    } while (this.#tickAgain);
    return taken;
  }

  #drive(record: RunRecord): void {
    const plan = this.#registry.plan(record.definitionHash);
    if (plan === undefined) throw new Error(`fault in the storage: claimed ${record.id} of an unknown definition`);
    const driver = new Driver({
      settings: this.#settings,
      owner: this.#owner,
      record,
      plan,
      alone: () => this.#drivers.size === 1,
      children: this.#registry.children(),
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
      .catch((error: unknown) => this.#onFault(error, record.id, driver))
      .finally(() => {
        this.#drivers.delete(record.run);
        this.#drives.delete(drive);
        this.#wake();
      });
    this.#drives.add(drive);
  }

  async #handBack(driver: Driver): Promise<void> {
    const lease = { run: driver.run, epoch: driver.epoch };
    await this.#settings.storage.releaseRuns(this.#owner, [lease], this.#settings.clock.now());
  }

  /** The run is given back, if that is still possible, and claims pause: what failed will not be better at once. */
  async #onFault(error: unknown, runId: string, driver: Driver): Promise<void> {
    this.#pause();
    this.#report(error, runId);
    await this.#handBack(driver).catch((second: unknown) => {
      this.#settings.logger.warn(
        { run: runId, error: second },
        'a run could not be handed back; its lease will expire',
      );
    });
  }

  #pause(): void {
    this.#pauseMs = Math.min(longestPauseMs, this.#pauseMs === 0 ? firstPauseMs : this.#pauseMs * 2);
    this.#pausedUntil = this.#settings.clock.now() + this.#pauseMs;
  }

  #report(error: unknown, runId: string | null): void {
    this.#settings.logger.error({ run: runId, error }, 'the engine could not go on with its work and will try again');
    for (const listener of this.#faultListeners) listener(error, runId);
  }

  #onCommitted(record: RunRecord, { entries, transition, children = [], posts = [], reopen = [] }: Unit): void {
    for (const { runId } of posts) this.#inboxChanged(runId);
    if (children.length + posts.length + reopen.length > 0) this.#wake();
    const events = eventsOf(record.id, record.workflow, entries);
    if (transition?.kind === 'park') {
      const { status, dueAt } = transition;
      const type = status === 'sleeping' || status === 'retrying' ? 'workflow:sleeping' : 'workflow:waiting';
      const seq = entries.at(-1)?.seq ?? 0;
      const rest = { step: null, occurrence: null, attempt: null, dueAt };
      events.push({ type, run: record.id, workflow: record.workflow, seq, at: this.#settings.clock.now(), ...rest });
    }
    if (transition?.kind === 'status' && transition.status === 'compensating') {
      const seq = entries.at(-1)?.seq ?? 0;
      const rest = { step: null, occurrence: null, attempt: null };
      const at = this.#settings.clock.now();
      events.push({ type: 'workflow:compensating', run: record.id, workflow: record.workflow, seq, at, ...rest });
    }
    for (const event of events) this.#emit(event);
    if (transition?.kind === 'end') for (const waiter of this.#endWaiters.get(record.id) ?? []) waiter();
  }

  #emit(event: RunEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#settings.logger.error({ error, event: event.type }, 'a listener of the engine failed');
      }
    }
  }

  /** Looks for work now, and sets the timer for the earliest that is known to come. */
  #wake(): void {
    if (this.#started === undefined || this.#stopping !== undefined) return;
    this.tick()
      .then(() => this.#setWakeTimer())
      .catch((error: unknown) => {
        if (this.#stopping !== undefined) return;
        this.#pause();
        this.#report(error, null);
        this.#wakeAt(this.#pausedUntil);
      });
  }

  async #setWakeTimer(): Promise<void> {
    if (this.#stopping !== undefined) return;
    const { storage, clock, concurrency } = this.#settings;
    if (clock.now() < this.#pausedUntil) return this.#wakeAt(this.#pausedUntil);
    // With no slot free the end of a drive wakes.
    if (this.#drivers.size >= concurrency) return;
    const dueAt = await storage.nextDueAt(this.#registry.hashes, this.#started?.only);
    if (dueAt !== undefined) this.#wakeAt(dueAt);
  }

  #wakeAt(time: number): void {
    this.#wakeTimer?.cancel();
    if (this.#stopping !== undefined) return;
    const { clock } = this.#settings;
    this.#wakeTimer = clock.setTimer(Math.max(1, time - clock.now()), () => this.#wake());
  }

  /** Heartbeats go on as long as something is driven, also while the engine stops. */
  #beat(): void {
    const { clock, runLeaseDurationMs } = this.#settings;
    this.#heartbeat ??= clock.setTimer(runLeaseDurationMs / 3, () => {
      this.#heartbeat = undefined;
      if (this.#drivers.size === 0) return;
      this.#beat();
      void this.#renewLeases();
    });
  }

  async #renewLeases(): Promise<void> {
    const { storage, clock, runLeaseDurationMs, logger } = this.#settings;
    const drivers = [...this.#drivers.values()];
    const leases = drivers.map(({ run, epoch }) => ({ run, epoch }));
    try {
      const lost = new Set(await storage.renewLeases(this.#owner, leases, clock.now() + runLeaseDurationMs));
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
    await this.#opening?.catch(() => {});
    const { storage, abortGraceMs, logger } = this.#settings;
    this.#wakeTimer?.cancel();
    this.#unsubscribe?.();
    await this.#ticking?.catch(() => {});
    for (const driver of this.#drivers.values()) driver.stop();
    if (!(await this.#allDriven(graceMs))) {
      for (const driver of this.#drivers.values()) driver.abortRunning();
      if (!(await this.#allDriven(abortGraceMs))) for (const driver of this.#drivers.values()) driver.abandon();
    }
    await Promise.allSettled(this.#drives);
    this.#heartbeat?.cancel();
    for (const waiters of this.#endWaiters.values()) for (const waiter of waiters) waiter();
    if (this.#opening === undefined) return;
    await storage
      .unregisterEngine(this.#owner)
      .catch((error: unknown) => logger.warn({ error }, 'unregistering failed'));
  }

  /** Waits for all drives to end, at most so long. */
  async #allDriven(graceMs: number): Promise<boolean> {
    if (this.#drives.size === 0) return true;
    let timer: Timer | undefined;
    const expired = new Promise<false>((resolve) => {
      timer = this.#settings.clock.setTimer(graceMs, () => resolve(false));
    });
    const done = Promise.allSettled(this.#drives).then(() => true as const);
    const result = await Promise.race([done, expired]);
    timer?.cancel();
    return result;
  }
}

function isOver(run: Run): boolean {
  return (terminalStatuses as readonly string[]).includes(run.status);
}

function stopped(): RunsheetError {
  return new RunsheetError('RS_ENGINE_STOPPED', 'the engine is stopped');
}
