import type { DescribedError, JsonObject, JsonValue } from '../common/index.js';
import type { WorkflowDocument } from '../definition/index.js';
import type { RunStatus } from '../storage/index.js';
import type { BlockHistory } from './block-history.js';
import type { Run } from './run.js';

/** What the journal tells of a run. Times are epoch milliseconds. */
export interface RunHistory {
  readonly run: Run;
  /** An engine holds it until then, unless it dies before. */
  readonly drivenUntil: number | null;
  /** What it is a run of; null where that is not stored. */
  readonly document: WorkflowDocument | null;
  /** In the order in which they began. */
  readonly steps: readonly StepHistory[];
  /** In the order in which they were reached. */
  readonly blocks: readonly BlockHistory[];
  /** What the unwind has undone or will undo, in this order; empty where nothing is. */
  readonly reversals: readonly ReversalHistory[];
  /** It has failed, and `resume` would go on with it as a new run. */
  readonly resumable: boolean;
  /** What somebody has told it, and nobody who drives it has obeyed yet. */
  readonly order: RunOrder | null;
}

/** To end; about an unwind that is stuck, to try again or to leave the rest as it is. */
export type RunOrder = 'cancel' | 'resume' | 'abandon';

/** An item of the flow in one turn of its loops, if it is one that takes time or was skipped. */
export type StepHistory = CallHistory | SleepHistory | GateHistory | ChildHistory | SkippedHistory;

export interface Begun {
  /** Key of the item. */
  readonly step: string;
  readonly occurrence: string;
  readonly startedAt: number;
  readonly endedAt?: number;
}

export interface HistoryError extends DescribedError {
  readonly attempt: number | null;
}

/** How the calls of one handler went. */
export interface Calls {
  /** Attempts begun; one that a crash cut short and that was repeated counts once. */
  readonly attempts: number;
  /** How often an attempt was repeated because the process died. */
  readonly interruptions: number;
  readonly input?: JsonValue;
  readonly output?: JsonValue;
  /** The last one, which a later attempt may have overcome. */
  readonly error?: HistoryError;
  /** When the next attempt is due, while `retrying`. */
  readonly dueAt?: number;
}

export interface CallHistory extends Begun, Calls {
  readonly kind: 'step';
  readonly state: 'running' | 'retrying' | 'completed' | 'failed';
}

export interface SleepHistory extends Begun {
  readonly kind: 'sleep';
  /** `aborted`: something around it ended first. */
  readonly state: 'sleeping' | 'slept' | 'aborted';
  readonly dueAt: number;
}

export interface GateHistory extends Begun {
  readonly kind: 'gate';
  readonly state: 'waiting' | 'received' | 'timed-out' | 'aborted';
  readonly signal: string;
  /** Null is never. */
  readonly deadline: number | null;
  /** Of the payload, where the flow gives one. */
  readonly schema?: JsonObject;
  /** The payload that was taken. */
  readonly output?: JsonValue;
  /** Payloads that the gate's filter has turned down. */
  readonly rejected: number;
  /** A payload that might fit has arrived, and whoever drives the run next will look at it. */
  readonly arrived: boolean;
}

export interface ChildHistory extends Begun {
  readonly kind: 'child';
  /** As its parent sees it: one past its deadline has `timed-out`, and may go on by itself. */
  readonly state: 'waiting' | 'completed' | 'failed' | 'timed-out';
  /** Id of the child run. */
  readonly run: string;
  readonly workflow: string;
  /** Of the child run itself; null where it is gone. */
  readonly status: RunStatus | null;
  /** Null is never. */
  readonly deadline: number | null;
  readonly output?: JsonValue;
  readonly error?: HistoryError;
}

export interface SkippedHistory extends Begun {
  readonly kind: 'skipped';
  readonly state: 'skipped';
}

/** What is to be undone of one step in one turn, or of one child. */
export interface ReversalHistory extends Omit<Begun, 'startedAt'>, Calls {
  /** Absent until it has begun. */
  readonly startedAt?: number;
  /** `kept`: the child could not be undone (a pivot, an abandoned unwind). `skipped`: `why` says so. */
  readonly state: 'owed' | 'running' | 'retrying' | 'undone' | 'stuck' | 'skipped' | 'kept';
  /** The handler that undoes the step; null for a child, which undoes itself. */
  readonly handler: string | null;
  /** Id of the child run; null for a step. */
  readonly run: string | null;
  readonly why?: string;
}
