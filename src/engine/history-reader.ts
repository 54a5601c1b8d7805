import { RunsheetError } from '../common/index.js';
import { type Definition, definitionFromCanonical } from '../definition/index.js';
import type { InboxMessage, JournalRow, RunRecord, RunStatus, Storage, StoredDefinition } from '../storage/index.js';
import { BlockHistories } from './block-history.js';
import { FlowPlaces } from './flow-places.js';
import { readStuck } from './entries.js';
import type { RunHistory, RunOrder, StepHistory } from './history.js';
import { fallOf } from './resume.js';
import { toRun } from './run.js';
import { StepHistories } from './step-history.js';
import { reversalsOf } from './unwind-history.js';

/** Reads what has happened in a run and what it waits for. Needs no handlers. */
export async function readHistory(storage: Storage, record: RunRecord): Promise<RunHistory> {
  return new HistoryReader(storage, record).read();
}

/** Reads a run again and again, and of its journal only what is new. */
export class HistoryReader {
  readonly #storage: Storage;
  #record: RunRecord;
  #story: Story | undefined;

  constructor(storage: Storage, record: RunRecord) {
    this.#storage = storage;
    this.#record = record;
  }

  /** The steps and blocks of the last answer change with the next one. */
  async read(): Promise<RunHistory> {
    const { id, run, definitionHash } = this.#record;
    this.#story ??= newStory(await this.#storage.readDefinition(definitionHash));
    // The record first: what the journal says beyond it is told the next time as well.
    const record = (await this.#storage.getRun(id)) ?? this.#record;
    this.#record = record;
    const { definition, flow, journal, steps, blocks } = this.#story;
    await readFurther(this.#storage, run, journal, (row) => {
      steps.add(row);
      blocks.add(row);
    });
    const statuses = await childStatuses(this.#storage, id, steps.all);
    const inbox = await this.#storage.readInbox(run, 0);
    steps.look(inbox, (child) => statuses.get(child) ?? null);
    return {
      run: toRun(record),
      drivenUntil: record.leaseExpiresAt,
      document: definition?.document ?? null,
      steps: steps.all,
      blocks: blocks.all,
      reversals: reversalsOf(journal, flow, record.rollbackStatus),
      resumable:
        record.parentId === null && definition !== undefined && isResumable(() => fallOf(record, journal, definition)),
      order: orderOf(record, journal, inbox),
    };
  }
}

/** What is read of a run so far. */
interface Story {
  readonly definition: Definition | undefined;
  readonly flow: FlowPlaces;
  readonly journal: JournalRow[];
  readonly steps: StepHistories;
  readonly blocks: BlockHistories;
}

function newStory(stored: StoredDefinition | undefined): Story {
  const definition = stored && definitionFromCanonical(stored.document);
  const flow = new FlowPlaces(definition?.document);
  return { definition, flow, journal: [], steps: new StepHistories(flow), blocks: new BlockHistories(flow) };
}

async function readFurther(
  storage: Storage,
  run: number,
  journal: JournalRow[],
  tell: (row: JournalRow) => void,
): Promise<void> {
  for (;;) {
    const page = await storage.readJournal(run, journal.at(-1)?.seq ?? 0, 500);
    journal.push(...page);
    page.forEach(tell);
    if (page.length < 500) return;
  }
}

/** Children that were taken over with a failed run are still those of that one. */
async function childStatuses(
  storage: Storage,
  id: string,
  steps: readonly StepHistory[],
): Promise<ReadonlyMap<string, RunStatus>> {
  const own = steps.filter((step) => step.kind === 'child');
  if (own.length === 0) return new Map();
  const statuses = new Map((await storage.listChildren(id)).map((child) => [child.id, child.status]));
  for (const { run } of own) {
    if (statuses.has(run)) continue;
    const child = await storage.getRun(run);
    if (child !== undefined) statuses.set(run, child.status);
  }
  return statuses;
}

function orderOf(
  { status, endedAt }: RunRecord,
  journal: readonly JournalRow[],
  inbox: readonly InboxMessage[],
): RunOrder | null {
  if (status === 'compensation-stuck') {
    const stuck = journal.findLast(({ kind }) => kind === 'compensation-stuck');
    const since = readStuck(stuck?.payload ?? null).afterInbox;
    const verdict = inbox.find(({ kind, seq }) => kind === 'operator' && seq > since);
    return verdict === undefined ? null : (verdict.name as 'resume' | 'abandon');
  }
  const isDecided =
    endedAt !== null || journal.some(({ kind }) => kind === 'cancel-requested' || kind === 'run-outcome');
  return !isDecided && inbox.some(({ kind }) => kind === 'cancel') ? 'cancel' : null;
}

function isResumable(assert: () => void): boolean {
  try {
    assert();
    return true;
  } catch (error) {
    if (error instanceof RunsheetError && error.code === 'RS_RUN_NOT_RESUMABLE') return false;
    throw error;
  }
}
