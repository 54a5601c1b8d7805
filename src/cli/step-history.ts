import type { JsonValue } from '../common/index.js';
import type { JournalRow } from '../storage/index.js';

export type StepState = 'running' | 'completed' | 'failed' | 'retrying' | 'skipped' | 'sleeping' | 'slept';

/** What the journal tells of one item in one turn of its loops. Times are epoch milliseconds. */
export interface StepHistory {
  readonly step: string;
  readonly occurrence: string;
  state: StepState;
  /** Attempts begun; one that a crash cut short and that was repeated counts once. */
  attempts: number;
  /** How often an attempt was repeated because the process died. */
  interruptions: number;
  startedAt: number;
  endedAt?: number;
  input?: JsonValue;
  output?: JsonValue;
  /** The last one, which a later attempt may have overcome. */
  error?: { readonly name: string; readonly message: string; readonly attempt: number | null };
  /** When it goes on by itself, while `retrying` or `sleeping`. */
  dueAt?: number;
}

/** Steps, skipped items and sleeps in the order in which they began. */
export function stepHistories(journal: readonly JournalRow[]): StepHistory[] {
  const histories = new Map<string, StepHistory>();
  for (const row of journal) {
    if (row.step === null) continue;
    const place = `${row.step}\n${row.occurrence}`;
    const known = histories.get(place);
    const history = known ?? begun(row.step, row.occurrence ?? '0', row.at);
    if (apply(row, history) && known === undefined) histories.set(place, history);
  }
  return [...histories.values()];
}

function begun(step: string, occurrence: string, startedAt: number): StepHistory {
  return { step, occurrence, state: 'running', attempts: 0, interruptions: 0, startedAt };
}

/** Whether the entry is about something that is listed. */
function apply(row: JournalRow, history: StepHistory): boolean {
  const payload = payloadOf(row);
  switch (row.kind) {
    case 'step-started':
      history.state = 'running';
      delete history.dueAt;
      if (payload.restart === true) history.interruptions += 1;
      else history.attempts += 1;
      if (payload.input !== undefined) history.input = payload.input;
      return true;
    case 'step-completed':
      history.state = 'completed';
      history.endedAt = row.at;
      if (payload.value !== undefined) history.output = payload.value;
      return true;
    case 'step-failed':
      history.state = 'failed';
      history.endedAt = row.at;
      if (payload.error !== undefined) history.error = payload.error;
      return true;
    case 'step-retrying':
      if (typeof payload.value !== 'number') return false;
      history.state = 'retrying';
      history.dueAt = payload.value;
      delete history.endedAt;
      return true;
    case 'step-skipped':
      history.state = 'skipped';
      history.endedAt = row.at;
      return true;
    case 'decision':
      if (row.aspect !== 'until' || typeof payload.value !== 'number') return false;
      history.state = 'sleeping';
      history.dueAt = payload.value;
      return true;
    case 'timer-fired':
      if (row.aspect !== 'until') return false;
      history.state = 'slept';
      history.endedAt = row.at;
      delete history.dueAt;
      return true;
    default:
      return false;
  }
}

interface Payload {
  readonly restart?: boolean;
  readonly input?: JsonValue;
  readonly value?: JsonValue;
  readonly error?: NonNullable<StepHistory['error']>;
}

function payloadOf(row: JournalRow): Payload {
  return row.payload === null ? {} : (JSON.parse(row.payload) as Payload);
}
