import type { DescribedError } from '../common/index.js';
import type { JournalRow, RunRecord, Transition } from '../storage/index.js';
import type { EntryKind } from './entries.js';

/** What happened in a run, told after it is durable. `seq` is its place in the run's journal. */
export interface RunEvent {
  readonly type: RunEventType;
  readonly run: string;
  readonly workflow: string;
  readonly seq: number;
  readonly at: number;
  /** Key of the item, where it is about one. */
  readonly step: string | null;
  readonly occurrence: string | null;
  readonly attempt: number | null;
  /** What failed, for `step:failed`, `step:retry` and `workflow:failed`. */
  readonly error?: DescribedError;
  /** When the next attempt is due, for `step:retry`; when the run wakes, for `workflow:sleeping` and `workflow:waiting`. */
  readonly dueAt?: number | null;
}

export type RunEventType =
  | 'workflow:started'
  | 'workflow:sleeping'
  | 'workflow:waiting'
  | 'workflow:compensating'
  | 'workflow:completed'
  | 'workflow:failed'
  | 'workflow:cancelled'
  | 'signal:received'
  | 'signal:timeout'
  | 'compensation:started'
  | 'compensation:completed'
  | 'compensation:failed'
  | 'compensation:skipped'
  | 'step:started'
  | 'step:completed'
  | 'step:failed'
  | 'step:retry'
  | 'step:skipped';

/** The events that a unit of journal entries stands for. */
export function eventsOf(
  { id: run, workflow }: Pick<RunRecord, 'id' | 'workflow'>,
  entries: readonly JournalRow[],
): RunEvent[] {
  const events: RunEvent[] = [];
  const retries = new Map(
    entries.filter(({ kind }) => kind === 'step-retrying').map((entry) => [placeKey(entry), entry]),
  );
  for (const entry of entries) {
    const event = describe(entry, retries);
    if (event === undefined) continue;
    const { seq, at, step, occurrence } = entry;
    const attempt = (step !== null && Number(/^(?:compensate\.)?(\d+)$/.exec(entry.aspect ?? '')?.[1] ?? 0)) || null;
    events.push({ run, workflow, seq, at, step, occurrence, attempt, ...event });
  }
  return events;
}

/** The event of a change of state that no entry stands for. */
export function eventOfTransition(
  { id: run, workflow }: Pick<RunRecord, 'id' | 'workflow'>,
  transition: Transition,
  seq: number,
  at: number,
): RunEvent | undefined {
  const about = { run, workflow, seq, at, step: null, occurrence: null, attempt: null };
  switch (transition.kind) {
    case 'park': {
      const { status, dueAt } = transition;
      const timed = status === 'sleeping' || status === 'retrying';
      return { ...about, type: timed ? 'workflow:sleeping' : 'workflow:waiting', dueAt };
    }
    case 'status':
      return transition.status === 'compensating' ? { ...about, type: 'workflow:compensating' } : undefined;
    case 'end':
      return undefined;
  }
}

interface Outcome {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly error?: DescribedError;
}

type Description = Pick<RunEvent, 'type' | 'error' | 'dueAt'>;

function describe(entry: JournalRow, retries: ReadonlyMap<string, JournalRow>): Description | undefined {
  switch (entry.kind as EntryKind) {
    case 'run-started':
      return { type: 'workflow:started' };
    case 'step-started':
      return { type: 'step:started' };
    case 'step-completed':
      return { type: 'step:completed' };
    case 'step-skipped':
      return { type: 'step:skipped' };
    case 'step-failed': {
      const { error } = JSON.parse(entry.payload ?? '') as { error: DescribedError };
      const retrying = retries.get(placeKey(entry));
      if (retrying === undefined) return { type: 'step:failed', error };
      const { value } = JSON.parse(retrying.payload ?? '') as { value: number };
      return { type: 'step:retry', error, dueAt: value };
    }
    case 'signal-consumed':
      return { type: 'signal:received' };
    case 'timer-fired':
      return entry.aspect === 'gate' ? { type: 'signal:timeout' } : undefined;
    case 'compensation-started':
      return { type: 'compensation:started' };
    case 'compensation-completed':
      return { type: 'compensation:completed' };
    case 'compensation-skipped':
      return { type: 'compensation:skipped' };
    case 'compensation-stuck': {
      const { error } = JSON.parse(entry.payload ?? '{}') as { error?: DescribedError };
      return { type: 'compensation:failed', ...(error && { error }) };
    }
    case 'run-outcome': {
      const { status, error } = JSON.parse(entry.payload ?? '{}') as Outcome;
      return { type: `workflow:${status}`, ...(error && { error }) };
    }
    default:
      return undefined;
  }
}

function placeKey({ step, occurrence, aspect }: JournalRow): string {
  return `${step}#${occurrence}:${aspect}`;
}
