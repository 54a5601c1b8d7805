import type { Clock, JsonValue } from '../common/index.js';
import {
  type Ahead,
  type Attempt,
  type AttemptCall,
  type AttemptOutcome,
  type BegunHandle,
  type Cancellation,
  type ChildHandle,
  type ChildStart,
  type ChildUnwound,
  type Conclusion,
  type DurableContext,
  type Gate,
  type Handle,
  type Note,
  type OperatorVerdict,
  type PivotOutcome,
  type Place,
  type RecordKind,
  type Recorded,
  type RunEnd,
  type RunError,
  type RunMeta,
  type RunOutcome,
  type SignalOutcome,
  type SleepOutcome,
  type SleepReason,
  cancelledError,
} from '../interpreter/index.js';
import type { InboxMessage, JournalRow, RollbackStatus, RunRecord, Transition } from '../storage/index.js';
import { Beginnings } from './beginnings.js';
import { conclusionPayload, endTransition, outcomeTransition, readConclusion } from './conclusion.js';
import { type Due, earlierOf } from './due.js';
import { Inbox, type Offer } from './inbox.js';
import { Journal, type Unit, runPlace } from './journal.js';
import { JournalHandle } from './journal-handle.js';
import { type OpenAttempt, OpenAttempts, startsTakenOver } from './open-attempts.js';
import { type ChildEnded, OpenChildren } from './open-children.js';
import { OpenGates } from './open-gates.js';
import { OpenOperators } from './open-operators.js';
import { Alarm, OpenSleeps } from './open-sleeps.js';
import { Readiness } from './readiness.js';
import { Records } from './records.js';

/** What a journal of one run is written through: the engine's end of a driver. */
export interface JournalWriter {
  /**
   * Commits a unit; resolves when it is durable. With `inboxSeq` it is refused (false) if the inbox has
   * changed since that message.
   *
   * @throws RunsheetError `RS_LEASE_LOST` if the run is another engine's by now
   */
  commit(unit: Unit, transition?: Transition, inboxSeq?: number): Promise<boolean>;
  /** Makes sure, before a handler is called, that the lease has some time left. @throws as `commit` */
  secureLease(): Promise<void> | undefined;
  readInbox(afterSeq: number): Promise<readonly InboxMessage[]>;
  readRun(id: string): Promise<RunRecord | undefined>;
  hasPivot(run: RunRecord): Promise<boolean>;
}

export interface JournalContextOptions {
  readonly meta: RunMeta;
  /** Id of the run that owns this one. */
  readonly parent: string | null;
  /** All entries so far, ascending. */
  readonly journal: readonly JournalRow[];
  /** The highest message in the run's inbox when it was claimed. */
  readonly inboxSeq: number;
  readonly writer: JournalWriter;
  readonly clock: Clock;
  /** The run was interrupted too often: what was under way is not begun again. */
  readonly givenUp: boolean;
  /** How long an aborted handler is waited for. */
  readonly abortGraceMs: number;
  /** Told of `walk` at the start, then of each operation in its order; for tests of determinism. */
  readonly onOperation?: (operation: string) => void;
}

/** Ends a walk at a standstill: the run is parked, the engine wants it back, or could not begin it. Not an error. */
export class WalkSuspended extends Error {
  constructor(readonly why: 'parked' | 'stopped' | 'not-begun') {
    super(`the walk was suspended: ${why}`);
    this.name = 'WalkSuspended';
  }
}

/**
 * The durable context over a journal: what has an entry is read, what has none is done and written
 * down. Everything that makes a handle ready is an entry, and `select` answers the handle with the
 * lowest `seq`, so that a replay goes the same way.
 *
 * All entries between two standstills (nothing can run) are one unit, committed whole; handlers are
 * called after the commit of the unit that says they start. Where others may have a say (a time-out
 * against a signal, an outcome against a cancellation, a park against anything) the unit is
 * committed only if the inbox is still as it was read; else it is read again and looked at anew.
 */
export class JournalContext implements DurableContext {
  readonly meta: RunMeta;
  readonly #parent: string | null;
  readonly #writer: JournalWriter;
  readonly #clock: Clock;
  readonly #onOperation: ((operation: string) => void) | undefined;

  readonly #journal: Journal;
  readonly #readiness = new Readiness();
  readonly #inbox: Inbox;
  readonly #records: Records;
  readonly #beginnings = new Beginnings();
  readonly #pivots = new Map<JournalHandle<PivotOutcome>, Place>();
  readonly #attempts: OpenAttempts;
  readonly #sleeps: OpenSleeps;
  readonly #gates: OpenGates;
  readonly #children: OpenChildren;
  readonly #alarm: Alarm;

  readonly #cancellation = new JournalHandle<Cancellation>();
  readonly #operators: OpenOperators;
  #concluded = false;
  #ended = false;
  #unwinding = false;
  /** How the unwind came out, once it is over. */
  #rollbackStatus: RollbackStatus | undefined;
  /** To be written with the next unit. */
  #statusChange: Transition | undefined;
  /** Why the run fails, once that stands. */
  #failure: RunError | null = null;
  #lastAbortSeq = 0;
  #fault: { readonly error: unknown } | undefined;
  #stopping = false;

  constructor(options: JournalContextOptions) {
    const { meta, parent, journal, inboxSeq, writer, clock, abortGraceMs, onOperation } = options;
    this.meta = meta;
    this.#parent = parent;
    this.#writer = writer;
    this.#clock = clock;
    this.#onOperation = onOperation;
    const now = (): number => clock.now();
    this.#journal = new Journal(journal, now);
    this.#inbox = new Inbox(journal, inboxSeq, (afterSeq) => writer.readInbox(afterSeq));
    this.#records = new Records(this.#journal, () => this.#throwIfFaulty());
    const begun = { journal: this.#journal, readiness: this.#readiness, beginnings: this.#beginnings };
    this.#attempts = new OpenAttempts({
      ...begun,
      clock,
      abortGraceMs,
      givenUp: options.givenUp,
      takenOver: startsTakenOver(journal),
    });
    this.#sleeps = new OpenSleeps(this.#journal, this.#readiness);
    this.#gates = new OpenGates(this.#journal, this.#readiness, this.#inbox);
    this.#operators = new OpenOperators(this.#journal, this.#readiness, this.#inbox);
    this.#children = new OpenChildren({
      ...begun,
      inbox: this.#inbox,
      now,
      parent: meta.id,
      readRun: (id) => writer.readRun(id),
      hasPivot: (run) => writer.hasPivot(run),
    });
    this.#alarm = new Alarm(clock, () => this.#readiness.ring());
    onOperation?.('walk');
    if (journal.length === 0) this.#journal.append('run-started', runPlace, JSON.stringify({ hash: meta.hash }));
  }

  run(place: Place, attempt: Attempt, call: AttemptCall): BegunHandle<AttemptOutcome> {
    this.#begin('run', place);
    return this.#attempts.begin(place, attempt, call);
  }

  record(
    kind: RecordKind,
    place: Place,
    compute: () => Recorded | Promise<Recorded>,
  ): Handle<Recorded> | Promise<Handle<Recorded>> {
    this.#begin(kind, place);
    return this.#records.record(kind, place, compute);
  }

  sleep(place: Place, until: number, why: SleepReason): Handle<SleepOutcome> {
    this.#begin('sleep', place);
    return this.#sleeps.begin(place, until, why);
  }

  signal(place: Place, gate: Gate): Handle<SignalOutcome> {
    this.#begin('signal', place);
    return this.#gates.begin(place, gate);
  }

  child(place: Place, start: ChildStart): ChildHandle {
    this.#begin('child', place);
    return this.#children.begin(place, start);
  }

  pivot(place: Place): Handle<PivotOutcome> {
    this.#begin('pivot', place);
    const handle = new JournalHandle<PivotOutcome>();
    const reached = this.#journal.take('pivot', place);
    if (reached === undefined) this.#pivots.set(handle, place);
    else handle.settle(reached.seq, () => 'reached');
    return handle;
  }

  cancellation(): Handle<Cancellation> {
    const requested = this.#journal.take('cancel-requested', runPlace);
    if (requested !== undefined) {
      this.#cancellation.settle(requested.seq, () => JSON.parse(requested.payload ?? '{}') as Cancellation);
    }
    return this.#cancellation;
  }

  cancel(handles: readonly Handle<unknown>[], cause: string): void {
    const compensate = !this.#cancellation.ready || this.#cancellation.outcome.compensate;
    for (const handle of handles) {
      void (
        this.#attempts.cancel(handle, cause, this.#lastAbortSeq) ||
        this.#sleeps.abort(handle, this.#lastAbortSeq) ||
        this.#gates.abort(handle, this.#lastAbortSeq) ||
        this.#children.cancel(handle, cause, compensate, this.#lastAbortSeq) ||
        this.#abortPivot(handle)
      );
    }
  }

  note({ kind, place, payload }: Note): void {
    this.#begin(kind, place);
    const known = this.#journal.take(kind, place);
    const seq = known?.seq ?? this.#journal.append(kind, place, payload === undefined ? null : JSON.stringify(payload));
    if (kind === 'scope-aborted') this.#lastAbortSeq = seq;
    if (kind === 'unwind-ended') this.#unwindEnded(payload, known === undefined);
  }

  async select(handles: ReadonlySet<Handle<unknown>>, added: readonly Handle<unknown>[]): Promise<Handle<unknown>> {
    this.#readiness.watch(added);
    for (;;) {
      this.#throwIfFaulty();
      const ready = this.#readiness.take(handles);
      if (ready !== undefined) return ready;
      const due = this.#due();
      // Before a timer fires it is certain that nothing came before it which somebody waits for.
      if (due !== undefined && this.waitsForOthers) this.#inbox.markStale();
      if (this.#mayTakeMessages && (await this.#takeMessage(due?.at))) continue;
      if (this.#readiness.hasRung()) continue;
      if (due !== undefined) await this.#fire(due);
      else if (!this.#reachPivots() && (await this.#standstill())) await this.#readiness.nextEvent();
    }
  }

  relieve(): Promise<void> | undefined {
    if (!this.#journal.isLarge) return undefined;
    return this.#commitUnit().then(() => this.#throwIfFaulty());
  }

  async conclude(outcome: RunOutcome, { owed, lastIfCompleted }: Ahead): Promise<Handle<Conclusion>> {
    this.#begin('conclude', runPlace);
    const handle = new JournalHandle<Conclusion>(true);
    const recorded = this.#journal.take('run-outcome', runPlace);
    if (recorded !== undefined) {
      const conclusion = readConclusion(recorded.payload ?? '{}');
      this.#stand(conclusion, owed);
      handle.settle(recorded.seq, () => conclusion);
      return handle;
    }
    for (;;) {
      await this.#inbox.refresh();
      const conclusion = this.#standing(outcome);
      const { status } = conclusion.outcome;
      const undoes = status !== 'completed' && conclusion.unwind && owed;
      const last = status === 'completed' && lastIfCompleted;
      this.#journal.append('run-outcome', runPlace, conclusionPayload(conclusion));
      if (last) this.#journal.append('run-ended', runPlace, JSON.stringify({ status }));
      const transition = last
        ? endTransition({ outcome: conclusion.outcome, unwound: undefined }, this.#clock.now())
        : outcomeTransition(conclusion.outcome, undoes);
      if (last) this.#tellParent(conclusion.outcome, null, false);
      if (await this.#commitSettled(transition, last ? 2 : 1, last && this.#parent !== null ? 1 : 0)) {
        this.#stand(conclusion, owed);
        this.#ended = last;
        handle.settle(this.#journal.lastSeq, () => conclusion);
        return handle;
      }
    }
  }

  operator(place: Place, error: RunError | undefined): Handle<OperatorVerdict> {
    this.#begin('operator', place);
    return this.#operators.begin(place, error, () => {
      // A parent need not wait for an operator of its child: it learns of the failure at once.
      const status = 'compensation-stuck';
      this.#postToParent({ status, output: null, error: this.#failure, rollbackStatus: 'stuck', pivotReached: false });
    });
  }

  unwindChild(place: Place, runId: string, how: 'unwind' | OperatorVerdict): Handle<ChildUnwound> {
    this.#begin(`unwind-child ${how}`, place);
    return this.#children.unwind(place, runId, how);
  }

  /** Writes the end of the run, in one unit with what led to it. */
  async end(end: RunEnd): Promise<void> {
    this.#throwIfFaulty();
    if (this.#ended) return;
    const { outcome, unwound, pivotReached } = end;
    const keptBy = unwound?.keptBy ?? [];
    const payload = { status: outcome.status, ...(keptBy.length > 0 && { keptBy: [...keptBy] }) };
    for (;;) {
      this.#journal.append('run-ended', runPlace, JSON.stringify(payload));
      this.#tellParent(outcome, unwound?.status ?? null, pivotReached);
      if (await this.#commitSettled(endTransition(end, this.#clock.now()), 1, this.#parent === null ? 0 : 1)) return;
      await this.#inbox.refresh();
    }
  }

  /** A run that was cancelled before its first entry ends at once. Answers whether that is so. */
  async endIfNotBegun(): Promise<boolean> {
    await this.#inbox.refresh();
    if (this.#journal.lastSeq > 1 || !this.#takeCancellation()) return false;
    const { outcome } = this.#standing({ status: 'completed', output: undefined });
    this.#journal.append('run-outcome', runPlace, conclusionPayload({ outcome, unwind: false }));
    await this.end({ outcome, unwound: { status: 'not-applicable', keptBy: [] }, pivotReached: false });
    return true;
  }

  /** There may be something new in the run's inbox. */
  inboxChanged(): void {
    this.#inbox.markStale();
    this.#readiness.ring();
  }

  /** Begins nothing more; the walk is suspended as soon as no handler runs. */
  stop(): void {
    this.#stopping = true;
    this.#readiness.ring();
  }

  /** Tells the running handlers that the engine goes down; how they end is still written. */
  abortRunning(cause: string): void {
    this.#attempts.abortAll(cause);
  }

  /** Throws the walk away: the run is no longer this engine's, or the storage is gone. */
  fence(error: unknown): void {
    this.#fault ??= { error };
    this.#attempts.abortAll('the run is no longer driven here');
    this.#attempts.close();
    this.#readiness.ring();
  }

  /** No timer of this context is left behind. */
  dispose(): void {
    this.#alarm.cancel();
    this.#attempts.close();
  }

  get handlersRunning(): boolean {
    return this.#attempts.anyInFlight;
  }

  /** The walk cannot continue before a handler ends, a timer fires or a message arrives. */
  get isAtRest(): boolean {
    return this.#readiness.isWaiting;
  }

  /** Others could move the run on while it is driven, beside cancelling it. */
  get waitsForOthers(): boolean {
    return this.#gates.any || this.#children.any || this.#operators.any;
  }

  #begin(operation: string, { step, occurrence, aspect }: Place): void {
    this.#throwIfFaulty();
    this.#onOperation?.(`${operation} ${step ?? ''}#${occurrence} ${aspect}`);
  }

  /** Most runs wait for nobody, and are sent nothing: no turn is given up for them. */
  get #mayTakeMessages(): boolean {
    return this.#inbox.mayHold || this.waitsForOthers;
  }

  /**
   * Lets the first message that somebody waits for, and that came until then, be taken; later ones have to wait until it is
   * known what follows from it. Answers whether something became ready.
   */
  async #takeMessage(until = Number.POSITIVE_INFINITY): Promise<boolean> {
    await this.#inbox.refresh();
    if (await this.#children.askForUnwinds()) return true;
    for (let offer = this.#nextOffer(until); offer !== undefined; offer = this.#nextOffer(until)) {
      if (await offer.take()) return true;
    }
    return false;
  }

  #nextOffer(until: number): Offer | undefined {
    const cancellation = this.#cancellationMessage(until);
    const offers = [
      cancellation && { message: cancellation, take: () => this.#takeCancellation() },
      this.#operators.next(until),
      this.#children.next(until),
      this.#gates.next(until),
    ];
    let first: Offer | undefined;
    for (const offer of offers) {
      if (offer !== undefined && (first === undefined || offer.message.seq < first.message.seq)) first = offer;
    }
    return first;
  }

  /** One that still has a say: neither does the outcome stand yet, nor has the time of the run been up before. */
  #cancellationMessage(until?: number): InboxMessage | undefined {
    if (this.#concluded || this.#cancellation.ready || this.#sleeps.hasRunTimedOut) return undefined;
    return this.#inbox.first({ kind: 'cancel', ...(until !== undefined && { until }) });
  }

  #takeCancellation(): boolean {
    const message = this.#cancellationMessage();
    if (message === undefined) return false;
    this.#inbox.take(message);
    const cancellation = JSON.parse(message.payload ?? '{}') as Cancellation;
    const payload = JSON.stringify({ ...cancellation, inboxSeq: message.seq });
    const seq = this.#journal.append('cancel-requested', runPlace, payload);
    this.#readiness.settle(this.#cancellation, seq, () => cancellation);
    return true;
  }

  /** The earliest timer whose time has come. */
  #due(): Due | undefined {
    const now = this.#clock.now();
    if (this.#earliest() > now) return undefined;
    return [this.#gates.due(now), this.#children.due(now), this.#sleeps.due(now)].reduce(earlierOf);
  }

  /**
   * In the order of time. That the time of a gate, a child, a block or the run is up stands only if the inbox has nothing
   * that could still be in time, so it is committed before anybody hears of it.
   */
  async #fire(due: Due): Promise<void> {
    if (due.isDeadline) {
      const seq = this.#appendFired(due);
      if (await this.#commitSettled(undefined, 1, 0)) due.settle(seq);
      return;
    }
    due.settle(this.#appendFired(due));
    // Nothing comes between those that follow, where there is nobody who could have sent anything.
    if (this.#mayTakeMessages) return;
    for (const next of this.#sleeps.dueBefore(this.#clock.now() + 1)) next.settle(this.#appendFired(next));
  }

  #appendFired({ place, why }: Due): number {
    return this.#journal.append('timer-fired', place, JSON.stringify({ why }));
  }

  /** Nothing that is due ends the scopes that they stand in. Answers whether there was one. */
  #reachPivots(): boolean {
    if (this.#pivots.size === 0) return false;
    for (const [handle, place] of this.#pivots) {
      this.#readiness.settle(handle, this.#journal.append('pivot', place, null), () => 'reached');
    }
    this.#pivots.clear();
    return true;
  }

  #abortPivot(handle: Handle<unknown>): boolean {
    if (!(handle instanceof JournalHandle) || !this.#pivots.delete(handle)) return false;
    this.#readiness.settle(handle, this.#lastAbortSeq, () => 'aborted');
    return true;
  }

  /**
   * Nothing can run: what has happened is committed, and the run suspended if no handler runs or is to
   * run. Answers whether there is something to wait for.
   */
  async #standstill(): Promise<boolean> {
    if (!this.#stopping) this.#beginnings.begin(() => this.#journal.isLarge);
    const idle = !this.#attempts.anyInFlight && (this.#stopping || !this.#attempts.anyToCall);
    if (!idle) {
      if (this.#beginnings.any && !this.#stopping) {
        // More than one unit holds: what becomes due meanwhile is decided before the next ones begin.
        await this.#commitUnit();
        return false;
      }
      if (!this.#journal.isEmpty) void this.#commitUnit();
      this.#alarm.set(this.#earliest());
      return true;
    }
    if (this.#stopping) {
      await this.#commitUnit();
      // Starts that are written down but not called are made again by whoever drives the run next.
      this.fence(new WalkSuspended('stopped'));
    } else if (await this.#commitSettled(this.#parkTransition(), 0, 0)) {
      this.fence(new WalkSuspended('parked'));
    }
    return false;
  }

  #parkTransition(): Transition {
    const earliest = this.#earliest();
    const dueAt = earliest === Number.POSITIVE_INFINITY ? null : earliest;
    if (this.#operators.any) {
      return { kind: 'park', status: 'compensation-stuck', dueAt, rollbackStatus: 'stuck' };
    }
    if (this.#unwinding || this.meta.reopened) {
      return { kind: 'park', status: 'compensating', dueAt, rollbackStatus: 'owed' };
    }
    const rollback = this.#rollbackStatus === undefined ? {} : { rollbackStatus: this.#rollbackStatus };
    if (this.#gates.any || this.#children.any) return { kind: 'park', status: 'waiting', dueAt, ...rollback };
    if (dueAt === null) throw new Error('fault in the interpreter: a run that waits for nothing');
    return { kind: 'park', status: this.#sleeps.backsOff ? 'retrying' : 'sleeping', dueAt, ...rollback };
  }

  #earliest(): number {
    return Math.min(this.#sleeps.earliest, this.#gates.earliest, this.#children.earliest);
  }

  /** The given outcome, unless somebody's cancellation came first. */
  #standing(outcome: RunOutcome): Conclusion {
    this.#takeCancellation();
    if (!this.#cancellation.ready) return { outcome, unwind: true };
    const { compensate, reason } = this.#cancellation.outcome;
    return { outcome: { status: 'cancelled', error: cancelledError(reason) }, unwind: compensate };
  }

  /** What is left (`onFailure`, `finally`) is driven as any other steps are. */
  #unwindEnded(payload: JsonValue | undefined, isNew: boolean): void {
    this.#unwinding = false;
    const { status } = payload as { status: RollbackStatus };
    this.#rollbackStatus = status;
    if (isNew) this.#statusChange = { kind: 'status', status: 'running', rollbackStatus: status };
  }

  /** From now on this is how the run ends, whatever else happens. */
  #stand({ outcome, unwind }: Conclusion, owed: boolean): void {
    this.#concluded = true;
    this.#failure = outcome.status === 'completed' ? null : outcome.error;
    this.#unwinding = this.#failure !== null && unwind && owed;
  }

  /** In the same unit: a parent that waits for this run is woken by its end. */
  #tellParent(outcome: RunOutcome, rollbackStatus: RollbackStatus | null, pivotReached: boolean): void {
    const output = outcome.status === 'completed' ? (outcome.output?.value ?? null) : null;
    const error = outcome.status === 'completed' ? null : outcome.error;
    this.#postToParent({ status: outcome.status, output, error, rollbackStatus, pivotReached });
  }

  #postToParent(ended: ChildEnded): void {
    if (this.#parent === null) return;
    const message = { kind: 'child-ended', name: this.meta.id, payload: JSON.stringify(ended), at: this.#clock.now() };
    this.#journal.post({ runId: this.#parent, message });
  }

  /**
   * Commits what has piled up only if the inbox is as it was read. If it is not, the last entries and
   * messages (those that would have settled something) are taken back, and the inbox is to be read anew.
   */
  async #commitSettled(transition: Transition | undefined, entries: number, posts: number): Promise<boolean> {
    this.#attempts.hold();
    const unit = this.#journal.takeUnit();
    const toCall = this.#attempts.takeToCall();
    try {
      if (await this.#writer.commit(unit, transition, this.#inbox.seen)) {
        await this.#call(toCall);
        return true;
      }
      this.#journal.putBack(unit, entries, posts);
      this.#attempts.putBack(toCall);
      this.#inbox.markStale();
      return false;
    } catch (error) {
      this.fence(error);
      throw error;
    } finally {
      this.#attempts.release();
    }
  }

  /** Commits what has piled up, then calls what it begins. Never rejects: a failure fences the walk. */
  async #commitUnit(): Promise<void> {
    const unit = this.#journal.takeUnit();
    const toCall = this.#attempts.takeToCall();
    try {
      const change = this.#statusChange;
      this.#statusChange = undefined;
      await this.#writer.commit(unit, change);
      await this.#call(toCall);
    } catch (error) {
      this.fence(error);
    }
  }

  /** What begins these attempts is durable. */
  async #call(toCall: readonly OpenAttempt[]): Promise<void> {
    if (toCall.length > 0 && !this.#stopping) {
      const secured = this.#writer.secureLease();
      if (secured !== undefined) await secured;
    }
    if (this.#fault !== undefined || this.#stopping) this.#attempts.forget(toCall);
    else this.#attempts.callNow(toCall, (error) => this.fence(error));
  }

  #throwIfFaulty(): void {
    if (this.#fault !== undefined) throw this.#fault.error;
  }
}
