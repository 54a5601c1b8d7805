import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from 'runsheet';
import { walkItems } from '../../src/definition/index.js';
import { FlowPlaces } from '../../src/engine/flow-places.js';
import type { JournalRow } from '../../src/storage/index.js';
import type { Lived, Told } from './lives.js';

/** What does not hold of runs that have ended, in words; empty where all is well. */
export function violationsOf({ runs, wrong }: Lived): string[] {
  const violations = [...wrong];
  for (const told of runs) {
    const own = [
      ...journalFaults(told),
      ...attemptFaults(told),
      ...unwindFaults(told),
      ...signalFaults(told),
      ...familyFaults(told, runs),
      ...resumeFaults(told, runs),
    ];
    violations.push(...own.map((what) => `${told.record.workflow} ${told.record.id.slice(0, 8)}: ${what}`));
  }
  return violations;
}

interface Payload {
  readonly status?: string;
  readonly unwind?: boolean;
  readonly owed?: boolean;
  readonly effect?: string;
  readonly error?: { readonly name: string };
  readonly idempotencyKey?: string;
  readonly inboxSeq?: number;
  readonly payload?: JsonValue;
  readonly value?: JsonValue;
  readonly run?: string;
  readonly result?: string;
  readonly rollbackStatus?: string | null;
  readonly keptBy?: readonly string[];
}

function payloadOf({ payload }: JournalRow): Payload {
  return payload === null ? {} : (JSON.parse(payload) as Payload);
}

function placeOf({ step, occurrence }: JournalRow): string {
  return `${step}#${occurrence}`;
}

function isReopened({ journal }: Told): boolean {
  return journal.filter(({ kind }) => kind === 'run-ended').length === 2;
}

/** Gapless, one outcome, nothing after the end but the unwind of a child for its parent. */
function journalFaults(told: Told): string[] {
  const { journal, record } = told;
  const faults: string[] = [];
  if (!journal.every(({ seq }, index) => seq === index + 1)) faults.push('its journal has gaps');
  const outcomes = journal.filter(({ kind }) => kind === 'run-outcome');
  if (outcomes.length !== 1) faults.push(`${outcomes.length} outcomes`);
  const status = outcomes[0] === undefined ? undefined : payloadOf(outcomes[0]).status;
  const error = outcomes[0] && payloadOf(outcomes[0]).error;
  if (status === 'failed' && error?.name === 'Cancelled') faults.push('it failed with what only ended a scope');
  if (status !== record.status) faults.push(`its outcome is ${status}, its row says ${record.status}`);
  const ends = journal.filter(({ kind }) => kind === 'run-ended');
  if (journal.at(-1)?.kind !== 'run-ended') faults.push('its last entry is no end');
  if (ends.length < 1 || ends.length > (record.parentId === null || status !== 'completed' ? 1 : 2)) {
    faults.push(`${ends.length} ends`);
  }
  const keys = new Set<string>();
  for (const row of journal) {
    if (row.kind === 'run-ended' || row.kind === 'compensation-started' || row.kind === 'step-started') continue;
    const key = `${row.kind} ${placeOf(row)} ${row.aspect}`;
    if (keys.has(key)) faults.push(`${key} is recorded twice`);
    keys.add(key);
  }
  return faults;
}

/** Every attempt that was begun has one end. */
function attemptFaults({ journal }: Told): string[] {
  const faults: string[] = [];
  for (const [begun, ...ends] of [
    ['step-started', 'step-completed', 'step-failed'],
    ['compensation-started', 'compensation-completed', 'compensation-failed'],
  ] as const) {
    const attempts = new Map<string, number>();
    const keyOf = (row: JournalRow): string => `${placeOf(row)} ${row.aspect}`;
    for (const row of journal) if (row.kind === begun) attempts.set(keyOf(row), attempts.get(keyOf(row)) ?? 0);
    for (const row of journal) {
      if (!(ends as readonly string[]).includes(row.kind)) continue;
      // An input that could not be had: nothing was begun.
      if (row.aspect?.includes('input') === true) continue;
      const count = attempts.get(keyOf(row));
      if (count === undefined) faults.push(`${row.kind} of ${keyOf(row)} was never begun`);
      else attempts.set(keyOf(row), count + 1);
    }
    for (const [key, count] of attempts) if (count !== 1) faults.push(`${begun} ${key} has ${count} ends`);
  }
  return faults;
}

/** Each debt has one outcome, in reverse order of start; nothing past a pivot or after success. */
function unwindFaults(told: Told): string[] {
  const { journal, record } = told;
  const faults: string[] = [];
  const outcome = journal.find(({ kind }) => kind === 'run-outcome');
  if (outcome === undefined) return ['no outcome'];
  const { status, unwind } = payloadOf(outcome);
  const pivot = journal.some(({ kind }) => kind === 'pivot');
  // In order of their first start.
  const debts = new Map<string, { owed: boolean; child: string | undefined; seq: number }>();
  for (const row of journal) {
    const place = placeOf(row);
    const { owed, effect, error, run } = payloadOf(row);
    const debt = debts.get(place);
    if (row.kind === 'step-started' && owed === true && debt === undefined) {
      debts.set(place, { owed: false, child: undefined, seq: row.seq });
    } else if (row.kind === 'child-started') {
      debts.set(place, { owed: true, child: run, seq: row.seq });
    } else if (debt !== undefined && row.kind === 'step-completed') debt.owed = true;
    else if (debt !== undefined && row.kind === 'step-failed' && effect !== 'none' && error?.name !== 'Excepted') {
      debt.owed = true;
    }
  }
  const backwards = journal.filter(
    ({ kind }) => kind.startsWith('compensation-') || kind === 'child-unwind' || kind === 'child-unwound',
  );
  const dueToUnwind = status !== 'completed' || isReopened(told);
  if (!dueToUnwind && backwards.length > 0) faults.push('something was undone although it completed');
  if (pivot && backwards.length > 0) faults.push('something was undone past a pivot');
  const eligible = pivot || !dueToUnwind ? [] : [...debts].filter(([, { owed }]) => owed).map(([place]) => place);
  const outcomes = new Map<string, string[]>();
  for (const row of backwards) {
    const ends =
      row.kind === 'compensation-completed' ||
      row.kind === 'compensation-skipped' ||
      (row.kind === 'child-unwound' && payloadOf(row).result !== 'stuck');
    if (ends) outcomes.set(placeOf(row), [...(outcomes.get(placeOf(row)) ?? []), row.kind]);
    if (!eligible.includes(placeOf(row))) faults.push(`${row.kind} of ${placeOf(row)}, which owes nothing`);
    if (row.seq < outcome.seq) faults.push(`${row.kind} of ${placeOf(row)} before the outcome`);
  }
  for (const place of eligible) {
    const ends = outcomes.get(place) ?? [];
    // A child that is given up is asked to give up too, and answers.
    const isAbandonedChild = ends.length === 2 && ends[0] === 'child-unwound' && ends[1] === 'compensation-skipped';
    if (ends.length !== 1 && !isAbandonedChild) faults.push(`${place} has the outcomes [${ends.join(', ')}]`);
  }
  const order = [...new Set(backwards.map(placeOf))];
  const expected = eligible.filter((place) => order.includes(place)).reverse();
  if (!isDeepStrictEqual(order, expected)) faults.push(`undone in the order ${order.join()}, not ${expected.join()}`);
  const skipped = backwards.some(({ kind }) => kind === 'compensation-skipped');
  const keptBy = backwards.some((row) => payloadOf(row).result === 'kept');
  const undone = backwards.some((row) => row.kind === 'compensation-completed' || payloadOf(row).result === 'undone');
  const expectedStatus = !dueToUnwind
    ? null
    : eligible.length === 0
      ? 'not-applicable'
      : skipped
        ? 'abandoned'
        : keptBy
          ? 'partial'
          : undone
            ? 'completed'
            : 'not-applicable';
  if (record.rollbackStatus !== expectedStatus) {
    faults.push(`its rollback is ${record.rollbackStatus}, but what happened is ${expectedStatus}`);
  }
  if (unwind === false && status === 'cancelled' && backwards.some(({ kind }) => kind !== 'compensation-skipped')) {
    faults.push('undone although it was cancelled without compensation');
  }
  return faults;
}

/** No message is taken twice, or by a gate that it does not fit; none that fits is passed over. */
function signalFaults({ record, journal, inbox, definition }: Told): string[] {
  const faults: string[] = [];
  const gates = new Map<string, { signal: string; filtered: boolean }>();
  walkItems(definition.document, ({ key, item }) => {
    if ('waitFor' in item) gates.set(key, { signal: item.waitFor, filtered: item.filter !== undefined });
  });
  const takers = journal.filter(({ payload }) => payload?.includes('"inboxSeq"') === true);
  const taken = takers.map((row) => payloadOf(row).inboxSeq);
  if (new Set(taken).size !== taken.length) faults.push(`messages are taken twice: ${taken.join()}`);
  const deadlines = new Map<string, number>();
  for (const row of journal) {
    if (row.kind !== 'decision' || row.aspect !== 'gate') continue;
    const { deadline } = payloadOf(row).value as { deadline?: number };
    deadlines.set(placeOf(row), deadline ?? Number.POSITIVE_INFINITY);
  }
  const fits = (payload: JsonValue, filtered: boolean): boolean =>
    !filtered || (payload as { value: number }).value > 4;
  for (const row of journal) {
    const gate = gates.get(row.step ?? '');
    if (gate === undefined) continue;
    const deadline = deadlines.get(placeOf(row)) ?? Number.NEGATIVE_INFINITY;
    if (row.kind === 'signal-consumed') {
      const { inboxSeq, payload } = payloadOf(row);
      // Taken by the run that this one goes on with.
      if (inboxSeq === undefined && record.resumedFrom !== null) continue;
      const message = inbox.find(({ seq }) => seq === inboxSeq);
      const sent = JSON.parse(message?.payload ?? 'null') as JsonValue;
      if (message?.name !== gate.signal || !isDeepStrictEqual(sent, payload)) {
        faults.push(`${placeOf(row)} took a message that is not its own`);
      } else if (message.at > deadline) faults.push(`${placeOf(row)} took a message that came too late`);
      if (!fits(sent, gate.filtered)) faults.push(`${placeOf(row)} took a message that does not fit`);
    }
    if (row.kind === 'timer-fired' && row.aspect === 'gate') {
      const missed = inbox.filter(
        ({ kind, name, at, seq, payload }) =>
          kind === 'signal' &&
          name === gate.signal &&
          at <= deadline &&
          // One of the millisecond of the verdict may have come after it: for a later turn of the gate's loop.
          at < row.at &&
          !taken.includes(seq) &&
          fits(JSON.parse(payload ?? 'null') as JsonValue, gate.filtered),
      );
      if (missed.length > 0) faults.push(`${placeOf(row)} timed out with a message in time`);
    }
  }
  return faults;
}

/** A parent and its children tell the same story. */
function familyFaults({ record, journal }: Told, runs: readonly Told[]): string[] {
  const faults: string[] = [];
  const children = runs.filter((other) => other.record.parentId === record.id);
  const started = journal
    .filter(({ kind }) => kind === 'child-started')
    .map((row) => payloadOf(row).run)
    // Taken over from the run that this one goes on with, whose they stay.
    .filter(
      (id) => record.resumedFrom === null || runs.find((run) => run.record.id === id)?.record.parentId === record.id,
    );
  const owned = children.map((child) => child.record.id);
  if (!isDeepStrictEqual([...started].sort(), [...owned].sort())) faults.push('has other children than it started');
  for (const child of children) {
    const { id, status, rollbackStatus } = child.record;
    const place = journal.find((row) => row.kind === 'child-started' && payloadOf(row).run === id);
    if (place === undefined) continue;
    const settled = journal.find((row) => row.kind === 'child-settled' && placeOf(row) === placeOf(place));
    const told = settled && payloadOf(settled).status;
    if (told !== undefined && told !== 'compensation-stuck' && told !== status) {
      faults.push(`was told that ${id} is ${told}, but it is ${status}`);
    }
    const unwound = journal.findLast((row) => row.kind === 'child-unwound' && placeOf(row) === placeOf(place));
    const result = unwound && payloadOf(unwound).result;
    const pivot = child.journal.some(({ kind }) => kind === 'pivot');
    const nothingOwed = rollbackStatus === 'not-applicable' || rollbackStatus === null;
    if (result === 'undone' && (rollbackStatus !== 'completed' || pivot))
      faults.push(`says that ${id} is undone: ${rollbackStatus}, ${pivot}`);
    if (result === 'not-applicable' && (!nothingOwed || pivot))
      faults.push(`says that there was nothing to undo of ${id}: ${rollbackStatus}, ${pivot}`);
    if (result === 'kept' && (rollbackStatus === 'completed' || nothingOwed) && !pivot)
      faults.push(`says that ${id} kept what it did: ${rollbackStatus}`);
    if (isReopened(child) && !journal.some(({ kind }) => kind === 'child-unwind')) {
      faults.push(`has not asked for the unwind of ${id}`);
    }
  }
  return faults;
}

/** A run that is gone on with stays as it was, and all that succeeded is the new one's. */
function resumeFaults({ record, journal }: Told, runs: readonly Told[]): string[] {
  if (record.resumedFrom === null) return [];
  const faults: string[] = [];
  const old = runs.find((run) => run.record.id === record.resumedFrom);
  if (old === undefined) return ['goes on with a run that is gone'];
  if (old.record.resumedBy !== record.id) faults.push(`is not the run that goes on with ${old.record.id}`);
  const isOfChild = old.record.parentId !== null && old.record.status === 'cancelled';
  if (old.record.status !== 'failed' && !isOfChild) faults.push(`goes on with a run that is ${old.record.status}`);
  if (old.record.key !== null) faults.push('the old run has kept its key');
  if (journal[0]?.kind !== 'taken-over') faults.push('does not begin with what it takes over');
  const outcome = old.journal.find(({ kind }) => kind === 'run-outcome')?.seq ?? 0;
  const flow = new FlowPlaces(old.definition.document);
  const own = new Set(journal.map((row) => `${row.kind} ${placeOf(row)}`));
  const handled = new Set(
    journal
      .filter(({ kind, aspect, at }) => kind === 'decision' && aspect === 'onError' && at < record.createdAt)
      .map(placeOf),
  );
  for (const row of old.journal) {
    if (row.seq > outcome || row.step === null || !successes.has(row.kind)) continue;
    if (row.kind === 'child-settled' && payloadOf(row).status !== 'completed') continue;
    const around = flow.around({ step: row.step, occurrence: row.occurrence ?? '0' });
    // Error handling that did not help is done anew, and so are the reminders of a gate that nobody answered.
    const inVain = around.some((outer) => outer.inOnError && !handled.has(`${outer.step}#${outer.occurrence}`));
    if (inVain || flow.item(row.step) === undefined) continue;
    if (!own.has(`${row.kind} ${placeOf(row)}`)) faults.push(`has lost ${row.kind} of ${placeOf(row)}`);
  }
  return faults;
}

const successes: ReadonlySet<string> = new Set(['step-completed', 'signal-consumed', 'child-settled', 'pivot']);
