import { RunsheetError } from '../common/index.js';
import { type Definition, itemKey, walkItems } from '../definition/index.js';
import type { RunError } from '../interpreter/index.js';
import type { InboxMessage, JournalRow, NewInboxMessage, RunRecord } from '../storage/index.js';
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
    throw refuse('something of it was undone; start a new one');
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
  const before = journal.filter(({ seq }) => seq < outcome);
  const keys = describeItems(definition);
  const done = new Set(before.filter(isDone).map(placeOf));
  const started = new Set<string>();
  const rows: JournalRow[] = [
    {
      seq: 1,
      kind: 'taken-over',
      step: null,
      occurrence: '0',
      aspect: '',
      at: journal[0]?.at ?? record.createdAt,
      payload: JSON.stringify({ run: record.id, keyPrefix: keyPrefixOf(record, journal) }),
    },
  ];
  for (const row of before) {
    if (!isKept(row) || (row.step !== null && keys.handling.has(row.step))) continue;
    const place = placeOf(row);
    // A gate that is not decided opens anew, and its reminders begin anew with it.
    const gate = row.step === null ? undefined : keys.reminderOf.get(row.step);
    if (gate !== undefined && !done.has(`${gate}#${outerTurn(row.occurrence)}`)) continue;
    if (row.kind === 'decision' && row.aspect === 'gate' && !done.has(place)) continue;
    // A child that did not come to a good end is no longer this run's: another one is started.
    if (row.kind === 'child-started' && !done.has(place)) continue;
    if (row.kind === 'step-started') {
      // A step that was called keeps its input, under attempt 1: its failed attempts are forgotten.
      if (started.has(place) || (row.aspect !== '1' && !done.has(place))) continue;
      started.add(place);
    }
    const aspect = row.kind === 'step-completed' ? '1' : row.aspect;
    rows.push({ ...row, aspect, payload: ownPayload(row), seq: rows.length + 1 });
  }
  return rows;
}

/** Signals that were acknowledged and that nobody took: they are kept for the gates that are still to come. */
export function untaken(messages: readonly InboxMessage[], journal: readonly JournalRow[]): NewInboxMessage[] {
  const taken = new Set<unknown>();
  for (const { kind, payload } of journal) {
    if (kind === 'signal-consumed') taken.add((JSON.parse(payload ?? '{}') as { inboxSeq?: number }).inboxSeq);
  }
  return messages
    .filter(({ kind, seq }) => kind === 'signal' && !taken.has(seq))
    .map(({ kind, name, payload, at }) => ({ kind, name, payload, at }));
}

function isKept({ kind, aspect, payload }: JournalRow): boolean {
  if (!kept.has(kind as EntryKind)) return false;
  // An attempt's back-off, a block's or gate's or run's deadline: they belong to what failed, or begin anew.
  if (kind === 'timer-fired') return aspect === 'until' || aspect === 'reminder';
  if (kind === 'decision') {
    if (aspect === 'deadline' || aspect === 'onError') return false;
    if (aspect?.startsWith('retry.') || aspect?.startsWith('first-start.')) return false;
    return !(payload ?? '').startsWith('{"error":');
  }
  return kind !== 'child-settled' || childCompleted(payload);
}

/** Whether the entry says that what stands at its place has come to a good end. */
function isDone({ kind, aspect, payload }: JournalRow): boolean {
  switch (kind as EntryKind) {
    case 'step-completed':
    case 'signal-consumed':
      return true;
    case 'child-settled':
      return childCompleted(payload);
    case 'decision':
      return aspect === 'onTimeout' && !(payload ?? '').startsWith('{"error":');
    default:
      return false;
  }
}

function childCompleted(payload: string | null): boolean {
  return (JSON.parse(payload ?? '{}') as { status: string }).status === 'completed';
}

/** Numbers of messages are of the old run's inbox, and mean others in the new one's. */
function ownPayload({ kind, payload }: JournalRow): string | null {
  if (kind !== 'signal-consumed' && kind !== 'child-settled') return payload;
  const { inboxSeq: _inboxSeq, ...rest } = JSON.parse(payload ?? '{}') as Record<string, unknown>;
  return JSON.stringify(rest);
}

/** The turn around the turn that counts a gate's reminders. */
function outerTurn(occurrence: string | null): string {
  return (occurrence ?? '0').split('.').slice(0, -1).join('.') || '0';
}

function keyPrefixOf(record: RunRecord, journal: readonly JournalRow[]): string {
  const before = journal.find(({ kind }) => kind === 'taken-over');
  return before === undefined ? record.id : (JSON.parse(before.payload ?? '{}') as { keyPrefix: string }).keyPrefix;
}

function placeOf({ step, occurrence }: JournalRow): string {
  return `${step}#${occurrence}`;
}

interface ItemKeys {
  /** Items inside `onError`, `onFailure` and `finally`. */
  readonly handling: ReadonlySet<string>;
  /** Reminders by their key, with the key of their gate. */
  readonly reminderOf: ReadonlyMap<string, string>;
}

function describeItems({ document }: Definition): ItemKeys {
  const handling = new Set<string>();
  const reminderOf = new Map<string, string>();
  walkItems(document, ({ item, key, path, place }) => {
    if (path[0] !== 'steps' || isHandling(path)) handling.add(key);
    if ('waitFor' in item && item.remind !== undefined) reminderOf.set(itemKey(item.remind, `${place}.remind`), key);
  });
  return { handling, reminderOf };
}

/** `onError` stands after the number of an item; a branch of that name after `parallel`. */
function isHandling(path: readonly (string | number)[]): boolean {
  return path.some((segment, index) => segment === 'onError' && typeof path[index - 1] === 'number');
}

function failItems({ document }: Definition): ReadonlySet<string> {
  const keys = new Set<string>();
  walkItems(document, ({ item, key }) => {
    if ('fail' in item) keys.add(key);
  });
  return keys;
}
