import type { JsonObject, JsonText, JsonValue } from '../common/index.js';
import type { SecretReference } from '../definition/index.js';
import type { AttemptAbort } from './attempt-abort.js';
import type { RunError } from './run-error.js';

/**
 * The port between the walk of a flow and what makes it durable. The interpreter knows no database
 * and no server; a home (the journal of `engine/`, Restate) implements these few operations, and a
 * flow means the same in all of them.
 *
 * Each operation starts at once. Waiting happens in `select` alone, so that the order of operations
 * is a function of definition and journal, and a replay meets the same handles in the same order.
 */
export interface DurableContext {
  readonly meta: RunMeta;

  /**
   * One attempt of a handler. Journaled once; `call` may be made again only while no outcome is
   * journaled. `call` never throws: what the handler threw is in its outcome. It begins once all that is due has been
   * decided: where that ends its scope, it never begins.
   */
  run(place: Place, attempt: Attempt, call: AttemptCall): BegunHandle<AttemptOutcome>;

  /** A value computed once: decision, resolved input, wake time. Replay reads it back. */
  record(
    kind: RecordKind,
    place: Place,
    compute: () => Recorded | Promise<Recorded>,
  ): Handle<Recorded> | Promise<Handle<Recorded>>;

  /** A durable timer, due at an epoch time in milliseconds. */
  sleep(place: Place, until: number, why: SleepReason): Handle<SleepOutcome>;

  /**
   * The next message of this name in the run's mailbox that fits, or "not in time": one of the two, atomically. A message
   * that came after the deadline never fits, whoever looks, however late.
   */
  signal(place: Place, gate: Gate): Handle<SignalOutcome>;

  /** Starts a child run, or adopts the one that was started here before; its end. */
  child(place: Place, child: ChildStart): ChildHandle;

  /** The point of no return; not reached where something that was due before ends the scope around it. */
  pivot(place: Place): Handle<PivotOutcome>;

  /** Somebody wants the run cancelled. Asked for once, by the run's root. */
  cancellation(): Handle<Cancellation>;

  /**
   * Settles how the run ends, atomically with what others want of it: the outcome that stands is the given one, or
   * `cancelled` where a cancellation came first. From then on the run cannot be cancelled.
   */
  conclude(outcome: RunOutcome, ahead: Ahead): Promise<Handle<Conclusion>>;

  /** What an operator says to do about an unwind that is stuck; the run waits for it without limit. */
  operator(place: Place, error: RunError | undefined): Handle<OperatorVerdict>;

  /**
   * Has a completed child unwound (or a running one cancelled, which unwinds it), or passes on to one that is stuck
   * what an operator said; how that came out.
   */
  unwindChild(place: Place, runId: string, how: 'unwind' | OperatorVerdict): Handle<ChildUnwound>;

  /**
   * Ends what is open under these handles, each of which becomes ready: as aborted, or with the
   * outcome it still came to, at the latest after the abort grace period.
   */
  cancel(handles: readonly Handle<unknown>[], cause: string): void;

  /** A fact for the journal, at most once for its kind and place. */
  note(entry: Note): void;

  /**
   * The only way to wait: which of the handles is ready first. The same answer on every replay.
   * `added` are those that were not among `handles` at the last call.
   */
  select(handles: ReadonlySet<Handle<unknown>>, added: readonly Handle<unknown>[]): Promise<Handle<unknown>>;

  /** Called between the turns of two coroutines: a home may write down here what has piled up. */
  relieve?(): Promise<void> | undefined;
}

export interface RunMeta {
  readonly id: string;
  readonly key: string | null;
  readonly workflow: string;
  readonly revision: number;
  readonly hash: string;
  readonly startedAt: number;
  readonly input: JsonObject;
  /** Begins the idempotency keys: the id of the run, or of the first of those that it goes on with. */
  readonly keyPrefix: string;
  /**
   * Likewise, for error handling that was done before and taken back by a resume, by `item#occurrence`: it is done anew,
   * with other inputs, and a provider that knows the old keys would take it for the first time.
   */
  readonly handledAnew: ReadonlyMap<string, string>;
  /** A completed run that is to be unwound for its parent. */
  readonly reopened: boolean;
}

/** Where in a run something happens. Structure, never a name made up of parts that could collide. */
export interface Place {
  /** Key of the item (its id, or `mail.send@3.0`); null for the run itself. */
  readonly step: string | null;
  /** Turns of the enclosing loops, 0-based: `0` outside any, `3.1` in the second turn inside the fourth. */
  readonly occurrence: string;
  /** Which of several entries of a kind: the name of a decision, a branch, the number of an attempt. */
  readonly aspect: string;
}

/** A handle becomes ready once, and `outcome` may be read from then on. */
export interface Handle<T> {
  readonly outcome: T;
  /** Ready when it is given out, on the first walk and on every replay: waiting for it gives up no turn. */
  readonly immediate: boolean;
}

/** Of something that may have to be undone, which is done backwards in the order of `begun`. */
export interface BegunHandle<T> extends Handle<T> {
  /** Where it stands among all that was begun; undefined until it begins. */
  readonly begun: number | undefined;
}

export type RecordKind =
  /** Written as an entry of its own. */
  | 'decision'
  /** The resolved `with` of a step; a home may keep it with the attempt that follows. */
  | 'step-input'
  /** The resolved `with` of a reversal, likewise. */
  | 'compensation-input'
  /** When the next attempt is due, after this one failed. */
  | 'step-retrying';

export type Recorded =
  { readonly ok: true; readonly value: JsonText | undefined } | { readonly ok: false; readonly error: RunError };

export interface Attempt {
  /** A call of the step itself, or of what undoes it. */
  readonly direction: 'forward' | 'compensate';
  /** From 1: failed attempts + 1. A restart after an interruption repeats the number. */
  readonly number: number;
  readonly input: JsonText | undefined;
  /** Where in the input references to secrets stand; any other `$secret` in it is data. */
  readonly secrets: readonly SecretReference[];
  readonly idempotencyKey: string;
  /** Whether a reversal is owed once this has started. */
  readonly owed: boolean;
}

/** `abort` ends the call early: the home uses it when the scope of the step is aborted, the call itself at its time-out. */
export type AttemptCall = (abort: AttemptAbort) => Promise<AttemptOutcome>;

export type AttemptOutcome =
  | { readonly ok: true; readonly value: JsonText | undefined }
  | {
      readonly ok: false;
      readonly error: RunError;
      /** Never to be retried, whatever the policy says. */
      readonly final?: boolean;
      /** `none`: certainly no effect, nothing is owed. `unknown`: cut short. Default `failed`. */
      readonly effect?: 'none' | 'failed' | 'unknown';
    };

export type PivotOutcome = 'reached' | 'aborted';

export type SleepReason = 'sleep' | 'back-off' | 'reminder' | 'timeout' | 'run-deadline';
export type SleepOutcome = 'fired' | 'aborted';

export interface Gate {
  readonly name: string;
  /** Epoch milliseconds; undefined is never. */
  readonly deadline: number | undefined;
  /** Whether a message fits; never rejects. A filter that fails is no fit, and its error is kept. */
  readonly accept: (payload: JsonValue) => Promise<{ readonly fits: boolean; readonly error?: RunError }>;
}

export type SignalOutcome =
  | { readonly kind: 'received'; readonly payload: JsonText }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' };

export interface ChildStart {
  readonly workflow: string;
  readonly revision: number;
  readonly hash: string;
  readonly input: JsonText;
  /** From the creation of the child; undefined is never. */
  readonly timeoutMs: number | undefined;
}

export interface ChildHandle extends BegunHandle<ChildOutcome> {
  /** Id of the child run, known from its start. */
  readonly run: string;
}

export type ChildOutcome =
  | { readonly kind: 'completed'; readonly run: string; readonly output: JsonText | undefined }
  /** Also where it was cancelled, or became stuck in its unwind. */
  | { readonly kind: 'failed'; readonly run: string; readonly error: RunError }
  /** `isToEnd`: the child is to be ended and undone now; it goes on by itself where an earlier version decided so. */
  | { readonly kind: 'timeout'; readonly run: string; readonly isToEnd: boolean }
  | { readonly kind: 'aborted' };

export interface Cancellation {
  readonly compensate: boolean;
  readonly reason: string | null;
}

export type RunOutcome =
  | { readonly status: 'completed'; readonly output: JsonText | undefined }
  | {
      readonly status: 'failed';
      readonly error: RunError;
      /** What has failed of itself and was handled by nothing around it. */
      readonly origins: readonly Place[];
    }
  | { readonly status: 'cancelled'; readonly error: RunError };

/** What comes after an outcome, given that it stands. */
export interface Ahead {
  /** Something is owed, and would be undone unless the run has completed. */
  readonly owed: boolean;
  /** Nothing comes after a completed body: a home may end the run in one with its outcome. */
  readonly lastIfCompleted: boolean;
}

export interface Conclusion {
  readonly outcome: RunOutcome;
  /** Whether what is owed is to be undone; false where the run was cancelled without compensation. */
  readonly unwind: boolean;
}

export type OperatorVerdict = 'resume' | 'abandon';

/**
 * How the unwind of a child came out. `not-applicable`: it owed nothing. `kept`: nothing of it can be undone (a pivot,
 * an abandoned unwind).
 */
export type ChildUnwound = 'undone' | 'not-applicable' | 'kept' | 'stuck';

export interface Note {
  readonly kind:
    'step-skipped' | 'scope-ended' | 'scope-aborted' | 'compensation-skipped' | 'unwind-ended' | 'body-failed';
  readonly place: Place;
  readonly payload?: JsonValue;
}
