import type { JsonValue } from '../common/index.js';
import type { RunStatus } from '../storage/index.js';
import type { Calls, HistoryError } from './history.js';

/** What the entries of steps and of their reversals hold, each some of it. */
export interface HistoryPayload {
  readonly restart?: boolean;
  readonly owed?: boolean;
  readonly input?: JsonValue;
  readonly value?: JsonValue;
  readonly output?: JsonValue;
  readonly error?: HistoryError | null;
  readonly effect?: 'none' | 'failed' | 'unknown';
  readonly run?: string;
  readonly workflow?: string;
  readonly deadline?: number;
  readonly status?: RunStatus;
  readonly result?: 'undone' | 'not-applicable' | 'kept' | 'stuck';
  readonly why?: string;
}

export function readPayload(payload: string | null): HistoryPayload {
  return payload === null ? {} : (JSON.parse(payload) as HistoryPayload);
}

export type Growing<T> = { -readonly [Key in keyof T]: T[Key] };

/** A handler is called, for the first time, after a failed attempt, or once more after an interruption. */
export function beginCall(calls: Growing<Calls> & { state: string }, { restart, input }: HistoryPayload): void {
  calls.state = 'running';
  delete calls.dueAt;
  if (restart === true) calls.interruptions += 1;
  else calls.attempts += 1;
  if (input !== undefined) calls.input = input;
}
