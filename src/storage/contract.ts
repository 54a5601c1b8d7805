/**
 * What a storage must do for the engine. Methods are named by the transitions of a run, so that each
 * is one transaction, and an adapter has no rule of its own to get wrong. All times are epoch
 * milliseconds; all payloads are JSON text that the caller has already made.
 *
 * Every adapter passes `storageConformance` (exported from `runsheet/testing`).
 */
export interface Storage {
  readonly capabilities: StorageCapabilities;

  /**
   * Opens (and where needed creates or migrates) the storage, before anything else; again while open it
   * changes nothing. One that fails leaves nothing behind that was not there before.
   */
  open(): Promise<void>;
  /**
   * Ends all work and frees the storage. What is committed is still made durable and acknowledged; what
   * is not, and every later call, is rejected with `RS_ENGINE_STOPPED`. Engines still registered count as
   * dead from then on.
   */
  close(): Promise<void>;

  /** A random name, given once and kept for good, also in copies: two storages that were made apart differ in it. */
  readIdentity(): Promise<string>;

  /** Makes this engine known, so that others can tell whether it lives (`releaseDeadEngines`). */
  registerEngine(owner: string): Promise<void>;
  /** The engine is gone for good and in order; its leases must have been handed back before. */
  unregisterEngine(owner: string): Promise<void>;
  /**
   * Takes the leases from every engine that is certainly dead, whatever their expiry says: those
   * runs are due again when they were before they were claimed. Where death cannot be proved nothing happens and expiry decides.
   */
  releaseDeadEngines(now: number): Promise<ReleasedRun[]>;

  /** Keeps a sealed definition under its hash. Storing the same hash again changes nothing. */
  storeDefinition(definition: StoredDefinition): Promise<void>;
  readDefinition(hash: string): Promise<StoredDefinition | undefined>;
  /**
   * At most so many runs of a workflow leased at once, over all engines and revisions; null is no limit. Kept from
   * the highest revision that said something: a lower one than the stored one changes nothing.
   */
  setWorkflowLimit(workflow: string, revision: number, limit: number | null): Promise<void>;
  /** Hashes, other than `hash`, of this workflow and revision that an unfinished run is still on. */
  unfinishedHashes(workflow: string, revision: number, hash: string): Promise<string[]>;

  /**
   * Inserts a run. With a `key` (or a `parent` place) that is taken nothing is inserted and the run that has it
   * is returned (`created: false`); whether its input is the same is for the caller to compare. What the same
   * process claims afterwards may be this run, also where this call is not answered yet.
   */
  enqueueRun(run: NewRun): Promise<Enqueued>;
  /**
   * As `enqueueRun` (where nothing is inserted that is all), then as `claimRuns` with a limit of one, whatever `claim`
   * says, and if that takes the new run, as `commitUnits` with `first`: all in one transaction, or nothing. An older run
   * that is due comes first, as in any claim: it is `claimed` then, and the new one waits for its turn. So does one whose
   * `id` is taken: `first` was made for another.
   * Resolves once all of it is durable.
   */
  startRun(run: NewRun, claim: Claim, first: FirstUnit, options?: CommitOptions): Promise<Started>;
  /**
   * Leases up to `limit` due runs (`dueAt ≤ now`: new, woken, or with an expired lease) of the given
   * definitions, oldest due first, then by insertion; a lease that has expired counts as due when the run was before that. Sets owner, epoch + 1, lease expiry, and status `running`
   * (`compensating` where it was that or `compensation-stuck`); `startedAt` at the first claim. A workflow at
   * its limit (`limits`) is passed over, others are not. Resolves once the lease is committed, which may be
   * before it is durable: a lease lost in a power cut has lost its engine too.
   */
  claimRuns(claim: Claim): Promise<RunRecord[]>;
  /**
   * Extends the leases that still are this owner's at these epochs; returns the `run` keys of those that are not. One
   * that has expired by `now` has given up its place: it is extended only where its workflow has one left.
   */
  renewLeases(owner: string, leases: readonly Lease[], expiresAt: number, now: number): Promise<number[]>;
  /**
   * Hands runs back: owner cleared, due when they were due before they were claimed, at the latest now, so that they do not
   * go behind what has not begun. Leases that are no longer this owner's are left alone.
   */
  releaseRuns(owner: string, leases: readonly Lease[], now: number): Promise<void>;

  /**
   * Appends journal entries and makes the transition that goes with them, per unit all or nothing.
   * A unit is refused (`lease-lost`) unless `owner` and `epoch` are still the row's, and
   * (`inbox-changed`) if it has `inboxSeq` and the row's differs. One unit's refusal or failure
   * does no harm to others that share its transaction. Resolves once the entries are durable; rejects if a
   * unit could not be written (`RS_STORAGE_…`), while other units of the same call may have been.
   */
  commitUnits(units: readonly Unit[], options?: CommitOptions): Promise<UnitResult[]>;

  /** Journal entries of a run with `seq > afterSeq`, ascending, at most `limit`. */
  readJournal(run: number, afterSeq: number, limit: number): Promise<JournalRow[]>;

  /** Journal entries of a run that belong to one of these items, ascending. */
  readEntries(run: number, steps: readonly string[]): Promise<JournalRow[]>;

  /**
   * Drops a message into a run's inbox: raises its `inboxSeq` and, if the run is parked, makes it due
   * at once. In one transaction the run's row is locked, then the clock read (`now`, which becomes the message's
   * `at`), then `guard` asked; what it refuses is not stored. `unknown` where the run does not exist, `ended`
   * where it is terminal.
   */
  postInbox<Refusal = never>(runId: string, post: InboxPost<Refusal>): Promise<PostResult<Refusal>>;
  readInbox(run: number, afterSeq: number): Promise<InboxMessage[]>;

  /**
   * In one transaction: inserts the run, of the same workflow, with its journal entries and messages; the old run's
   * `resumedBy` becomes the new one, and its `key` passes to it, whatever `run.key` says: the old run has none from then
   * on. Likewise with its children. Refused (`undefined`) unless the old run is `failed`, its children are `failed` or
   * `cancelled`, and none of them has a `resumedBy`.
   */
  resumeRun(resumption: Resumption): Promise<RunRecord | undefined>;

  /**
   * Says what schedules a revision of a workflow has. Ignored if a higher revision has spoken. An existing schedule keeps
   * `nextAt` and its anchor unless cadence or zone changed, and whether it is paused; ids that are not among them go.
   */
  registerSchedules(workflow: string, revision: number, schedules: readonly NewSchedule[], now: number): Promise<void>;
  /** All, or those of some workflows; by workflow and id. */
  listSchedules(workflows?: readonly string[]): Promise<ScheduleRecord[]>;
  /**
   * In one transaction: the row is locked, the overlap rule applied (`skip`: nothing while a run of this schedule is
   * not terminal; `queue`: nothing while one of them is pending), the run inserted, `nextAt` moved on.
   */
  fireSchedule(firing: Firing): Promise<FiringResult>;
  /** @returns false where there is no such schedule. `nextAt` is given when it goes on. */
  pauseSchedule(workflow: string, id: string, paused: boolean, nextAt?: number | null): Promise<boolean>;

  /** Removes trees for good, with all that belongs to them; answers how many runs. In bounded transactions. */
  cleanup(query: RetentionQuery): Promise<number>;
  /** Puts trees away: readable by id and key, no longer listed. Answers how many runs. */
  archive(query: RetentionQuery, now: number): Promise<number>;
  countArchived(): Promise<number>;

  /** Looks at the unfinished runs, on behalf of an engine that can drive these definitions. */
  survey(owner: string, hashes: readonly string[], now: number): Promise<Survey>;

  /** Runs whose parent is this one, in order of insertion. */
  listChildren(parentId: string): Promise<RunRecord[]>;

  getRun(id: string): Promise<RunRecord | undefined>;
  getRunByKey(workflow: string, key: string): Promise<RunRecord | undefined>;
  /** Newest first, by creation then insertion; `cursor` (if there is more) goes into the next query. */
  listRuns(query: RunQuery): Promise<{ runs: RunRecord[]; cursor?: string }>;
  /**
   * The earliest `dueAt` among open runs of these definitions (leased ones by their expiry), if any. With `only`: of
   * this run (by id) and those that it owns, at any depth.
   */
  nextDueAt(hashes: readonly string[], only?: string): Promise<number | undefined>;

  /**
   * Calls `listener` when something was changed by another process, by another storage object on the same
   * file or, once two engines are registered on this one, by either of them. The listener must not throw.
   * Returns a function that ends it.
   */
  onForeignChange(listener: () => void): () => void;
  /**
   * Calls `listener`, again and again until `releaseDeadEngines` is called, when an engine has certainly died and may have
   * left runs behind; where death cannot be proved never. The listener must not throw. Returns a function that ends it.
   */
  onEngineDeath(listener: () => void): () => void;
}

export interface StorageCapabilities {
  /** What is written survives the end of the process. */
  readonly durable: boolean;
  /** Other processes can work on the same storage at the same time. */
  readonly shared: boolean;
  /** The death of an engine can be proved before its lease expires. */
  readonly provesDeath: boolean;
}

export type RunStatus =
  | 'pending'
  | 'running'
  | 'sleeping'
  | 'waiting'
  | 'retrying'
  | 'compensating'
  | 'compensation-stuck'
  | 'completed'
  | 'failed'
  | 'cancelled';

export const openStatuses = [
  'pending',
  'running',
  'sleeping',
  'waiting',
  'retrying',
  'compensating',
  'compensation-stuck',
] as const satisfies readonly RunStatus[];

export const terminalStatuses = ['completed', 'failed', 'cancelled'] as const satisfies readonly RunStatus[];

export type RollbackStatus = 'owed' | 'completed' | 'not-applicable' | 'stuck' | 'abandoned' | 'partial';

export interface RunRecord {
  /** The storage's own integer key: short in every journal row, ascending in order of insertion. */
  readonly run: number;
  /** `wf_` and 128 bits in hex: random, or derived from what started it. */
  readonly id: string;
  readonly workflow: string;
  readonly revision: number;
  readonly definitionHash: string;
  readonly key: string | null;
  readonly status: RunStatus;
  readonly rollbackStatus: RollbackStatus | null;
  /** JSON text. */
  readonly input: string;
  /** JSON text; null until completed, and where the run gave no output. */
  readonly output: string | null;
  /** JSON text of the error the run failed with. */
  readonly error: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** When an engine may claim it next: new and woken runs, wake times, and for a leased run its expiry. Null once terminal. */
  readonly dueAt: number | null;
  readonly owner: string | null;
  readonly epoch: number;
  readonly leaseExpiresAt: number | null;
  readonly inboxSeq: number;
  /** The run that owns this one, and the place in it (see `ParentPlace`); null for a run of its own. */
  readonly parentId: string | null;
  readonly parentStep: string | null;
  readonly parentOccurrence: string | null;
  /** The failed run that this one took over, and the one that took this one over. */
  readonly resumedFrom: string | null;
  readonly resumedBy: string | null;
  /**
   * How many leases in a row ended by death or expiry (not by a hand-back), with no outcome in between. The k-th (k ≥ 2)
   * makes the run due no sooner than `interruptionDelayMs(k)` later.
   */
  readonly interruptions: number;
  /** The schedule of its workflow that started it. */
  readonly scheduleId: string | null;
  readonly archivedAt: number | null;
}

/** Where a child run stands in its parent; unique over all runs, so that a child is never inserted twice. */
export interface ParentPlace {
  /** Id of the parent run. */
  readonly id: string;
  readonly step: string;
  readonly occurrence: string;
}

export interface NewRun {
  readonly id: string;
  /** The id to take instead where that is taken, and the one after that (1, 2, …). Absent: then it is an error. */
  readonly nextId?: (attempt: number) => string;
  readonly workflow: string;
  readonly revision: number;
  readonly definitionHash: string;
  readonly key: string | null;
  readonly input: string;
  readonly createdAt: number;
  readonly dueAt: number;
  readonly parent?: ParentPlace;
  readonly scheduleId?: string;
}

/** A run that goes on with one that has ended, with what it takes over. */
export interface Resumption {
  /** Id of the old run. */
  readonly from: string;
  readonly run: NewRun;
  /** From seq 1. */
  readonly entries: readonly JournalRow[];
  readonly messages?: readonly NewInboxMessage[];
  /** Of children of the old run, whose new ones have `run` as their parent. */
  readonly children?: readonly Resumption[];
}

/** What came of a start. `created: false`: the run is the one that has the key or the place already. */
export interface Enqueued {
  readonly run: RunRecord;
  readonly created: boolean;
}

export interface Started extends Enqueued {
  /** What was leased, as it was leased: the new run, or an older one; undefined where the claim took nothing. */
  readonly claimed: RunRecord | undefined;
}

export interface Claim {
  readonly owner: string;
  readonly hashes: readonly string[];
  readonly limit: number;
  readonly now: number;
  /** Later than `now`. */
  readonly leaseExpiresAt: number;
  /** Only this run (by id) and those that it owns, at any depth. */
  readonly only?: string;
  /**
   * The engine drives nothing else. Runs that were interrupted `suspectAfter` times in a row or more are given to such
   * an engine only, and then one run alone.
   */
  readonly alone: boolean;
  /**
   * A suspect (see `alone`) that became due then or earlier is passed over no more, unless its workflow is at its limit:
   * nothing that became due after it is claimed, so that an engine that is always busy comes to drive nothing else. Absent:
   * never so.
   */
  readonly overdueSince?: number;
}

export interface Lease {
  readonly run: number;
  readonly epoch: number;
}

export interface ReleasedRun {
  readonly id: string;
  readonly status: RunStatus;
}

export interface JournalRow {
  /** Run-wide, from 1, without gaps: a unit whose entries do not follow the last one is an error. */
  readonly seq: number;
  /** What happened; the interpreter's word, opaque here (`step-started`, `decision` …). */
  readonly kind: string;
  /** Key of the item of the flow, or null for entries of the run itself. */
  readonly step: string | null;
  /** Which turn of the enclosing loops, `0` outside any (`3.1`: second turn inside the fourth). */
  readonly occurrence: string | null;
  /** Which of several entries of that kind at that place: a decision's name, an attempt's number. */
  readonly aspect: string | null;
  readonly at: number;
  /** JSON text. */
  readonly payload: string | null;
}

export interface Unit extends Lease {
  readonly owner: string;
  readonly entries: readonly JournalRow[];
  /** The highest inbox message the driver has seen; given for parks, outcomes, ends and timeout verdicts. */
  readonly inboxSeq?: number;
  readonly transition?: Transition;
  /**
   * Child runs that begin with it; one whose `parent` place is taken is not inserted again, unless by a run that is older
   * than the parent (what a removed run of the same id has left): that is removed. An `id` or `key` that is taken is an
   * error of the whole unit.
   */
  readonly children?: readonly NewRun[];
  /** Messages to other runs; dropped where the run does not exist or is terminal. */
  readonly posts?: readonly { readonly runId: string; readonly message: NewInboxMessage }[];
  /**
   * Completed runs that are to be unwound: `compensating`, rollback `owed`, due at `dueAt`, no longer ended; their
   * output stays. Left alone if not `completed`, or if they have a rollback status.
   */
  readonly reopen?: readonly { readonly runId: string; readonly dueAt: number }[];
  /** It holds an outcome: the count of interruptions begins anew. */
  readonly progress?: boolean;
}

/** What a run that is not in the storage yet begins with. */
export type FirstUnit = Pick<Unit, 'entries' | 'transition' | 'children' | 'posts' | 'reopen'>;

export type Transition =
  | {
      /** The run waits: owner and lease are cleared. */
      readonly kind: 'park';
      readonly status: 'sleeping' | 'waiting' | 'retrying' | 'compensating' | 'compensation-stuck';
      readonly dueAt: number | null;
      /** Left as it is where absent. */
      readonly rollbackStatus?: RollbackStatus;
    }
  | {
      /** The run is over: owner, lease and due time are cleared. */
      readonly kind: 'end';
      readonly status: (typeof terminalStatuses)[number];
      readonly output: string | null;
      readonly error: string | null;
      readonly rollbackStatus: RollbackStatus | null;
      readonly endedAt: number;
    }
  | {
      /** Still driven, in another state. */
      readonly kind: 'status';
      readonly status: 'running' | 'compensating';
      /** Left as it is where absent. */
      readonly rollbackStatus?: RollbackStatus;
      /** Why the run fails, as JSON text. Left as it is where absent. */
      readonly error?: string;
    };

export type UnitResult = 'committed' | 'lease-lost' | 'inbox-changed';

export interface CommitOptions {
  /** Nobody else would gain from waiting: commit and sync at once, on this thread. Default false. */
  readonly alone?: boolean;
}

export interface NewInboxMessage {
  readonly kind: string;
  readonly name: string | null;
  readonly payload: string | null;
  readonly at: number;
}

export interface InboxPost<Refusal> extends Omit<NewInboxMessage, 'at'> {
  /** Read once the run's row is locked. */
  readonly now: () => number;
  /** Looks at the run in the same transaction. */
  readonly guard?: InboxGuard<Refusal>;
}

export interface InboxGuard<Refusal> {
  /** Items of the flow whose journal entries `refuse` wants to see. */
  readonly steps: readonly string[];
  /** Synchronous and pure: it may be asked again if the transaction is repeated. Undefined lets the message pass. */
  refuse(view: InboxView): Refusal | undefined;
}

export interface InboxView {
  readonly run: RunRecord;
  readonly now: number;
  /** All messages of the run so far, ascending. */
  readonly messages: readonly InboxMessage[];
  /** Journal entries of the guard's `steps`, and those that belong to no item, ascending. */
  readonly entries: readonly JournalRow[];
}

export type PostResult<Refusal> =
  | { readonly kind: 'posted'; readonly message: InboxMessage }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'ended'; readonly run: RunRecord };

export interface InboxMessage extends NewInboxMessage {
  /** From 1 within the run. */
  readonly seq: number;
}

/** When a workflow starts by itself. Unique by workflow and id. */
export interface NewSchedule {
  readonly id: string;
  /** JSON text of `{ cron }` or `{ everyMs }`: opaque here, compared to tell whether it has changed. */
  readonly cadence: string;
  readonly timezone: string | null;
  /** JSON text. */
  readonly input: string;
  readonly overlap: 'skip' | 'queue' | 'allow';
  /** Of a schedule that is new, or whose cadence or zone has changed. */
  readonly nextAt: number | null;
}

export interface ScheduleRecord extends NewSchedule {
  readonly workflow: string;
  readonly revision: number;
  /** When it was first registered (with this cadence and zone): `every` counts from here. */
  readonly anchorAt: number;
  readonly paused: boolean;
}

export interface Firing {
  readonly workflow: string;
  readonly id: string;
  /** The nominal time that is fired; `lost` if the row has another one by now, is paused, or of a newer revision than `run`. */
  readonly at: number;
  /** The next one; null where there is none. */
  readonly nextAt: number | null;
  /** Has `scheduleId` and a key made of both. */
  readonly run: NewRun;
}

/** `skipped`: by the overlap rule; the schedule moves on all the same. `lost`: another engine was quicker. */
export type FiringResult = { readonly kind: 'fired'; readonly run: RunRecord } | { readonly kind: 'skipped' | 'lost' };

/** Which finished trees of runs: the root ended at `endedBefore` or earlier, and nothing in the tree is owed or stuck. */
export interface RetentionQuery {
  readonly endedBefore: number;
  /** Of the root. Default: all terminal ones. */
  readonly statuses?: readonly (typeof terminalStatuses)[number][];
  /** At most so many runs, whole trees only (a larger tree counts as one step of its own). */
  readonly limit: number;
}

/** What an operator wants to know of the runs that nobody drives. */
export interface Survey {
  /** Parked runs of the given definitions. */
  readonly parked: number;
  /** Unfinished runs whose parent's row is gone. */
  readonly orphans: readonly string[];
  /** Unfinished runs of other definitions. */
  readonly withoutDefinition: readonly RunRecord[];
  /** Interrupted `suspectAfter` times in a row or more. */
  readonly suspects: readonly string[];
  /** Engines other than the asking one are, for all that is known, alive. */
  readonly othersAlive: boolean;
}

export interface RunQuery {
  readonly workflow?: string;
  readonly statuses?: readonly RunStatus[];
  /** Created at or after. */
  readonly since?: number;
  /** At most; default 100. */
  readonly limit?: number;
  readonly cursor?: string;
  /** Only archived runs; without it, none of them. */
  readonly archived?: boolean;
}

export interface StoredDefinition {
  readonly hash: string;
  readonly workflow: string;
  readonly revision: number;
  /** The canonical document that runs are driven from. */
  readonly document: string;
  /** The text as written, for people; null where there was none. */
  readonly source: string | null;
  readonly storedAt: number;
}
