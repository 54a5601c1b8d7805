import { RunsheetError } from '../common/index.js';
import { type Definition, walkItems } from '../definition/index.js';
import type { Place, RunError } from '../interpreter/index.js';
import type { InboxMessage, JournalRow, NewInboxMessage, RunRecord } from '../storage/index.js';
import { type TakenOver, readTakenOver } from './entries.js';
import { Fall } from './fall.js';
import { FlowPlaces, type Turn } from './flow-places.js';

/** Failures of a whole run that its file asked for, or that going on could not mend; a handler's error may have these names, too. */
const settledFailures: ReadonlySet<string> = new Set(['RunTimeout', 'LoopLimitExceeded', 'Cancelled']);

/**
 * Where a failed run fell, and another one can go on. A child that was cancelled as its parent failed fell there too.
 *
 * @throws RunsheetError `RS_RUN_NOT_RESUMABLE` saying why none can
 */
export function fallOf(
  record: RunRecord,
  journal: readonly JournalRow[],
  definition: Definition,
  as: 'root' | 'child' = 'root',
): Fall {
  const refuse = (why: string): RunsheetError =>
    new RunsheetError('RS_RUN_NOT_RESUMABLE', `${record.id} cannot be resumed: ${why}`);
  const isCancelled = as === 'child' && record.status === 'cancelled';
  if (record.status !== 'failed' && !isCancelled) {
    throw refuse(`it is ${record.status}, and only a failed run can be`);
  }
  if (record.resumedBy !== null) throw refuse(`it was resumed as ${record.resumedBy}`);
  if (journal.some((row) => row.kind === 'compensation-started' || hasChildUndone(row, journal))) {
    throw refuse('something of it was undone; start a new one');
  }
  const error = JSON.parse(record.error ?? '{}') as RunError;
  const outcome = journal.find(({ kind }) => kind === 'run-outcome');
  const fallAt = (origins: readonly Place[]): Fall =>
    new Fall(
      origins,
      journal.filter(({ seq }) => seq < (outcome?.seq ?? Number.POSITIVE_INFINITY)),
      new FlowPlaces(definition.document),
    );
  if (isCancelled) return fallAt([]);
  if (
    (error.attempt === null && settledFailures.has(error.name)) ||
    (error.step !== null && failItems(definition).has(error.step))
  ) {
    throw refuse(`it failed with ${error.name}, which going on could not change`);
  }
  const { origins } = JSON.parse(outcome?.payload ?? '{}') as { origins?: readonly Place[] };
  if (origins === undefined) {
    throw refuse('the Runsheet that drove it, an older one, has not kept where it failed; start a new one');
  }
  const fall = fallAt(origins);
  if (fall.journal.some((row) => row.kind === 'pivot' && fall.takesBack(row))) {
    throw refuse('it reached a pivot in error handling that did not help and would be done anew; start a new one');
  }
  return fall;
}

/** Entries of `child-started` of which the child has failed, or was cut short, and that begin anew. */
export function childrenBegunAnew(fall: Fall): JournalRow[] {
  return fall.journal.filter(
    (row) => row.kind === 'child-started' && fall.takesBack(row) && !fall.isInVain(turnOf(row)),
  );
}

/**
 * The first entries of the new run: the journal of the failed one up to where that fell.
 *
 * @param starts what stands instead of these entries, which would be taken back
 * @param ends what has come to an end since
 */
export function takenOver(
  { id, createdAt }: RunRecord,
  fall: Fall,
  { newId, starts, ends }: { newId: string; starts: ReadonlyMap<JournalRow, JournalRow>; ends: readonly JournalRow[] },
): JournalRow[] {
  const { journal } = fall;
  const earlier = readTakenOver(journal);
  const vain = journal.filter((row) => isHandling(row) && fall.isThrough(turnOf(row))).map(turnOf);
  const isReplaced = ({ step, occurrence }: Turn): boolean =>
    vain.some((each) => each.step === step && each.occurrence === occurrence);
  const over: TakenOver = {
    run: id,
    keyPrefix: earlier?.keyPrefix ?? id,
    handledAnew: [
      ...(earlier?.handledAnew ?? []).filter((each) => !isReplaced(each) && !fall.isInVain(each)),
      ...vain.map((turn) => ({ ...turn, keyPrefix: newId })),
    ],
  };
  const at = journal[0]?.at ?? createdAt;
  const kept = journal.flatMap((row) => {
    if (fall.takesBack(row)) return starts.get(row) ?? [];
    return { ...row, payload: ownPayload(row) };
  });
  const entries = 1 + kept.length + ends.length;
  const payload = JSON.stringify({ ...over, entries } satisfies TakenOver);
  const first = { kind: 'taken-over', step: null, occurrence: '0', aspect: '', at, payload };
  return [first, ...kept, ...ends].map((row, index) => ({ ...row, seq: index + 1 }));
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

/** A child was asked, for an unwind of the run, to undo what it had done, and there was something. */
function hasChildUndone(asked: JournalRow, journal: readonly JournalRow[]): boolean {
  // Past its time it is undone at once, and what is done in its stead is the run's own.
  if (asked.kind !== 'child-unwind' || asked.aspect === 'timeout') return false;
  const { step, occurrence } = asked;
  return !journal.some(
    (row) =>
      row.kind === 'child-unwound' &&
      row.step === step &&
      row.occurrence === occurrence &&
      (JSON.parse(row.payload ?? '{}') as { result?: string }).result === 'not-applicable',
  );
}

/** An entry of `onError` was chosen, and begun. */
function isHandling({ kind, aspect, payload }: JournalRow): boolean {
  return kind === 'decision' && aspect === 'onError' && /^\{"value":\d/.test(payload ?? '');
}

function turnOf({ step, occurrence }: JournalRow): Turn {
  return { step: step ?? '', occurrence: occurrence ?? '0' };
}

/** Numbers of messages are of the old run's inbox, and mean others in the new one's. */
function ownPayload({ kind, payload }: JournalRow): string | null {
  if (kind !== 'signal-consumed' && kind !== 'child-settled') return payload;
  const { inboxSeq: _inboxSeq, ...rest } = JSON.parse(payload ?? '{}') as Record<string, unknown>;
  return JSON.stringify(rest);
}

function failItems({ document }: Definition): ReadonlySet<string> {
  const keys = new Set<string>();
  walkItems(document, ({ item, key }) => {
    if ('fail' in item) keys.add(key);
  });
  return keys;
}
