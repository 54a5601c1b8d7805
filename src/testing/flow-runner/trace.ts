import { durationText, placeText, shortJson } from '../../common/index.js';
import type { HistoryError, ReversalHistory, RunHistory, StepHistory } from '../../engine/index.js';
import type { Observation } from './observation.js';

/** What a run did, for the report of a failed test: all times are virtual, since its start. */
export interface Trace {
  readonly status: string;
  readonly elapsedMs: number;
  readonly steps: readonly TraceStep[];
  /** What it waits for, where it has not ended. */
  readonly waitsFor: readonly string[];
}

export interface TraceStep {
  /** `charge`, `pick#2`; `undo charge` for a compensation. */
  readonly place: string;
  readonly state: string;
  /** Of a handler; 0 where there is none. */
  readonly attempts: number;
  readonly interruptions: number;
  readonly atMs: number | undefined;
  readonly tookMs: number | undefined;
  /** Why it failed, what it gave. */
  readonly detail: string;
}

export function traceOf({ run, histories, elapsedMs }: Observation): Trace {
  const startedAt = histories[0]?.run.startedAt ?? run.createdAt;
  const last = histories.at(-1);
  return {
    status: run.status,
    elapsedMs,
    steps: histories.flatMap((history, index) => stepsOf(history, startedAt, index > 0)),
    waitsFor: last === undefined || run.endedAt !== null ? [] : waitsOf(last, startedAt),
  };
}

function stepsOf({ run, steps, reversals }: RunHistory, startedAt: number, isResumed: boolean): TraceStep[] {
  // What was taken over from the run before is shown with that one.
  const own = isResumed ? steps.filter((step) => (step.endedAt ?? Infinity) >= run.createdAt) : steps;
  return [...own.map((step) => stepOf(step, startedAt)), ...reversals.map((each) => reversalOf(each, startedAt))];
}

function stepOf(step: StepHistory, startedAt: number): TraceStep {
  const { attempts = 0, interruptions = 0 } = step.kind === 'step' ? step : {};
  return {
    place: placeText(step.step, step.occurrence),
    state: step.state,
    attempts,
    interruptions,
    atMs: step.startedAt - startedAt,
    tookMs: step.endedAt === undefined || step.kind === 'skipped' ? undefined : step.endedAt - step.startedAt,
    detail: detailOf(step),
  };
}

function detailOf(step: StepHistory): string {
  switch (step.kind) {
    case 'step':
    case 'child':
      // A later attempt may have overcome an error.
      return step.error === undefined || step.state === 'completed' ? outputText(step.output) : errorText(step.error);
    case 'gate':
      return step.output === undefined ? `signal ${step.signal}` : `signal ${step.signal} ${outputText(step.output)}`;
    case 'sleep':
    case 'skipped':
      return '';
  }
}

function reversalOf(reversal: ReversalHistory, startedAt: number): TraceStep {
  const { step, occurrence, state, attempts, interruptions, error, why } = reversal;
  return {
    place: `undo ${placeText(step, occurrence)}`,
    state,
    attempts,
    interruptions,
    atMs: reversal.startedAt === undefined ? undefined : reversal.startedAt - startedAt,
    tookMs:
      reversal.startedAt === undefined || reversal.endedAt === undefined
        ? undefined
        : reversal.endedAt - reversal.startedAt,
    detail: error === undefined || state === 'undone' ? (why ?? '') : errorText(error),
  };
}

function outputText(output: Parameters<typeof shortJson>[0] | undefined): string {
  return output === undefined ? '' : `gave ${shortJson(output, 80)}`;
}

function errorText({ name, message }: HistoryError): string {
  return `${name}: ${message.replace(/\s+/g, ' ')}`;
}

function waitsOf({ steps, reversals }: RunHistory, startedAt: number): string[] {
  const since = (at: number): string => `since ${durationText(at - startedAt)}`;
  return [
    ...steps.flatMap((step) => {
      const place = placeText(step.step, step.occurrence);
      if (step.kind === 'gate' && step.state === 'waiting') {
        const until = step.deadline === null ? 'without a limit' : `until ${durationText(step.deadline - startedAt)}`;
        const rejected = step.rejected === 0 ? '' : `, ${step.rejected} turned down by its filter`;
        return [`the signal ${step.signal} (${place}), ${since(step.startedAt)}, ${until}${rejected}`];
      }
      if (step.kind === 'child' && step.state === 'waiting') {
        return [`the child ${step.workflow} (${place}), which is ${step.status ?? 'gone'}`];
      }
      return [];
    }),
    ...reversals.flatMap(({ step, occurrence, state }) =>
      state === 'stuck' ? [`an operator: ${placeText(step, occurrence)} could not be undone`] : [],
    ),
  ];
}
