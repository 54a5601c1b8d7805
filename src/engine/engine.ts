import { type JsonValue, RunsheetError, canonicalJson, notify, toJsonText } from '../common/index.js';
import { type Definition, problemsText, validateInput } from '../definition/index.js';
import {
  type Enqueued,
  type NewRun,
  type RunQuery,
  type RunRecord,
  type RunStatus,
  terminalStatuses,
} from '../storage/index.js';
import { checkCall } from './call-options.js';
import type { RunEvent } from './events.js';
import { cancelGuard, operatorGuard } from './guards.js';
import { OpenedStorage, type RunAddress } from './opened-storage.js';
import { type EngineOptions, type EngineSettings, newRunId, readOptions } from './options.js';
import { type Recovery, Recoverer } from './recovery.js';
import { DefinitionRegistry } from './registry.js';
import { planResumption } from './resumption.js';
import { type RetentionOptions, Retention } from './retention.js';
import { type Run, toRun } from './run.js';
import { keyedRunId } from './run-ids.js';
import { type Schedule, nextAfter, toSchedule, upcoming } from './schedules.js';
import { checkPayload, gatesOf, signalGuard } from './signals.js';
import { leaveStorage } from './storage-users.js';
import { Worker } from './worker.js';
import type { ComputedName, EnqueueArguments, SignalArguments, SignalName, WorkflowName } from './workflow-inputs.js';

/**
 * Creates an engine over a storage. Nothing is opened or driven before the first call.
 *
 *     const engine = createEngine({ storage: new SqliteStorage('runs.db'), definitions, handlers });
 *     await engine.start();
 *     const run = await engine.enqueue('order-fulfilment', input, { key: 'order-42' });
 *     const { output } = await engine.result(run.id);
 *
 * @throws RunsheetError `RS_OPTIONS_INVALID` for unknown options, impossible values, and a storage that lacks
 *   something; `RS_HANDLER_UNKNOWN` for flows whose handlers are missing
 */
export function createEngine(options: EngineOptions): Engine {
  return new Engine(readOptions(options));
}

const longestIntervalMs = 2 ** 31 - 1;

export interface EnqueueOptions {
  /** Makes the start idempotent: the same key and input is the same run, whatever its state. */
  readonly key?: string;
  /** Not before this time (epoch ms). Default: at once. */
  readonly at?: number;
}

export interface CancelOptions {
  /** Undo what the run has done so far. Default true. */
  readonly compensate?: boolean;
  /** For people: becomes the message of the run's error. */
  readonly reason?: string;
}

export interface CloseOptions {
  /** How long running handlers may still take. Default: the engine's `stopGraceMs`. */
  readonly graceMs?: number;
}

export type EngineListener = (event: RunEvent) => void;
export type FaultListener = (error: unknown, runId: string | null) => void;

/**
 * One process's worker over a storage, and the way in for everybody who wants something of its runs. Every call
 * checks what it is given first and refuses it by `RS_OPTIONS_INVALID`.
 */
export class Engine {
  readonly #settings: EngineSettings;
  readonly #registry: DefinitionRegistry;
  readonly #opened: OpenedStorage;
  readonly #worker: Worker;
  readonly #recoverer: Recoverer;
  readonly #retention: Retention;
  readonly #listeners = new Set<EngineListener>();
  readonly #faultListeners = new Set<FaultListener>();
  #closing: Promise<void> | undefined;
  readonly #endWaiters = new Map<string, Set<(ended?: RunRecord) => void>>();

  constructor(settings: EngineSettings) {
    const owner = `engine_${Buffer.from(settings.randomBytes()).toString('hex')}`;
    this.#settings = settings;
    this.#registry = new DefinitionRegistry(settings.handlers);
    for (const definition of settings.definitions) this.#registry.add(definition);
    this.#opened = new OpenedStorage(settings, owner, this.#registry);
    this.#worker = new Worker({
      settings,
      owner,
      registry: this.#registry,
      opened: this.#opened,
      onEvent: (event) => this.#emit(event),
      onFault: (error, runId) => this.#reportFault(error, runId),
      hasListeners: () => this.#listeners.size > 0,
      onEnd: (ended) => this.#endWaiters.get(ended.id)?.forEach((waiter) => waiter(ended)),
      onLeft: (runId) => this.#endWaiters.get(runId)?.forEach((waiter) => waiter()),
    });
    this.#recoverer = new Recoverer(settings, owner, this.#registry);
    this.#retention = new Retention(settings);
  }

  /**
   * Adds a definition. Runs on other revisions go on as they are; new runs take the newest.
   *
   * @throws RunsheetError `RS_DEFINITION_CONFLICT`, `RS_HANDLER_UNKNOWN`
   */
  async register(definition: Definition): Promise<void> {
    checkCall('register', { definition });
    await this.#open();
    this.#registry.checkNew(definition);
    await this.#opened.store(definition);
    this.#registry.add(definition);
    this.#worker.wake();
  }

  /**
   * Starts a run of the newest registered revision, with an input (default `{}`) and options.
   *
   * @throws RunsheetError `RS_DEFINITION_UNKNOWN`, `RS_INPUT_INVALID` naming each field, `RS_NOT_JSON`,
   *   `RS_PAYLOAD_TOO_LARGE`, `RS_IDEMPOTENCY_CONFLICT` where the key belongs to a run with other input
   */
  enqueue<Name extends string>(workflow: ComputedName<Name>, input?: JsonValue, options?: EnqueueOptions): Promise<Run>;
  enqueue<Name extends WorkflowName>(workflow: Name, ...given: EnqueueArguments<Name>): Promise<Run<Name>>;
  async enqueue(workflow: string, input: JsonValue = {}, options?: EnqueueOptions): Promise<Run> {
    checkCall('enqueue', { workflow, options });
    const { key, at } = options ?? {};
    await this.#open();
    const { clock, maxPayloadBytes } = this.#settings;
    const definition = this.#registry.newest(workflow);
    const checked = await validateInput(definition, toJsonText(input, maxPayloadBytes).value);
    if (!checked.ok) {
      throw new RunsheetError(
        'RS_INPUT_INVALID',
        `the input of ${workflow} is not valid: ${problemsText(checked.problems)}`,
      );
    }
    const { text } = toJsonText(checked.value, maxPayloadBytes);
    const now = clock.now();
    const newRun: NewRun = {
      ...(key === undefined ? { id: newRunId(this.#settings) } : keyedRunId(this.#opened.identity, workflow, key)),
      workflow,
      revision: definition.revision,
      definitionHash: definition.hash,
      key: key ?? null,
      input: text,
      createdAt: now,
      dueAt: Math.max(now, at ?? now),
    };
    const { run, created } = (await this.#worker.begin(newRun)) ?? (await this.#insert(newRun));
    if (!created && canonicalJson(JSON.parse(run.input) as JsonValue) !== canonicalJson(checked.value)) {
      throw new RunsheetError(
        'RS_IDEMPOTENCY_CONFLICT',
        `the key ${JSON.stringify(key)} of ${workflow} belongs to ${run.id}, which has another input; ` +
          'use another key for another run',
      );
    }
    return toRun(run);
  }

  /**
   * Waits for a run to end, also one that another process drives.
   *
   * @throws RunsheetError `RS_RUN_UNKNOWN`, `RS_RESULT_TIMEOUT` after `timeoutMs` (default: never), `RS_ENGINE_STOPPED`
   */
  async result<Workflow extends string = string>(
    run: string | Pick<Run<Workflow>, 'id' | 'workflow'>,
    options: { timeoutMs?: number } = {},
  ): Promise<Run<Workflow>> {
    checkCall('result', { run, options });
    const runId = typeof run === 'string' ? run : run.id;
    const { timeoutMs } = options;
    await this.#open();
    const { storage, clock } = this.#settings;
    let expired = false;
    const waiters = this.#endWaiters.get(runId) ?? new Set();
    this.#endWaiters.set(runId, waiters);
    let wake = (): void => {};
    let ended: RunRecord | undefined;
    const waiter = (record?: RunRecord): void => {
      ended ??= record;
      wake();
    };
    waiters.add(waiter);
    const timer =
      timeoutMs === undefined
        ? undefined
        : clock.setTimer(timeoutMs, () => {
            expired = true;
            wake();
          });
    // Its end may be written by another process: then only the storage can tell.
    const unsubscribe = storage.onForeignChange(() => waiter());
    // Looking at the storage keeps no process alive; Node would end one that does nothing else, in mid-sentence.
    const alive = setInterval(() => {}, longestIntervalMs);
    try {
      for (;;) {
        const changed = new Promise<void>((resolve) => (wake = resolve));
        if (ended !== undefined) return toRun<Workflow>(ended);
        // What is driven here has not ended, and tells of its end.
        if (expired || !this.#worker.drives(runId)) {
          const run = toRun<Workflow>(await this.#opened.find(runId));
          if (isTerminal(run.status)) return run;
          if (expired) throw new RunsheetError('RS_RESULT_TIMEOUT', `${runId} is ${run.status} after ${timeoutMs} ms`);
        }
        if (this.#worker.stopping) throw stopped();
        await changed;
      }
    } finally {
      unsubscribe();
      clearInterval(alive);
      timer?.cancel();
      waiters.delete(waiter);
      if (waiters.size === 0) this.#endWaiters.delete(runId);
    }
  }

  /** @throws RunsheetError `RS_RUN_UNKNOWN` */
  async getRun<Workflow extends string = string>(address: RunAddress<Workflow>): Promise<Run<Workflow>> {
    checkCall('getRun', { run: address });
    return toRun<Workflow>(await this.#opened.find(address));
  }

  async listRuns(query: RunQuery = {}): Promise<{ runs: Run[]; cursor?: string }> {
    checkCall('listRuns', { options: query });
    await this.#open();
    const { runs, cursor } = await this.#settings.storage.listRuns(query);
    return { runs: runs.map(toRun), ...(cursor !== undefined && { cursor }) };
  }

  /**
   * Delivers a signal. Needs no handlers, nor the definition to be registered. Kept if its gate is still to
   * come; outside loops the first delivery counts.
   *
   * @param payload JSON that fits the gate's `schema`; default null
   * @throws RunsheetError `RS_RUN_UNKNOWN`, `RS_RUN_ENDED`, `RS_SIGNAL_UNKNOWN`, `RS_SIGNAL_INVALID`, `RS_NOT_JSON`,
   *   `RS_PAYLOAD_TOO_LARGE`, `RS_SIGNAL_ALREADY_DELIVERED`, `RS_SIGNAL_TOO_LATE`
   */
  async signal<Workflow extends string = string, Name extends SignalName<Workflow> = SignalName<Workflow>>(
    address: RunAddress<Workflow>,
    name: Name,
    ...given: SignalArguments<Workflow, Name>
  ): Promise<void> {
    const payload = (given[0] ?? null) as JsonValue;
    checkCall('signal', { run: address, name });
    const record = await this.#opened.find(address);
    const definition = await this.#opened.definitionOf(record);
    const gates = gatesOf(definition, name);
    const { text, value } = toJsonText(payload, this.#settings.maxPayloadBytes);
    checkPayload(gates, value);
    await this.#post(record, { kind: 'signal', name, payload: text, guard: signalGuard(gates, definition) });
  }

  /**
   * Has a run cancelled: at once where this engine drives it, within a heartbeat elsewhere. How it ends is told
   * by `result`.
   *
   * @throws RunsheetError `RS_RUN_UNKNOWN`, `RS_RUN_ENDED`, `RS_RUN_ENDING` where its outcome is settled
   */
  async cancel(address: RunAddress, options: CancelOptions = {}): Promise<void> {
    checkCall('cancel', { run: address, options });
    const { compensate = true, reason } = options;
    const record = await this.#opened.find(address);
    const payload = JSON.stringify({ compensate, reason: reason ?? null });
    await this.#post(record, { kind: 'cancel', name: null, payload, guard: cancelGuard });
  }

  /** Goes on with an unwind that is stuck, from the reversal that failed. @throws `RS_RUN_NOT_STUCK` and as `cancel` */
  async resumeCompensation(address: RunAddress): Promise<void> {
    checkCall('resumeCompensation', { run: address });
    return this.#decideUnwind(address, 'resume');
  }

  /** Gives an unwind that is stuck up: what is left of it is recorded as not undone. @throws as `resumeCompensation` */
  async abandonCompensation(address: RunAddress): Promise<void> {
    checkCall('abandonCompensation', { run: address });
    return this.#decideUnwind(address, 'abandon');
  }

  /**
   * Goes on with a failed run as a new one, where it failed: what had succeeded or was handled stays, under the same
   * idempotency keys.
   *
   * @throws RunsheetError `RS_RUN_UNKNOWN`, `RS_RUN_NOT_RESUMABLE` saying why
   */
  async resume(address: RunAddress): Promise<Run> {
    checkCall('resume', { run: address });
    const record = await this.#opened.find(address);
    const resumption = await planResumption(record, this.#opened, this.#settings);
    const resumed = await this.#settings.storage.resumeRun(resumption);
    if (resumed === undefined) {
      throw new RunsheetError('RS_RUN_NOT_RESUMABLE', `${record.id} was resumed by somebody else just now`);
    }
    this.#worker.wake();
    return toRun(resumed);
  }

  /** Takes over at once what engines left behind that are certainly dead, and tells what else nobody drives. */
  async recover(): Promise<Recovery> {
    await this.#open();
    const recovery = await this.#recoverer.recover();
    this.#worker.wake();
    return recovery;
  }

  /**
   * Whether nothing is at work here: each run that is executed waits for a handler, a timer or a message, and no run is
   * looked for. A simulation may move its time on then.
   *
   * @internal
   */
  get isAtRest(): boolean {
    return this.#worker.isAtRest;
  }

  /** Fills the free slots once. Answers how many runs were taken. */
  async tick(): Promise<number> {
    await this.#open();
    return this.#worker.tick();
  }

  /**
   * Drives runs until `stop`: new ones, those whose time has come, and those whose lease has expired; fires schedules.
   *
   * @param options.only drive this run (by id) and those that it owns, at any depth, alone; fire no schedule
   */
  async start(options: { only?: string } = {}): Promise<void> {
    checkCall('start', { options });
    const { only } = options;
    await this.#open();
    if (this.#worker.stopping) throw stopped();
    this.#worker.start(only);
    if (only === undefined) this.#retention.start();
  }

  /**
   * Claims nothing more, lets running handlers finish for `graceMs` (default `stopGraceMs`), aborts
   * the rest, and hands back every run with no handler executing. The storage stays open.
   */
  async stop(options: CloseOptions = {}): Promise<void> {
    checkCall('stop', { options });
    const { graceMs = this.#settings.stopGraceMs } = options;
    this.#retention.stop();
    await this.#worker.stop(graceMs);
    this.#endWaiters.forEach((waiters) => waiters.forEach((waiter) => waiter()));
  }

  /**
   * `stop`, then closes the storage. With `true` nothing is waited for: one last transaction hands every run back,
   * and from then on nothing of this engine writes, begins or undoes anything, whatever its handlers still do.
   */
  async close(how: CloseOptions | true = {}): Promise<void> {
    if (how !== true) checkCall('close', { options: how });
    if (how === true) {
      this.#retention.stop();
      await this.#worker.fence();
      this.#endWaiters.forEach((waiters) => waiters.forEach((waiter) => waiter()));
    } else {
      await this.stop(how);
    }
    // Once for all who ask at the same time.
    this.#closing ??= leaveStorage(this.#settings.storage, this.#opened).finally(() => (this.#closing = undefined));
    await this.#closing;
  }

  /** Schedules of all workflows in the storage, with the next `count` times of each (default 1). */
  async listSchedules(options: { count?: number } = {}): Promise<(Schedule & { nextTimes: number[] })[]> {
    checkCall('listSchedules', { options });
    const { count = 1 } = options;
    await this.#open();
    const records = await this.#settings.storage.listSchedules();
    return records.map((record) => ({ ...toSchedule(record), nextTimes: upcoming(record, count) }));
  }

  /** @throws RunsheetError `RS_SCHEDULE_UNKNOWN` */
  async pauseSchedule(workflow: string, id: string): Promise<void> {
    checkCall('pauseSchedule', { workflow, id });
    return this.#setPaused(workflow, id, true);
  }

  /** Goes on from the next nominal time; what was missed meanwhile is not made up for. @throws as `pauseSchedule` */
  async resumeSchedule(workflow: string, id: string): Promise<void> {
    checkCall('resumeSchedule', { workflow, id });
    return this.#setPaused(workflow, id, false);
  }

  /** Starts a run now, as the schedule would, whatever its overlap rule. @throws as `pauseSchedule` and `enqueue` */
  async triggerSchedule(workflow: string, id: string): Promise<Run> {
    checkCall('triggerSchedule', { workflow, id });
    const { input, revision } = await this.#schedule(workflow, id);
    const newest = this.#registry.newest(workflow);
    if (newest.revision < revision) {
      throw new RunsheetError(
        'RS_DEFINITION_UNKNOWN',
        `the schedule ${id} is of ${workflow} revision ${revision}, and the newest one registered here is ${newest.revision}; ` +
          'register that revision, or trigger it where it is',
      );
    }
    return this.enqueue(workflow, JSON.parse(input) as JsonValue);
  }

  /**
   * Removes finished runs that ended at least `ageMs` ago, whole trees only, nothing owed or stuck in them.
   *
   * @param statuses of the root; default all terminal ones
   * @returns how many runs
   */
  async cleanup(ageMs: number, statuses?: RetentionOptions['statuses']): Promise<number> {
    checkCall('cleanup', { ageMs, statuses });
    await this.#open();
    return this.#retention.cleanup(ageMs, statuses);
  }

  /** Puts finished runs away, as `cleanup` chooses them, at most 1000 a call: readable by id and key, no longer listed. */
  async archive(ageMs: number, statuses?: RetentionOptions['statuses']): Promise<number> {
    checkCall('archive', { ageMs, statuses });
    await this.#open();
    return this.#retention.archive(ageMs, statuses);
  }

  async getArchivedCount(): Promise<number> {
    await this.#open();
    return this.#settings.storage.countArchived();
  }

  /** Events of the runs that this engine drives, each once it is durable. Returns how to end it. */
  subscribe(listener: EngineListener): () => void {
    checkCall('subscribe', { listener });
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Faults that no run is to blame for: a full disk, a damaged file. The engine tries again by itself. */
  onFault(listener: FaultListener): () => void {
    checkCall('onFault', { listener });
    this.#faultListeners.add(listener);
    return () => this.#faultListeners.delete(listener);
  }

  #insert(run: NewRun): Promise<Enqueued> {
    const enqueued = this.#settings.storage.enqueueRun(run);
    // Claimed in the same transaction where the storage shares them; no handler is called before both are durable.
    this.#worker.wake();
    return enqueued;
  }

  #open(): Promise<void> {
    return this.#opened.open();
  }

  async #post(record: RunRecord, post: Parameters<OpenedStorage['post']>[1]): Promise<void> {
    await this.#opened.post(record, post);
    this.#worker.inboxChanged(record.id);
    this.#worker.wake();
  }

  async #decideUnwind(address: RunAddress, verdict: 'resume' | 'abandon'): Promise<void> {
    const record = await this.#opened.find(address);
    const guard = operatorGuard(await this.#opened.definitionOf(record));
    await this.#post(record, { kind: 'operator', name: verdict, payload: null, guard });
  }

  async #schedule(workflow: string, id: string) {
    await this.#open();
    const records = await this.#settings.storage.listSchedules([workflow]);
    const record = records.find((one) => one.id === id);
    if (record !== undefined) return record;
    const known = records.map((one) => one.id).join(', ');
    throw new RunsheetError(
      'RS_SCHEDULE_UNKNOWN',
      `${workflow} has no schedule ${id}${known === '' ? ', nor any other; a worker registers those of its flows when it starts' : `, but ${known}`}`,
    );
  }

  async #setPaused(workflow: string, id: string, paused: boolean): Promise<void> {
    const record = await this.#schedule(workflow, id);
    const { storage, clock } = this.#settings;
    const next = paused ? [] : [nextAfter(record, clock.now())];
    await storage.pauseSchedule(workflow, id, paused, ...next);
    this.#worker.wake();
  }

  #emit(event: RunEvent): void {
    for (const listener of this.#listeners) {
      notify(
        () => listener(event),
        (error) => this.#settings.logger.error({ error, event: event.type }, 'a listener of the engine failed'),
      );
    }
  }

  #reportFault(fault: unknown, runId: string | null): void {
    for (const listener of this.#faultListeners) {
      notify(
        () => listener(fault, runId),
        (error) => this.#settings.logger.error({ error }, 'a listener for faults of the engine failed'),
      );
    }
  }
}

function isTerminal(status: RunStatus): boolean {
  return (terminalStatuses as readonly RunStatus[]).includes(status);
}

function stopped(): RunsheetError {
  return new RunsheetError('RS_ENGINE_STOPPED', 'the engine is stopped');
}
