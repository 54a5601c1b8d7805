import { JsonText, type JsonValue } from '../common/index.js';
import {
  type Conclusion,
  type Place,
  type RunEnd,
  type RunError,
  type RunOutcome,
  cancelledError,
} from '../interpreter/index.js';
import type { Transition } from '../storage/index.js';
import { errorPayload, valuePayload } from './entries.js';

/** How the settled outcome of a run stands in its journal (`run-outcome`) and in its row. */

export function conclusionPayload({ outcome, unwind }: Conclusion): string {
  const what = outcome.status === 'completed' ? valuePayload(outcome.output) : errorPayload(outcome.error);
  const origins = outcome.status === 'failed' ? { origins: outcome.origins } : {};
  const rest = JSON.stringify({ status: outcome.status, unwind, ...origins });
  return what === '{}' ? rest : `${what.slice(0, -1)},${rest.slice(1)}`;
}

export function readConclusion(payload: string): Conclusion {
  const { status, unwind, value, error, origins } = JSON.parse(payload) as {
    status: RunOutcome['status'];
    unwind: boolean;
    value?: JsonValue;
    error?: RunError;
    origins?: readonly Place[];
  };
  switch (status) {
    case 'completed': {
      const output = value === undefined ? undefined : new JsonText(() => JSON.stringify(value));
      return { outcome: { status, output }, unwind };
    }
    case 'failed':
      return { outcome: { status, error: error ?? cancelledError(null), origins: origins ?? [] }, unwind };
    case 'cancelled':
      return { outcome: { status, error: error ?? cancelledError(null) }, unwind };
  }
}

/** From here on the row says why the run fails, however long its unwind takes. */
export function outcomeTransition(outcome: RunOutcome, undoes: boolean): Transition | undefined {
  if (outcome.status === 'completed') return undefined;
  const error = JSON.stringify(outcome.error);
  return undoes
    ? { kind: 'status', status: 'compensating', rollbackStatus: 'owed', error }
    : { kind: 'status', status: 'running', error };
}

export function endTransition({ outcome, unwound }: Omit<RunEnd, 'pivotReached'>, endedAt: number): Transition {
  return {
    kind: 'end',
    status: outcome.status,
    output: outcome.status === 'completed' ? (outcome.output?.text ?? null) : null,
    error: outcome.status === 'completed' ? null : JSON.stringify(outcome.error),
    rollbackStatus: unwound?.status ?? null,
    endedAt,
  };
}
