import type { JsonObject, JsonText, JsonValue } from '../common/index.js';
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
   * journaled. `call` never throws: what the handler threw is in its outcome.
   */
  run(place: Place, attempt: Attempt, call: AttemptCall): Handle<AttemptOutcome>;

  /** A value computed once: decision, resolved input, wake time. Replay reads it back. */
  record(kind: RecordKind, place: Place, compute: () => Recorded | Promise<Recorded>): Promise<Handle<Recorded>>;

  /** A durable timer, due at an epoch time in milliseconds. */
  sleep(place: Place, until: number, why: SleepReason): Handle<SleepOutcome>;

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

export type RecordKind =
  /** Written as an entry of its own. */
  | 'decision'
  /** The resolved `with` of a step; a home may keep it with the attempt that follows. */
  | 'step-input'
  /** When the next attempt is due, after this one failed. */
  | 'step-retrying';

export type Recorded =
  { readonly ok: true; readonly value: JsonText | undefined } | { readonly ok: false; readonly error: RunError };

export interface Attempt {
  /** From 1: failed attempts + 1. A restart after an interruption repeats the number. */
  readonly number: number;
  readonly input: JsonText | undefined;
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

export type SleepReason = 'sleep' | 'back-off' | 'timeout' | 'run-deadline';
export type SleepOutcome = 'fired' | 'aborted';

export interface Note {
  readonly kind: 'step-skipped' | 'scope-ended' | 'scope-aborted';
  readonly place: Place;
  readonly payload?: JsonValue;
}
