import { type JsonValue, RunsheetError } from '../../common/index.js';
import { type Run, type RunHistory, readHistory } from '../../engine/index.js';
import type { JournalRow } from '../../storage/index.js';
import { type ItemPlaces, isUndone } from '../world/item-places.js';
import type { World } from '../world/world.js';

/** An item in one turn. */
export interface ItemTurn {
  readonly key: string;
  readonly occurrence: string;
}

/** The resolved `with` of a call, of a step or of what undoes it. */
export interface CallInput extends ItemTurn {
  readonly compensate: boolean;
  readonly input: JsonValue;
}

/** What can be seen of a run under test once nothing more happens to it; with it, those that it was resumed as. */
export interface Observation {
  /** The last one. */
  readonly run: Run;
  readonly histories: readonly RunHistory[];
  readonly journals: readonly (readonly JournalRow[])[];
  /** In the order in which they began; containers too. */
  readonly began: readonly ItemTurn[];
  /** In the order in which they were undone. */
  readonly undone: readonly ItemTurn[];
  readonly inputs: readonly CallInput[];
  /** Virtual time from the start of the first to the end of the last, or to now. */
  readonly elapsedMs: number;
}

export async function observe(world: World, ids: readonly string[], places: ItemPlaces): Promise<Observation> {
  const histories: RunHistory[] = [];
  const journals: JournalRow[][] = [];
  for (const id of ids) {
    const record = await world.storage.getRun(id);
    if (record === undefined) throw new RunsheetError('RS_RUN_UNKNOWN', `there is no run ${id}`);
    histories.push(await readHistory(world.storage, record));
    const journal = await world.storage.readJournal(record.run, 0, Number.MAX_SAFE_INTEGER);
    journals.push(journal.slice(world.takenOver(id)));
  }
  const run = histories.at(-1)?.run;
  if (run === undefined) throw new TypeError('nothing to observe');
  return {
    run,
    histories,
    journals,
    began: journals.flatMap((journal) => begunIn(journal, places)),
    undone: journals.flatMap((journal) => journal.filter(isUndone).map(turnOf)),
    inputs: journals.flatMap((journal) => journal.flatMap(inputOf)),
    elapsedMs: (run.endedAt ?? world.clock.now()) - (histories[0]?.run.startedAt ?? world.startedAt),
  };
}

function begunIn(journal: readonly JournalRow[], places: ItemPlaces): ItemTurn[] {
  const begun = new Map<string, ItemTurn>();
  for (const row of journal) {
    // A `fail` that gives no message leaves no entry of its own.
    const failing = row.kind === 'run-outcome' ? failingItem(row) : undefined;
    if (failing !== undefined && places.get(failing)?.verb === 'fail' && !begun.has(`${failing}#0`)) {
      begun.set(`${failing}#0`, { key: failing, occurrence: '0' });
    }
    for (const { place, occurrence } of places.begunBy(row)) {
      const turn = `${place.key}#${occurrence}`;
      if (!begun.has(turn)) begun.set(turn, { key: place.key, occurrence });
    }
  }
  return [...begun.values()];
}

function failingItem({ payload }: JournalRow): string | undefined {
  return (JSON.parse(payload ?? '{}') as { error?: { step?: string | null } }).error?.step ?? undefined;
}

function turnOf({ step, occurrence }: JournalRow): ItemTurn {
  return { key: step ?? '', occurrence: occurrence ?? '0' };
}

function inputOf(row: JournalRow): CallInput[] {
  const payload = JSON.parse(row.payload ?? '{}') as { input?: JsonValue; value?: { input?: JsonValue } };
  if (row.kind === 'step-started' || row.kind === 'compensation-started') {
    if (payload.input === undefined) return [];
    return [{ ...turnOf(row), compensate: row.kind === 'compensation-started', input: payload.input }];
  }
  const child = row.kind === 'decision' && row.aspect === 'child' ? payload.value?.input : undefined;
  return child === undefined ? [] : [{ ...turnOf(row), compensate: false, input: child }];
}
