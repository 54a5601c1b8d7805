import type { JournalRow, RollbackStatus } from '../storage/index.js';
import type { EntryKind } from './entries.js';
import type { FlowPlaces } from './flow-places.js';
import type { ReversalHistory } from './history.js';
import { type Growing, beginCall, readPayload } from './history-payload.js';

type Reversal = Growing<ReversalHistory> & {
  /** Some attempt of the step may have had an effect. */
  owed: boolean;
  readonly exceptErrors: readonly string[];
};

/**
 * What the unwind of a run has undone or will undo, in this order. Empty as long as the run goes on, where nothing
 * is owed, and past a pivot.
 */
export function reversalsOf(
  journal: readonly JournalRow[],
  flow: FlowPlaces,
  rollbackStatus: RollbackStatus | null,
): ReversalHistory[] {
  const outcome = journal.find(({ kind }) => kind === 'run-outcome');
  if (outcome === undefined || journal.some(({ kind }) => kind === 'pivot')) return [];
  // A completed run is undone for its parent alone.
  if (readPayload(outcome.payload).status === 'completed' && rollbackStatus === null) return [];
  const reversals = new Map<string, Reversal>();
  for (const row of journal) {
    const { step } = row;
    if (step === null) continue;
    const place = `${step}\n${row.occurrence}`;
    const known = reversals.get(place) ?? begin({ ...row, step }, flow);
    if (known === undefined) continue;
    reversals.set(place, known);
    proceed(known, row);
  }
  return [...reversals.values()]
    .filter(({ owed }) => owed)
    .reverse()
    .map(({ owed: _owed, exceptErrors: _exceptErrors, ...history }) => history);
}

function begin({ step, occurrence, kind, payload }: JournalRow & { readonly step: string }, flow: FlowPlaces) {
  const begun = { step, occurrence: occurrence ?? '0', state: 'owed', attempts: 0, interruptions: 0 } as const;
  const read = readPayload(payload);
  if (kind === 'child-started') {
    return { ...begun, owed: true, handler: null, run: read.run ?? null, exceptErrors: [] } satisfies Reversal;
  }
  if (kind !== 'step-started' || read.owed !== true) return undefined;
  const item = flow.item(step);
  const compensate = item !== undefined && 'step' in item ? item.compensate : undefined;
  const { exceptErrors = [], step: handler = null } = compensate ?? {};
  return { ...begun, owed: false, handler, run: null, exceptErrors } satisfies Reversal;
}

function proceed(history: Reversal, { kind, aspect, at, payload }: JournalRow): void {
  const read = readPayload(payload);
  switch (kind as EntryKind) {
    case 'step-completed':
      history.owed = true;
      return;
    case 'step-failed':
      if (read.effect !== 'none' && !history.exceptErrors.includes(read.error?.name ?? '')) history.owed = true;
      return;
    case 'compensation-started':
      history.startedAt ??= at;
      return beginCall(history, read);
    case 'compensation-completed':
      if (read.value !== undefined) history.output = read.value;
      return end(history, 'undone', at);
    case 'compensation-failed':
      if (read.error) history.error = read.error;
      return;
    case 'step-retrying':
      if (aspect?.startsWith('compensate.') !== true || typeof read.value !== 'number') return;
      history.state = 'retrying';
      history.dueAt = read.value;
      return;
    case 'child-unwind':
      history.startedAt ??= at;
      history.state = 'running';
      return;
    case 'child-unwound':
      if (read.result === 'undone' || read.result === 'kept') end(history, read.result, at);
      else if (read.result === 'not-applicable') {
        history.why = 'there was nothing to undo';
        end(history, 'skipped', at);
      }
      return;
    case 'compensation-stuck':
      history.state = 'stuck';
      if (read.error) history.error = read.error;
      return;
    case 'operator-decided':
      // What is given up is recorded as skipped.
      history.state = 'owed';
      return;
    case 'compensation-skipped':
      if (read.why !== undefined) history.why = read.why;
      return end(history, 'skipped', at);
  }
}

function end(history: Reversal, state: ReversalHistory['state'], at: number): void {
  history.state = state;
  history.endedAt = at;
  delete history.dueAt;
}
