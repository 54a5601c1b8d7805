import type { Clock, Timer } from '../common/index.js';
import {
  type Attempt,
  AttemptAbort,
  type AttemptCall,
  type AttemptOutcome,
  type DurableContext,
  type Handle,
  type Note,
  type Place,
  type RecordKind,
  type Recorded,
  type RunMeta,
  type RunOutcome,
  type SleepOutcome,
  type SleepReason,
  languageError,
} from '../interpreter/index.js';
import type { JournalRow, Transition } from '../storage/index.js';
import {
  type EntryKind,
  entryKey,
  errorPayload,
  readRecorded,
  readStepInput,
  readValue,
  recordedPayload,
  stepStartedPayload,
  valuePayload,
} from './entries.js';
import { JournalHandle } from './journal-handle.js';
import { ReadyQueue } from './ready-queue.js';

/** What a journal of one run is written through: the engine's end of a driver. */
export interface JournalWriter {
  /**
   * Commits a unit; resolves when it is durable.
   *
   * @throws RunsheetError `RS_LEASE_LOST` if the run is another engine's by now
   */
  commit(entries: readonly JournalRow[], transition?: Transition): Promise<void>;
  /** Makes sure, before a handler is called, that the lease has some time left. @throws as `commit` */
  secureLease(): Promise<void>;
}

export interface JournalContextOptions {
  readonly meta: RunMeta;
  /** All entries so far, ascending. */
  readonly journal: readonly JournalRow[];
  readonly writer: JournalWriter;
  readonly clock: Clock;
  /** How long an aborted handler is waited for. */
  readonly abortGraceMs: number;
  /** Told of `walk` at the start, then of each operation in its order; for tests of determinism. */
  readonly onOperation?: (operation: string) => void;
}

/** Ends a walk at a standstill: the run is parked, or the engine wants it back. Not an error. */
export class WalkSuspended extends Error {
  constructor(readonly why: 'parked' | 'stopped') {
    super(`the walk was suspended: ${why}`);
    this.name = 'WalkSuspended';
  }
}

/** A unit is cut when it has grown so large, at a point that a replay cannot see. */
const maxUnitEntries = 1000;
const maxUnitBytes = 1024 * 1024;

/**
 * The durable context over a journal: what has an entry is read, what has none is done and written
 * down. Everything that makes a handle ready is an entry, and `select` answers the handle with the
 * lowest `seq`, so that a replay goes the same way.
 *
 * All entries between two standstills (nothing can run) are one unit, committed whole; handlers are
 * called after the commit of the unit that says they start.
 */
export class JournalContext implements DurableContext {
  readonly meta: RunMeta;
  readonly #writer: JournalWriter;
  readonly #clock: Clock;
  readonly #abortGraceMs: number;
  readonly #onOperation: ((operation: string) => void) | undefined;

  /** Entries of earlier lives that the walk has not met yet. */
  readonly #recorded = new Map<string, JournalRow>();
  #lastSeq: number;
  #unit: JournalRow[] = [];
  #unitBytes = 0;

  readonly #ready = new ReadyQueue<JournalHandle<unknown>>();
  readonly #sleeps = new Map<JournalHandle<SleepOutcome>, OpenSleep>();
  readonly #attempts = new Map<Handle<unknown>, OpenAttempt>();
  /** Begun in this unit: called once it is committed. */
  #toCall: OpenAttempt[] = [];
  /** Attempts between their commit and their end. */
  readonly #inFlight = new Set<OpenAttempt>();
  #lastAbortSeq = 0;

  #alarm: Timer | undefined;
  #wake: () => void = () => {};
  #woken = false;
  #fault: { readonly error: unknown } | undefined;
  #stopping = false;
  #suspending = false;

  constructor({ meta, journal, writer, clock, abortGraceMs, onOperation }: JournalContextOptions) {
    this.meta = meta;
    this.#writer = writer;
    this.#clock = clock;
    this.#abortGraceMs = abortGraceMs;
    this.#onOperation = onOperation;
    this.#lastSeq = journal.at(-1)?.seq ?? 0;
    onOperation?.('walk');
    for (const row of journal) {
      const key = entryKey(row.kind, placeOf(row));
      // Of several starts of an attempt the first one holds the input.
      if (!this.#recorded.has(key)) this.#recorded.set(key, row);
    }
    if (journal.length === 0) this.#append('run-started', runPlace, JSON.stringify({ hash: meta.hash }));
  }

  run(place: Place, attempt: Attempt, call: AttemptCall): Handle<AttemptOutcome> {
    this.#onOperation?.(`run ${place.step}#${place.occurrence} ${attempt.number}`);
    const handle = new JournalHandle<AttemptOutcome>();
    const started = this.#take('step-started', place);
    const completed = this.#take('step-completed', place);
    if (completed !== undefined) {
      handle.settle(completed.seq, () => ({ ok: true, value: readValue(completed.payload ?? '{}') }));
      return handle;
    }
    const failed = this.#take('step-failed', place);
    if (failed !== undefined) {
      handle.settle(failed.seq, () => readFailure(failed.payload ?? ''));
      return handle;
    }
    const { idempotencyKey, owed } = attempt;
    const open: OpenAttempt = {
      place,
      handle,
      call,
      attempt,
      begunBefore: started !== undefined,
      abort: new AttemptAbort(),
      called: false,
      cancelled: undefined,
      grace: undefined,
    };
    this.#append(
      'step-started',
      place,
      open.begunBefore
        ? stepStartedPayload({ idempotencyKey, owed, restart: true }, undefined)
        : stepStartedPayload({ idempotencyKey, owed }, attempt.number === 1 ? attempt.input : undefined),
    );
    this.#attempts.set(handle, open);
    this.#toCall.push(open);
    return handle;
  }

  async record(kind: RecordKind, place: Place, compute: () => Recorded | Promise<Recorded>): Promise<Handle<Recorded>> {
    this.#onOperation?.(`${kind} ${place.step ?? ''}#${place.occurrence} ${place.aspect}`);
    const handle = new JournalHandle<Recorded>(true);
    const known = kind === 'step-input' ? this.#recordedInput(place) : this.#recordedValue(kind, place);
    if (known !== undefined) {
      handle.settle(known.seq, known.read);
      return handle;
    }
    const recorded = await compute();
    if (kind !== 'step-input') this.#append(kind, place, recordedPayload(recorded));
    // An input that is fine is kept with the start of the attempt that it is for.
    else if (!recorded.ok) this.#append('step-failed', place, errorPayload(recorded.error, { effect: 'none' }));
    handle.settle(this.#lastSeq, () => recorded);
    return handle;
  }

  sleep(place: Place, until: number, why: SleepReason): Handle<SleepOutcome> {
    this.#onOperation?.(`sleep ${place.step ?? ''}#${place.occurrence} ${place.aspect}`);
    const handle = new JournalHandle<SleepOutcome>();
    const fired = this.#take('timer-fired', place);
    if (fired !== undefined) handle.settle(fired.seq, () => 'fired');
    else this.#sleeps.set(handle, { place, until, why });
    return handle;
  }

  cancel(handles: readonly Handle<unknown>[], cause: string): void {
    for (const handle of handles) {
      const attempt = this.#attempts.get(handle);
      if (attempt !== undefined) this.#cancelAttempt(attempt, cause);
      else if (handle instanceof JournalHandle && this.#sleeps.delete(handle)) {
        this.#settle(handle, this.#lastAbortSeq, () => 'aborted');
      }
    }
  }

  note({ kind, place, payload }: Note): void {
    this.#onOperation?.(`${kind} ${place.step ?? ''}#${place.occurrence} ${place.aspect}`);
    const known = this.#take(kind, place);
    const seq = known?.seq ?? this.#append(kind, place, payload === undefined ? null : JSON.stringify(payload));
    if (kind === 'scope-aborted') this.#lastAbortSeq = seq;
  }

  async select(handles: ReadonlySet<Handle<unknown>>, added: readonly Handle<unknown>[]): Promise<Handle<unknown>> {
    for (const handle of added) if (handle instanceof JournalHandle && handle.ready) this.#ready.add(handle);
    for (;;) {
      this.#throwIfFaulty();
      for (let next = this.#ready.take(); next !== undefined; next = this.#ready.take()) {
        if (handles.has(next)) return next;
      }
      if (this.#fireDueSleeps()) continue;
      this.#standstill();
      await this.#nextEvent();
    }
  }

  relieve(): Promise<void> | undefined {
    if (this.#unit.length < maxUnitEntries && this.#unitBytes < maxUnitBytes) return undefined;
    return this.#commitUnit().then(() => this.#throwIfFaulty());
  }

  /** Writes the end of the run, in one unit with what led to it. */
  async end(outcome: RunOutcome): Promise<void> {
    this.#throwIfFaulty();
    const output = outcome.status === 'completed' ? (outcome.output?.text ?? null) : null;
    const error = outcome.status === 'failed' ? JSON.stringify(outcome.error) : null;
    this.#append('run-outcome', runPlace, outcomePayload(outcome));
    this.#append('run-ended', runPlace, JSON.stringify({ status: outcome.status }));
    await this.#commitUnit({
      kind: 'end',
      status: outcome.status,
      output,
      error,
      rollbackStatus: outcome.status === 'failed' ? 'not-applicable' : null,
      endedAt: this.#clock.now(),
    });
    this.#throwIfFaulty();
  }

  /** Begins nothing more; the walk is suspended as soon as no handler runs. */
  stop(): void {
    this.#stopping = true;
    this.#notify();
  }

  /** Tells the running handlers that the engine goes down; how they end is still written. */
  abortRunning(cause: string): void {
    for (const attempt of this.#attempts.values()) attempt.abort.abort(new Error(cause));
  }

  /** Throws the walk away: the run is no longer this engine's, or the storage is gone. */
  fence(error: unknown): void {
    this.#fault ??= { error };
    this.abortRunning('the run is no longer driven here');
    this.#notify();
  }

  /** No timer or signal of this context is left behind. */
  dispose(): void {
    this.#alarm?.cancel();
    for (const { grace } of this.#attempts.values()) grace?.cancel();
  }

  get handlersRunning(): boolean {
    return this.#inFlight.size > 0;
  }

  #recordedInput(place: Place): Known | undefined {
    const failed = this.#take('step-failed', place);
    if (failed !== undefined) return { seq: failed.seq, read: () => readRecorded(failed.payload ?? '') };
    const started = this.#recorded.get(entryKey('step-started', { ...place, aspect: '1' }));
    if (started === undefined) return undefined;
    return { seq: started.seq, read: () => ({ ok: true, value: readStepInput(started.payload ?? '') }) };
  }

  #recordedValue(kind: RecordKind, place: Place): Known | undefined {
    const row = this.#take(kind, place);
    return row && { seq: row.seq, read: () => readRecorded(row.payload ?? '{}') };
  }

  #take(kind: string, place: Place): JournalRow | undefined {
    if (this.#recorded.size === 0) return undefined;
    const key = entryKey(kind, place);
    const row = this.#recorded.get(key);
    if (row !== undefined) this.#recorded.delete(key);
    return row;
  }

  #append(kind: EntryKind, place: Place, payload: string | null): number {
    this.#throwIfFaulty();
    this.#lastSeq += 1;
    this.#unit.push({ seq: this.#lastSeq, kind, ...place, at: this.#clock.now(), payload });
    this.#unitBytes += payload?.length ?? 0;
    return this.#lastSeq;
  }

  #settle<T>(handle: JournalHandle<T>, seq: number, read: () => T): void {
    if (handle.ready) return;
    handle.settle(seq, read);
    this.#ready.add(handle as JournalHandle<unknown>);
    this.#notify();
  }

  /** Appends `timer-fired` for all that is due, earliest first. */
  #fireDueSleeps(): boolean {
    const now = this.#clock.now();
    const due = [...this.#sleeps].filter(([, { until }]) => until <= now).sort(([, a], [, b]) => a.until - b.until);
    for (const [handle, { place, why }] of due) {
      this.#sleeps.delete(handle);
      const seq = this.#append('timer-fired', place, JSON.stringify({ why }));
      this.#settle(handle, seq, () => 'fired');
    }
    return due.length > 0;
  }

  /** Nothing can run: what has happened is committed, and the run suspended if no handler runs or is to run. */
  #standstill(): void {
    if (this.#suspending) return;
    // Starts that are written down but not called are made again by whoever drives the run next.
    this.#suspending = this.#inFlight.size === 0 && (this.#toCall.length === 0 || this.#stopping);
    if (this.#suspending) {
      const transition = this.#stopping ? undefined : this.#parkTransition();
      void this.#commitUnit(transition).then(() => this.fence(new WalkSuspended(transition ? 'parked' : 'stopped')));
      return;
    }
    if (this.#unit.length > 0) void this.#commitUnit();
    this.#setAlarm();
  }

  #parkTransition(): Transition {
    const backsOff = [...this.#sleeps.values()].some(({ why }) => why === 'back-off');
    return { kind: 'park', status: backsOff ? 'retrying' : 'sleeping', dueAt: this.#earliestSleep() };
  }

  /** Commits what has piled up, then calls what it begins. Never rejects: a failure fences the walk. */
  async #commitUnit(transition?: Transition): Promise<void> {
    const entries = this.#unit;
    const toCall = this.#toCall;
    this.#unit = [];
    this.#unitBytes = 0;
    this.#toCall = [];
    for (const attempt of toCall) this.#inFlight.add(attempt);
    try {
      await this.#writer.commit(entries, transition);
      if (toCall.length > 0 && !this.#stopping) await this.#writer.secureLease();
    } catch (error) {
      this.fence(error);
      return;
    }
    for (const attempt of toCall) this.#callNow(attempt);
  }

  #callNow(open: OpenAttempt): void {
    if (this.#fault !== undefined || this.#stopping) {
      this.#inFlight.delete(open);
      this.#notify();
    } else if (open.cancelled !== undefined) {
      this.#finishAttempt(open, open.cancelled);
    } else {
      open.called = true;
      open.call(open.abort).then(
        (outcome) => this.#finishAttempt(open, outcome),
        // The interpreter promises that a call never throws; if it does, that is a fault, not a failed step.
        (error: unknown) => this.fence(error),
      );
    }
  }

  /** The first end counts: the result of a handler that was given up comes too late. */
  #finishAttempt(open: OpenAttempt, outcome: AttemptOutcome): void {
    open.grace?.cancel();
    if (!this.#attempts.delete(open.handle)) return;
    this.#inFlight.delete(open);
    if (this.#fault !== undefined) return;
    const seq = outcome.ok
      ? this.#append('step-completed', open.place, valuePayload(outcome.value))
      : this.#append('step-failed', open.place, failurePayload(outcome));
    this.#settle(open.handle, seq, () => outcome);
  }

  /** A handler that runs is told, and awaited for the grace period; one that was not called yet never is. */
  #cancelAttempt(open: OpenAttempt, cause: string): void {
    const cancelled: AttemptOutcome = {
      ok: false,
      error: languageError('Cancelled', `${open.place.step} was ended: ${cause}`, {
        step: open.place.step,
        attempt: open.attempt.number,
      }),
      effect: open.called || open.begunBefore ? 'unknown' : 'none',
    };
    if (open.called) {
      open.abort.abort(new Error(cause));
      open.grace = this.#clock.setTimer(this.#abortGraceMs, () => this.#finishAttempt(open, cancelled));
    } else if (this.#inFlight.has(open)) {
      open.cancelled = cancelled;
    } else {
      this.#toCall = this.#toCall.filter((other) => other !== open);
      this.#finishAttempt(open, cancelled);
    }
  }

  /** While handlers run, time that comes is noticed here; a parked run is woken by its row. */
  #setAlarm(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    if (this.#sleeps.size === 0) return;
    this.#alarm = this.#clock.setTimer(this.#earliestSleep() - this.#clock.now(), () => this.#notify());
  }

  #earliestSleep(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { until } of this.#sleeps.values()) earliest = Math.min(earliest, until);
    if (earliest === Number.POSITIVE_INFINITY)
      throw new Error('fault in the interpreter: a run that waits for nothing');
    return earliest;
  }

  #notify(): void {
    this.#woken = true;
    this.#wake();
  }

  async #nextEvent(): Promise<void> {
    if (!this.#woken) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#woken = false;
  }

  #throwIfFaulty(): void {
    if (this.#fault !== undefined) throw this.#fault.error;
  }
}

interface OpenSleep {
  readonly place: Place;
  readonly until: number;
  readonly why: SleepReason;
}

interface OpenAttempt {
  readonly place: Place;
  readonly handle: JournalHandle<AttemptOutcome>;
  readonly call: AttemptCall;
  readonly attempt: Attempt;
  /** In an earlier life of the run: what came of it is unknown. */
  readonly begunBefore: boolean;
  readonly abort: AttemptAbort;
  /** The handler was called in this life. */
  called: boolean;
  /** Its scope was aborted while the unit that begins it was being committed. */
  cancelled: AttemptOutcome | undefined;
  grace: Timer | undefined;
}

interface Known {
  readonly seq: number;
  readonly read: () => Recorded;
}

const runPlace: Place = { step: null, occurrence: '0', aspect: '' };

function placeOf({ step, occurrence, aspect }: JournalRow): Place {
  return { step, occurrence: occurrence ?? '0', aspect: aspect ?? '' };
}

function outcomePayload(outcome: RunOutcome): string {
  return outcome.status === 'completed' ? valuePayload(outcome.output) : errorPayload(outcome.error);
}

function failurePayload({ error, final, effect }: AttemptOutcome & { ok: false }): string {
  return errorPayload(error, { ...(final && { final }), ...(effect !== undefined && { effect }) });
}

function readFailure(payload: string): AttemptOutcome {
  return { ok: false, ...(JSON.parse(payload) as Omit<AttemptOutcome & { ok: false }, 'ok'>) };
}
