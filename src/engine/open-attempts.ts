import type { Clock, Timer } from '../common/index.js';
import {
  type Attempt,
  AttemptAbort,
  type AttemptCall,
  type AttemptOutcome,
  type BegunHandle,
  type Handle,
  type Place,
  languageError,
} from '../interpreter/index.js';
import type { Beginnings } from './beginnings.js';
import { type EntryKind, errorPayload, readTakenOver, readValue, stepStartedPayload, valuePayload } from './entries.js';
import type { JournalRow } from '../storage/index.js';
import type { Journal } from './journal.js';
import { JournalBegunHandle, type JournalHandle } from './journal-handle.js';
import type { Readiness } from './readiness.js';

export interface AttemptsOptions {
  readonly journal: Journal;
  readonly readiness: Readiness;
  readonly beginnings: Beginnings;
  readonly clock: Clock;
  readonly abortGraceMs: number;
  /** What was under way when the run was interrupted fails, instead of being begun again. */
  readonly givenUp: boolean;
  /** `seq` of starts in the run that this one goes on with, which nothing has begun anew yet. */
  readonly takenOver: ReadonlySet<number>;
}

export interface OpenAttempt {
  readonly place: Place;
  readonly handle: JournalBegunHandle<AttemptOutcome>;
  readonly call: AttemptCall;
  readonly attempt: Attempt;
  /** In an earlier life of the run: what came of it is unknown. */
  readonly begunBefore: boolean;
  /** Nor was it cut short: it ended in the run that this one goes on with, and is done anew. */
  readonly isTakenOver: boolean;
  readonly abort: AttemptAbort;
  /** The handler was called in this life. */
  called: boolean;
  /** It was told to end because the engine does: what it throws now is no failure of its own. */
  stopped: boolean;
  /** Its scope was aborted: what it fails with from then on. */
  cancelled: CancelledOutcome | undefined;
  grace: Timer | undefined;
}

type CancelledOutcome = AttemptOutcome & { readonly ok: false };

/** The words of the journal for an attempt of a step, and for one of its reversal. */
const kinds = {
  forward: { started: 'step-started', completed: 'step-completed', failed: 'step-failed' },
  compensate: {
    started: 'compensation-started',
    completed: 'compensation-completed',
    failed: 'compensation-failed',
  },
} as const satisfies Record<Attempt['direction'], Record<string, EntryKind>>;

/**
 * The calls of handlers: begun by an entry, made once that is committed, ended by another one. The
 * first end counts; what a handler still brings that was given up comes too late.
 */
export class OpenAttempts {
  readonly #journal: Journal;
  readonly #readiness: Readiness;
  readonly #beginnings: Beginnings;
  readonly #clock: Clock;
  readonly #abortGraceMs: number;
  readonly #open = new Map<Handle<unknown>, OpenAttempt>();
  /** Begun in the unit that is not taken yet. */
  #toCall: OpenAttempt[] = [];
  /** Between the commit of their unit and their end. */
  readonly #inFlight = new Set<OpenAttempt>();
  /** Ends that arrived while nothing may be appended. */
  #held: (() => void)[] | undefined;
  readonly #givenUp: boolean;
  readonly #takenOver: ReadonlySet<number>;
  #closed = false;

  constructor({ journal, readiness, beginnings, clock, abortGraceMs, givenUp, takenOver }: AttemptsOptions) {
    this.#journal = journal;
    this.#readiness = readiness;
    this.#beginnings = beginnings;
    this.#clock = clock;
    this.#abortGraceMs = abortGraceMs;
    this.#givenUp = givenUp;
    this.#takenOver = takenOver;
  }

  begin(place: Place, attempt: Attempt, call: AttemptCall): BegunHandle<AttemptOutcome> {
    const kind = kinds[attempt.direction];
    const started = this.#journal.take(kind.started, place);
    const completed = this.#journal.take(kind.completed, place);
    const failed = this.#journal.take(kind.failed, place);
    const handle = new JournalBegunHandle<AttemptOutcome>();
    if (started !== undefined) handle.begin(started.seq);
    if (completed !== undefined) {
      handle.settle(completed.seq, () => ({ ok: true, value: readValue(completed.payload ?? '{}') }));
      return handle;
    }
    if (failed !== undefined) {
      handle.settle(failed.seq, () => readFailure(failed.payload ?? ''));
      return handle;
    }
    const begunBefore = started !== undefined;
    if (begunBefore && this.#givenUp) return this.#giveUp(place, attempt, handle);
    const abort = new AttemptAbort();
    const state = { called: false, stopped: false, cancelled: undefined, grace: undefined };
    const isTakenOver = started !== undefined && this.#takenOver.has(started.seq);
    const open: OpenAttempt = { place, handle, call, attempt, begunBefore, isTakenOver, abort, ...state };
    this.#open.set(handle, open);
    this.#beginnings.add(handle, () => this.#begin(open));
    return handle;
  }

  /** Those that the unit begins that is being taken; they are in flight from now on. */
  takeToCall(): readonly OpenAttempt[] {
    const attempts = this.#toCall;
    this.#toCall = [];
    for (const attempt of attempts) this.#inFlight.add(attempt);
    return attempts;
  }

  /** Their unit was refused: they are to be called once it is committed. */
  putBack(attempts: readonly OpenAttempt[]): void {
    for (const attempt of attempts) this.#inFlight.delete(attempt);
    this.#toCall = [...attempts, ...this.#toCall];
  }

  /** Their unit is durable. @param onFault told where a call broke its promise never to throw */
  callNow(attempts: readonly OpenAttempt[], onFault: (error: unknown) => void): void {
    for (const open of attempts) {
      // Its scope was aborted while the unit that begins it was being committed.
      if (open.cancelled !== undefined) {
        this.#finish(open, open.cancelled);
        continue;
      }
      open.called = true;
      open.call(open.abort).then((outcome) => this.#finish(open, outcome), onFault);
    }
  }

  /** Written down as begun, but not called: whoever drives the run next does it. */
  forget(attempts: readonly OpenAttempt[]): void {
    for (const attempt of attempts) this.#inFlight.delete(attempt);
    this.#readiness.ring();
  }

  /** A handler that runs is told, and awaited for the grace period; one that was not called yet never is. */
  cancel(handle: Handle<unknown>, cause: string, abortSeq: number): boolean {
    const open = this.#open.get(handle);
    if (open === undefined) return false;
    const hasNotBegun = this.#beginnings.withdraw(handle);
    const cancelled: CancelledOutcome = {
      ok: false,
      error: languageError('Cancelled', `${open.place.step} was ended: ${cause}`, {
        step: open.place.step,
        attempt: open.attempt.number,
      }),
      effect: open.called || open.begunBefore ? 'unknown' : 'none',
    };
    if (hasNotBegun && !open.begunBefore) {
      // Nothing of it is in the journal: the abort alone says so, also when it is read again.
      this.#open.delete(handle);
      this.#readiness.settle(open.handle, abortSeq, () => cancelled);
    } else if (open.called) {
      open.cancelled = cancelled;
      open.abort.abort(new Error(cause));
      open.grace ??= this.#clock.setTimer(this.#abortGraceMs, () => this.#finish(open, cancelled));
    } else if (this.#inFlight.has(open)) {
      open.cancelled = cancelled;
    } else {
      this.#toCall = this.#toCall.filter((other) => other !== open);
      this.#finish(open, cancelled);
    }
    return true;
  }

  /** Ends that arrive are kept back until `release`: what is being committed may yet be refused. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const finish of held) finish();
  }

  /** The engine ends. What fails from now on was cut short, and is begun again by whoever drives the run next. */
  abortAll(cause: string): void {
    for (const open of this.#open.values()) {
      open.stopped = true;
      open.abort.abort(new Error(cause));
    }
  }

  /** Nothing is appended any more, whatever the handlers still bring. */
  close(): void {
    this.#closed = true;
    for (const { grace } of this.#open.values()) grace?.cancel();
  }

  get anyInFlight(): boolean {
    return this.#inFlight.size > 0;
  }

  get anyToCall(): boolean {
    return this.#toCall.length > 0;
  }

  /** Every process that called it died of it, or beside it. */
  #giveUp<H extends JournalHandle<AttemptOutcome>>(place: Place, { direction, number }: Attempt, handle: H): H {
    const message = `${place.step} was interrupted again and again while it ran; its process died or lost its lease`;
    const error = languageError('Interrupted', message, { step: place.step, attempt: number });
    const outcome = { ok: false, error, final: true, effect: 'unknown' } as const;
    const seq = this.#journal.append(kinds[direction].failed, place, failurePayload(outcome));
    this.#readiness.settle(handle, seq, () => outcome);
    return handle;
  }

  #begin(open: OpenAttempt): void {
    const { place, handle, attempt, begunBefore } = open;
    const seq = this.#journal.append(kinds[attempt.direction].started, place, startedPayload(attempt, open));
    if (!begunBefore) handle.begin(seq);
    this.#toCall.push(open);
  }

  #finish(open: OpenAttempt, outcome: AttemptOutcome): void {
    if (this.#closed) return;
    if (this.#held !== undefined) {
      this.#held.push(() => this.#finish(open, outcome));
      return;
    }
    open.grace?.cancel();
    if (!this.#open.delete(open.handle)) return;
    this.#inFlight.delete(open);
    if (open.stopped && !outcome.ok) return this.#readiness.ring();
    const settled = knownEffect(open, open.cancelled === undefined ? outcome : cutShort(open.cancelled, outcome));
    const kind = kinds[open.attempt.direction];
    const seq = settled.ok
      ? this.#journal.append(kind.completed, open.place, valuePayload(settled.value))
      : this.#journal.append(kind.failed, open.place, failurePayload(settled));
    this.#readiness.settle(open.handle, seq, () => settled);
  }
}

function startedPayload(
  { idempotencyKey, owed, number, input, secrets }: Attempt,
  { begunBefore, isTakenOver }: Pick<OpenAttempt, 'begunBefore' | 'isTakenOver'>,
): string {
  if (begunBefore) {
    return stepStartedPayload(
      { idempotencyKey, owed, ...(isTakenOver ? { resumed: true } : { restart: true }) },
      undefined,
    );
  }
  if (number > 1 || secrets.length === 0) {
    return stepStartedPayload({ idempotencyKey, owed }, number === 1 ? input : undefined);
  }
  return stepStartedPayload({ idempotencyKey, owed, secrets }, input);
}

/**
 * Whatever a call fails with once its scope has ended, it was cut short; what its handler has thrown is the cause. That it
 * knows to have done nothing still counts.
 */
function cutShort(cancelled: CancelledOutcome, outcome: AttemptOutcome): AttemptOutcome {
  if (outcome.ok || outcome === cancelled) return outcome;
  const { name, message, code, cause } = outcome.error;
  const thrown = { name, message, ...(code !== undefined && { code }), ...(cause !== undefined && { cause }) };
  const error = { ...cancelled.error, cause: thrown };
  return { ...cancelled, error, ...(outcome.effect === 'none' && { effect: 'none' }) };
}

/** A call that certainly did nothing proves nothing about the one that was cut short before it. */
function knownEffect(open: OpenAttempt, outcome: AttemptOutcome): AttemptOutcome {
  return !outcome.ok && outcome.effect === 'none' && open.begunBefore ? { ...outcome, effect: 'unknown' } : outcome;
}

function failurePayload({ error, final, effect }: AttemptOutcome & { ok: false }): string {
  return errorPayload(error, { ...(final && { final }), ...(effect !== undefined && { effect }) });
}

function readFailure(payload: string): AttemptOutcome {
  return { ok: false, ...(JSON.parse(payload) as Omit<AttemptOutcome & { ok: false }, 'ok'>) };
}

export function startsTakenOver(journal: readonly JournalRow[]): ReadonlySet<number> {
  const last = readTakenOver(journal)?.entries ?? 0;
  if (last === 0) return new Set();
  const starts = new Map<string, number>();
  for (const { seq, kind, step, occurrence, aspect } of journal) {
    if (kind !== 'step-started') continue;
    const place = JSON.stringify([step, occurrence, aspect]);
    if (seq <= last) starts.set(place, seq);
    else starts.delete(place);
  }
  return new Set(starts.values());
}
