import { RunsheetError } from '../common/index.js';
import {
  type JournalRow,
  type ParentPlace,
  type Resumption,
  type RunRecord,
  terminalStatuses,
} from '../storage/index.js';
import type { ChildEnded } from './open-children.js';
import type { OpenedStorage } from './opened-storage.js';
import type { EngineSettings } from './options.js';
import { childRunId, resumedRunId } from './run-ids.js';
import { isWhollyUndone } from './undone.js';
import { childrenBegunAnew, fallOf, takenOver, untaken } from './resume.js';

/**
 * A run that goes on with a failed one, and with it its children that had failed or were cut short: were they started
 * afresh, they would do again, under other keys, what their first runs have done.
 *
 * @throws RunsheetError `RS_RUN_NOT_RESUMABLE` saying why there can be none
 */
export async function planResumption(
  record: RunRecord,
  opened: OpenedStorage,
  settings: EngineSettings,
): Promise<Resumption> {
  if (record.parentId !== null && (await settings.storage.getRun(record.parentId)) !== undefined) {
    throw refuse(record, `it is a child of ${record.parentId}; resume that one, which goes on with it`);
  }
  return new Planner(opened, settings).plan(record);
}

interface Heir {
  /** Instead of the entry of its start, which would be taken back. */
  readonly started: JournalRow;
  /** It was past its time for its parent, and has completed since. */
  readonly settled?: JournalRow;
  readonly child?: Resumption;
}

class Planner {
  readonly #opened: OpenedStorage;
  readonly #settings: EngineSettings;
  readonly #now: number;

  constructor(opened: OpenedStorage, settings: EngineSettings) {
    this.#opened = opened;
    this.#settings = settings;
    this.#now = settings.clock.now();
  }

  async plan(record: RunRecord, parent?: ParentPlace): Promise<Resumption> {
    const { storage } = this.#settings;
    const definition = await this.#opened.definitionOf(record);
    const journal = await storage.readJournal(record.run, 0, Number.MAX_SAFE_INTEGER);
    const fall = fallOf(record, journal, definition, parent === undefined ? 'root' : 'child');
    const id = parent === undefined ? resumedRunId(record.id) : childRunId(parent);
    const starts = new Map<JournalRow, JournalRow>();
    const ends: JournalRow[] = [];
    const children: Resumption[] = [];
    for (const started of childrenBegunAnew(fall)) {
      const heir = await this.#heirOf(started, id);
      if (heir === undefined) continue;
      starts.set(started, heir.started);
      if (heir.settled !== undefined) ends.push(heir.settled);
      if (heir.child !== undefined) children.push(heir.child);
    }
    const { workflow, revision, definitionHash, key, input } = record;
    const dates = { createdAt: this.#now, dueAt: this.#now };
    return {
      from: record.id,
      run: { id, workflow, revision, definitionHash, key, input, ...dates, ...(parent && { parent }) },
      entries: takenOver(record, fall, { newId: id, starts, ends }),
      messages: untaken(await storage.readInbox(record.run, 0), journal),
      children,
    };
  }

  /** What the new run has of a child that begins anew; undefined where another one is to begin from the top. */
  async #heirOf(started: JournalRow, parentId: string): Promise<Heir | undefined> {
    const { run, deadline, ...rest } = JSON.parse(started.payload ?? '{}') as { run: string; deadline?: number };
    const record = await this.#settings.storage.getRun(run);
    if (record === undefined) return undefined;
    if (record.rollbackStatus === 'completed') {
      if (await isWhollyUndone(record, this.#settings.storage)) return undefined;
      // Another one would do again, under other keys, what is still there.
      throw refuse(record, 'only a part of what it did was undone');
    }
    if (!terminalStatuses.some((each) => each === record.status)) {
      throw refuse(record, `it is ${record.status}; wait until it has ended, or cancel it`);
    }
    if (record.status === 'completed') return { started, settled: settled(started, record) };
    if (record.rollbackStatus !== 'not-applicable') throw refuse(record, 'only a part of what it did was undone');
    const place = { id: parentId, step: started.step ?? '', occurrence: started.occurrence ?? '0' };
    const child = await this.plan(record, place);
    const payload = JSON.stringify({
      run: child.run.id,
      ...rest,
      ...(deadline !== undefined && { deadline: this.#now + deadline - record.createdAt }),
    });
    return { started: { ...started, payload }, child };
  }
}

function settled({ step, occurrence, aspect, at }: JournalRow, { output }: RunRecord): JournalRow {
  const ended: ChildEnded = {
    status: 'completed',
    output: output === null ? null : (JSON.parse(output) as ChildEnded['output']),
    error: null,
    rollbackStatus: null,
    pivotReached: false,
  };
  return { seq: 0, kind: 'child-settled', step, occurrence, aspect, at, payload: JSON.stringify(ended) };
}

function refuse({ id, workflow }: RunRecord, why: string): RunsheetError {
  return new RunsheetError('RS_RUN_NOT_RESUMABLE', `${id} (${workflow}) cannot be resumed: ${why}`);
}
