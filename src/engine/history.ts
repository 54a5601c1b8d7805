import { type JsonObject, type JsonValue, RunsheetError } from '../common/index.js';
import { type Definition, type WorkflowDocument, definitionFromCanonical } from '../definition/index.js';
import type { JournalRow, RunRecord, RunStatus, Storage, StoredDefinition } from '../storage/index.js';
import { BlockHistories, type BlockHistory } from './block-history.js';
import { FlowPlaces } from './flow-places.js';
import { assertResumable } from './resume.js';
import { type Run, toRun } from './run.js';
import { StepHistories } from './step-history.js';
import { reversalsOf } from './unwind-history.js';

/** What the journal tells of a run. Times are epoch milliseconds. */
export interface RunHistory {
  readonly run: Run;
  /** An engine holds it until then, unless it dies before. */
  readonly drivenUntil: number | null;
  /** What it is a run of; null where that is not stored. */
  readonly document: WorkflowDocument | null;
  /** In the order in which they began. */
  readonly steps: readonly StepHistory[];
  /** In the order in which they were reached. */
  readonly blocks: readonly BlockHistory[];
  /** What the unwind has undone or will undo, in this order; empty where nothing is. */
  readonly reversals: readonly ReversalHistory[];
  /** It has failed, and `resume` would go on with it as a new run. */
  readonly resumable: boolean;
}

/** An item of the flow in one turn of its loops, if it is one that takes time or was skipped. */
export type StepHistory = CallHistory | SleepHistory | GateHistory | ChildHistory | SkippedHistory;

export interface Begun {
  /** Key of the item. */
  readonly step: string;
  readonly occurrence: string;
  readonly startedAt: number;
  readonly endedAt?: number;
}

export interface HistoryError {
  readonly name: string;
  readonly message: string;
  readonly attempt: number | null;
}

/** How the calls of one handler went. */
export interface Calls {
  /** Attempts begun; one that a crash cut short and that was repeated counts once. */
  readonly attempts: number;
  /** How often an attempt was repeated because the process died. */
  readonly interruptions: number;
  readonly input?: JsonValue;
  readonly output?: JsonValue;
  /** The last one, which a later attempt may have overcome. */
  readonly error?: HistoryError;
  /** When the next attempt is due, while `retrying`. */
  readonly dueAt?: number;
}

export interface CallHistory extends Begun, Calls {
  readonly kind: 'step';
  readonly state: 'running' | 'retrying' | 'completed' | 'failed';
}

export interface SleepHistory extends Begun {
  readonly kind: 'sleep';
  /** `aborted`: something around it ended first. */
  readonly state: 'sleeping' | 'slept' | 'aborted';
  readonly dueAt: number;
}

export interface GateHistory extends Begun {
  readonly kind: 'gate';
  readonly state: 'waiting' | 'received' | 'timed-out' | 'aborted';
  readonly signal: string;
  /** Null is never. */
  readonly deadline: number | null;
  /** Of the payload, where the flow gives one. */
  readonly schema?: JsonObject;
  /** The payload that was taken. */
  readonly output?: JsonValue;
  /** Payloads that the gate's filter has turned down. */
  readonly rejected: number;
  /** A payload that might fit has arrived, and whoever drives the run next will look at it. */
  readonly arrived: boolean;
}

export interface ChildHistory extends Begun {
  readonly kind: 'child';
  /** As its parent sees it: one past its deadline has `timed-out`, and may go on by itself. */
  readonly state: 'waiting' | 'completed' | 'failed' | 'timed-out';
  /** Id of the child run. */
  readonly run: string;
  readonly workflow: string;
  /** Of the child run itself; null where it is gone. */
  readonly status: RunStatus | null;
  /** Null is never. */
  readonly deadline: number | null;
  readonly output?: JsonValue;
  readonly error?: HistoryError;
}

export interface SkippedHistory extends Begun {
  readonly kind: 'skipped';
  readonly state: 'skipped';
}

/** What is to be undone of one step in one turn, or of one child. */
export interface ReversalHistory extends Omit<Begun, 'startedAt'>, Calls {
  /** Absent until it has begun. */
  readonly startedAt?: number;
  /** `kept`: the child could not be undone (a pivot, an abandoned unwind). `skipped`: `why` says so. */
  readonly state: 'owed' | 'running' | 'retrying' | 'undone' | 'stuck' | 'skipped' | 'kept';
  /** The handler that undoes the step; null for a child, which undoes itself. */
  readonly handler: string | null;
  /** Id of the child run; null for a step. */
  readonly run: string | null;
  readonly why?: string;
}

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
    steps.look(await this.#storage.readInbox(run, 0), (child) => statuses.get(child) ?? null);
    return {
      run: toRun(record),
      drivenUntil: record.leaseExpiresAt,
      document: definition?.document ?? null,
      steps: steps.all,
      blocks: blocks.all,
      reversals: reversalsOf(journal, flow, record.rollbackStatus),
      resumable: definition !== undefined && isResumable(() => assertResumable(record, journal, definition)),
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

function isResumable(assert: () => void): boolean {
  try {
    assert();
    return true;
  } catch (error) {
    if (error instanceof RunsheetError && error.code === 'RS_RUN_NOT_RESUMABLE') return false;
    throw error;
  }
}
