import { RunsheetError } from '../common/index.js';
import { type Definition, walkItems } from '../definition/index.js';
import type { RunError } from '../interpreter/index.js';
import type { JournalRow, RunRecord } from '../storage/index.js';
import type { EntryKind } from './entries.js';

/** Failures of a whole run that its file asked for, or that going on could not mend. */
const settledFailures: ReadonlySet<string> = new Set(['RunTimeout', 'LoopLimitExceeded', 'Cancelled']);

/** Successes and decisions: what another walk can build on. */
const kept: ReadonlySet<EntryKind> = new Set<EntryKind>([
  'step-started',
  'step-completed',
  'step-skipped',
  'decision',
  'timer-fired',
  'signal-consumed',
  'signal-rejected',
  'child-started',
  'child-settled',
  'pivot',
]);

/** @throws RunsheetError `RS_RUN_NOT_RESUMABLE` */
export function assertResumable(record: RunRecord, journal: readonly JournalRow[], definition: Definition): void {
  const refuse = (why: string): RunsheetError =>
    new RunsheetError('RS_RUN_NOT_RESUMABLE', `${record.id} cannot be resumed: ${why}`);
  if (record.status !== 'failed') throw refuse(`it is ${record.status}, and only a failed run can be`);
  if (record.resumedBy !== null) throw refuse(`it was resumed as ${record.resumedBy}`);
  if (journal.some(({ kind }) => kind === 'compensation-started' || kind === 'child-unwind')) {
    throw refuse('something of it was undone');
  }
  const error = JSON.parse(record.error ?? '{}') as RunError;
  const failing = failItems(definition);
  if (settledFailures.has(error.name) || (error.step !== null && failing.has(error.step))) {
    throw refuse(`it failed with ${error.name}, which going on could not change`);
  }
}

/**
 * What a new run takes over from a failed one: its successes and decisions up to the failure, none of
 * its failures, nothing of its error handling, aborted scopes and deadlines.
 */
export function takenOver(record: RunRecord, journal: readonly JournalRow[], definition: Definition): JournalRow[] {
  const outcome = journal.find(({ kind }) => kind === 'run-outcome')?.seq ?? Number.POSITIVE_INFINITY;
  const handling = handlingItems(definition);
  const completed = new Set<string>();
  const started = new Set<string>();
  for (const row of journal) if (row.kind === 'step-completed') completed.add(placeOf(row));
  const first: JournalRow = {
    seq: 1,
    kind: 'taken-over',
    step: null,
    occurrence: '0',
    aspect: '',
    at: journal[0]?.at ?? record.createdAt,
    payload: JSON.stringify({ run: record.id, keyPrefix: keyPrefixOf(record, journal) }),
  };
  const rows: JournalRow[] = [first];
  for (const row of journal) {
    if (row.seq >= outcome || !isKept(row) || (row.step !== null && handling.has(row.step))) continue;
    if (row.kind === 'step-started') {
      // A step that was called keeps its input, under attempt 1: its failed attempts are forgotten.
      if (started.has(placeOf(row)) || (row.aspect !== '1' && !completed.has(placeOf(row)))) continue;
      started.add(placeOf(row));
    }
    const aspect = row.kind === 'step-completed' ? '1' : row.aspect;
    rows.push({ ...row, aspect, seq: rows.length + 1 });
  }
  return rows;
}

function isKept({ kind, aspect, payload }: JournalRow): boolean {
  if (!kept.has(kind as EntryKind)) return false;
  // An attempt's back-off, a block's or gate's or run's deadline: they belong to what failed, or begin anew.
  if (kind === 'timer-fired') return aspect === 'until' || aspect === 'reminder';
  if (kind === 'decision') {
    if (aspect === 'deadline' || aspect === 'onError' || aspect?.startsWith('retry.')) return false;
    return !(payload ?? '').startsWith('{"error":');
  }
  if (kind === 'child-settled') return (JSON.parse(payload ?? '{}') as { status: string }).status === 'completed';
  return true;
}

function keyPrefixOf(record: RunRecord, journal: readonly JournalRow[]): string {
  const before = journal.find(({ kind }) => kind === 'taken-over');
  return before === undefined ? record.id : (JSON.parse(before.payload ?? '{}') as { keyPrefix: string }).keyPrefix;
}

function placeOf({ step, occurrence }: JournalRow): string {
  return `${step}#${occurrence}`;
}

/** Keys of the items inside `onError`, `onFailure` and `finally`. */
function handlingItems({ document }: Definition): ReadonlySet<string> {
  const keys = new Set<string>();
  walkItems(document, ({ key, path }) => {
    if (path[0] !== 'steps' || path.includes('onError')) keys.add(key);
  });
  return keys;
}

function failItems({ document }: Definition): ReadonlySet<string> {
  const keys = new Set<string>();
  walkItems(document, ({ item, key }) => {
    if ('fail' in item) keys.add(key);
  });
  return keys;
}
