import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { type Clock, systemClock } from '../../common/index.js';
import type {
  Claim,
  CommitOptions,
  Enqueued,
  Firing,
  FiringResult,
  FirstUnit,
  InboxMessage,
  InboxPost,
  JournalRow,
  Lease,
  NewRun,
  NewSchedule,
  PostResult,
  ReleasedRun,
  Resumption,
  RetentionQuery,
  RunQuery,
  RunRecord,
  ScheduleRecord,
  Started,
  Storage,
  StorageCapabilities,
  StoredDefinition,
  Survey,
  Unit,
  UnitResult,
} from '../contract.js';
import { assertClaim, stoppedError } from '../run-rules.js';
import { type CheckpointThresholds, defaultThresholds } from './checkpoint-thresholds.js';
import { isBusy, storageError } from './errors.js';
import { wholeTransaction } from './group-commit.js';
import { checkSqliteOptions } from './options.js';
import type { Queries } from './queries.js';
import { type Disposal, type RetentionAccess, dispose } from './retention.js';
import { type Session, type SessionOptions, closeSession, openSession } from './session.js';
import { takeSurvey } from './survey.js';
import { type FileSync, systemFileSync } from './wal-sync.js';

export interface SqliteStorageOptions {
  /**
   * What a write survives once it is acknowledged: `power`, the loss of power or a crash of the system;
   * `process`, a killed process (several times faster, as nothing waits for the disk). Default `power`.
   */
  readonly durability?: 'power' | 'process';
  /** How long a lock held by another program is waited for, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /**
   * Times locks, disks and the look at foreign changes, never runs: leave it at the system's clock, the
   * default, where an engine over this storage has a virtual one.
   */
  readonly clock?: Clock;
  /** Numbers in [0, 1) that spread the attempts of several engines to get the lock. */
  readonly random?: () => number;
  /** When the write-ahead log is copied into the database. */
  readonly checkpoints?: Partial<CheckpointThresholds>;
  /**
   * Accepts triggers, views and indexes in the database that are not Runsheet's, such as an audit of your own. They act
   * whenever Runsheet writes: never for a database from somebody else. Default false.
   */
  readonly trustSchema?: boolean;
  /** How the write-ahead log is made durable; tests put a simulated disk here. */
  readonly fileSync?: FileSync;
}

const randomSteps = 2 ** 32;
const journalPageRows = 500;
const rowOverheadBytes = 100;
/** Between two transactions of a clean-up; longer than other storages wait before they try for the lock again. */
const retentionPauseMs = 5;

/**
 * Runs in one SQLite database: a file that several processes on one machine may share, or `:memory:`.
 *
 * Beside the file lie SQLite's own `-wal` and `-shm`, and the folder `<file>-engines` with a lock file
 * for each engine at work (see `EngineLocks`).
 */
export class SqliteStorage implements Storage {
  readonly capabilities: StorageCapabilities;

  readonly #path: string;
  readonly #options: SessionOptions;
  #session: Session | undefined;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /** @throws RunsheetError `RS_OPTIONS_INVALID` for unknown options and impossible values */
  constructor(path: string, options: SqliteStorageOptions = {}) {
    checkSqliteOptions(path, options);
    const isFile = path !== ':memory:';
    this.#path = isFile ? resolve(path) : path;
    this.#options = {
      durability: options.durability ?? 'power',
      busyTimeoutMs: options.busyTimeoutMs ?? 5000,
      clock: options.clock ?? systemClock,
      random: options.random ?? (() => randomInt(randomSteps) / randomSteps),
      checkpoints: { ...defaultThresholds, ...options.checkpoints },
      trustSchema: options.trustSchema ?? false,
      fileSync: options.fileSync ?? systemFileSync,
    };
    this.capabilities = { durable: isFile, shared: isFile, provesDeath: isFile };
  }

  async open(): Promise<void> {
    if (this.#session !== undefined) return;
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    await this.#opening;
  }

  async close(): Promise<void> {
    await this.#opening;
    const session = this.#session;
    this.#session = undefined;
    if (session !== undefined) this.#closing = closeSession(session);
    await this.#closing;
  }

  async readIdentity(): Promise<string> {
    return this.#read((queries) => queries.identity());
  }

  async registerEngine(owner: string): Promise<void> {
    const { locks, engines } = this.#opened();
    try {
      locks?.register(owner);
      engines.add(owner);
    } catch (error) {
      throw storageError(error, this.#path);
    }
  }

  async unregisterEngine(owner: string): Promise<void> {
    const { locks, engines } = this.#opened();
    try {
      engines.delete(owner);
      locks?.unregister(owner);
    } catch (error) {
      throw storageError(error, this.#path);
    }
  }

  async releaseDeadEngines(now: number): Promise<ReleasedRun[]> {
    const { locks, writes, transitions } = this.#opened();
    const released: ReleasedRun[] = [];
    try {
      await locks?.reap(async (owner) => {
        released.push(...(await writes.submit(() => transitions.releaseOwner(owner, now), { early: true })));
      });
    } catch (error) {
      // What was released stands; the trouble is met again by the next call.
      if (released.length === 0) throw storageError(error, this.#path);
    }
    return released;
  }

  async storeDefinition(definition: StoredDefinition): Promise<void> {
    const { writes, transitions } = this.#opened();
    const bytes = definition.document.length + (definition.source?.length ?? 0);
    await writes.submit(() => transitions.storeDefinition(definition), { bytes });
  }

  async readDefinition(hash: string): Promise<StoredDefinition | undefined> {
    return this.#read((queries) => queries.definition(hash));
  }

  async setWorkflowLimit(workflow: string, revision: number, limit: number | null): Promise<void> {
    const { writes, transitions } = this.#opened();
    await writes.submit(() => transitions.setLimit(workflow, revision, limit));
  }

  async unfinishedHashes(workflow: string, revision: number, hash: string): Promise<string[]> {
    return this.#read((queries) => queries.unfinishedHashes(workflow, revision, hash));
  }

  async enqueueRun(run: NewRun): Promise<Enqueued> {
    const { writes, transitions } = this.#opened();
    return writes.submit(() => transitions.enqueue(run), { bytes: run.input.length });
  }

  async startRun(run: NewRun, claim: Claim, first: FirstUnit, { alone = false }: CommitOptions = {}): Promise<Started> {
    const { writes, transitions } = this.#opened();
    assertClaim(claim);
    if (!writes.hasRoom) await writes.room();
    const isAlone = alone && writes.isIdle;
    const bytes = run.input.length + sizeOfUnit(first);
    const started = writes.submit(() => transitions.start(run, claim, first), { bytes });
    if (isAlone) await writes.flushInline([started]);
    return started;
  }

  async claimRuns(claim: Claim): Promise<RunRecord[]> {
    const { writes, transitions } = this.#opened();
    assertClaim(claim);
    // Without a turn in between: a claim comes before what is asked for after it.
    if (!writes.hasRoom) await writes.room();
    return writes.submit(() => transitions.claim(claim), { early: true });
  }

  async renewLeases(owner: string, leases: readonly Lease[], expiresAt: number, now: number): Promise<number[]> {
    const { writes, transitions } = this.#opened();
    return writes.submit(() => transitions.renew(owner, leases, expiresAt, now), { early: true });
  }

  async releaseRuns(owner: string, leases: readonly Lease[], now: number): Promise<void> {
    const { writes, transitions } = this.#opened();
    return writes.submit(() => transitions.release(owner, leases, now), { early: true });
  }

  async commitUnits(units: readonly Unit[], { alone = false }: CommitOptions = {}): Promise<UnitResult[]> {
    const { writes, transitions } = this.#opened();
    const isAlone = alone && writes.isIdle;
    const [only] = units;
    if (only !== undefined && units.length === 1 && !isAlone) {
      return [await writes.submit(() => transitions.commitUnit(only), { bytes: sizeOfUnit(only) })];
    }
    const results = units.map((unit) => writes.submit(() => transitions.commitUnit(unit), { bytes: sizeOfUnit(unit) }));
    if (isAlone) await writes.flushInline(results);
    // All are settled before the first failure is reported, so that the caller knows what stands.
    else if (results.length > 1) await Promise.allSettled(results);
    return Promise.all(results);
  }

  async readJournal(run: number, afterSeq: number, limit: number): Promise<JournalRow[]> {
    return this.#readPages(afterSeq, limit, (queries, after, rows) => queries.journal(run, after, rows));
  }

  async readEntries(run: number, steps: readonly string[]): Promise<JournalRow[]> {
    return this.#readPages(0, Infinity, (queries, after, rows) => queries.entries(run, steps, after, rows));
  }

  async postInbox<Refusal = never>(runId: string, post: InboxPost<Refusal>): Promise<PostResult<Refusal>> {
    const { writes, transitions } = this.#opened();
    const bytes = post.payload?.length ?? 0;
    return writes.submit(() => transitions.postInbox(runId, post), { bytes });
  }

  async readInbox(run: number, afterSeq: number): Promise<InboxMessage[]> {
    return this.#read((queries) => queries.inbox(run, afterSeq));
  }

  async resumeRun(resumption: Resumption): Promise<RunRecord | undefined> {
    const { writes, transitions } = this.#opened();
    const bytesOf = ({ run, entries, children = [] }: Resumption): number =>
      children.reduce((sum, child) => sum + bytesOf(child), run.input.length + sizeOf(entries));
    return writes.submit(() => transitions.resume(resumption), { bytes: bytesOf(resumption) });
  }

  async registerSchedules(
    workflow: string,
    revision: number,
    schedules: readonly NewSchedule[],
    now: number,
  ): Promise<void> {
    const { writes, schedules: table } = this.#opened();
    const bytes = schedules.reduce((sum, { input }) => sum + rowOverheadBytes + input.length, 0);
    await writes.submit(() => table.register(workflow, revision, schedules, now), { bytes });
  }

  async listSchedules(workflows?: readonly string[]): Promise<ScheduleRecord[]> {
    return this.#readDurable(() => this.#opened().schedules.list(workflows));
  }

  async fireSchedule(firing: Firing): Promise<FiringResult> {
    const { writes, schedules } = this.#opened();
    return writes.submit(() => schedules.fire(firing), { bytes: firing.run.input.length });
  }

  async pauseSchedule(workflow: string, id: string, paused: boolean, nextAt?: number | null): Promise<boolean> {
    const { writes, schedules } = this.#opened();
    return writes.submit(() => schedules.pause(workflow, id, paused, nextAt));
  }

  async cleanup(query: RetentionQuery): Promise<number> {
    const { retention } = this.#opened();
    const access = this.#retentionAccess(retention);
    const removal: Disposal = { alsoArchived: true, rootFirst: true, apply: (nodes) => retention.remove(nodes) };
    const count = await dispose(access, query, removal);
    // Also what a process that died in the middle has left.
    while (await access.read(() => retention.owesPurge)) {
      await access.write(() => retention.purge());
      await access.pause();
    }
    return count;
  }

  async archive(query: RetentionQuery, now: number): Promise<number> {
    const { retention } = this.#opened();
    return dispose(this.#retentionAccess(retention), query, {
      alsoArchived: false,
      rootFirst: false,
      apply: (nodes) => retention.archive(nodes, now),
    });
  }

  async countArchived(): Promise<number> {
    return this.#readDurable(() => this.#opened().retention.countArchived());
  }

  async survey(owner: string, hashes: readonly string[], now: number): Promise<Survey> {
    const { locks, surveys } = this.#opened();
    const found = await takeSurvey(surveys, (query) => this.#read(query), hashes, now);
    try {
      const othersAlive = locks?.othersLive(owner) ?? (await this.#read(() => surveys.isLeasedByOthers(owner, now)));
      return { ...found, othersAlive };
    } catch (error) {
      throw storageError(error, this.#path);
    }
  }

  async listChildren(parentId: string): Promise<RunRecord[]> {
    return this.#readDurable((queries) => queries.children(parentId));
  }

  async getRun(id: string): Promise<RunRecord | undefined> {
    return this.#readDurable((queries) => queries.run(id));
  }

  async getRunByKey(workflow: string, key: string): Promise<RunRecord | undefined> {
    return this.#readDurable((queries) => queries.runByKey(workflow, key));
  }

  async listRuns(query: RunQuery): Promise<{ runs: RunRecord[]; cursor?: string }> {
    return this.#readDurable((queries) => queries.listRuns(query));
  }

  async nextDueAt(hashes: readonly string[], only?: string): Promise<number | undefined> {
    return this.#read((queries) => queries.nextDueAt(hashes, only));
  }

  onForeignChange(listener: () => void): () => void {
    return this.#opened().changes.add(listener);
  }

  onEngineDeath(listener: () => void): () => void {
    return this.#opened().deaths?.add(listener) ?? (() => {});
  }

  async #open(): Promise<void> {
    await this.#closing;
    this.#session = await openSession(this.#path, this.#options);
  }

  #opened(): Session {
    if (this.#session === undefined) throw stoppedError();
    if (this.#session.lost !== undefined) throw this.#session.lost;
    return this.#session;
  }

  #retentionAccess(sql: RetentionAccess['sql']): RetentionAccess {
    const { clock } = this.#options;
    return {
      sql,
      read: (query) => this.#read(query),
      write: (apply) => this.#opened().writes.submit(apply, { bytes: wholeTransaction }),
      pause: () => new Promise<void>((resolve) => clock.setTimer(retentionPauseMs, resolve)),
    };
  }

  /** A long journal is read in pages, with a turn of the event loop between two of them. */
  async #readPages(
    afterSeq: number,
    limit: number,
    page: (queries: Queries, afterSeq: number, rows: number) => JournalRow[],
  ): Promise<JournalRow[]> {
    const read: JournalRow[] = [];
    while (read.length < limit) {
      const after = read.at(-1)?.seq ?? afterSeq;
      const pageRows = Math.min(journalPageRows, limit - read.length);
      const rows = await this.#read((queries) => page(queries, after, pageRows));
      read.push(...rows);
      if (rows.length < pageRows) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return read;
  }

  /** Reads wait for nobody, but for a program that has locked the whole database. */
  async #read<T>(query: (queries: Queries) => T): Promise<T> {
    const { clock, random, busyTimeoutMs } = this.#options;
    const giveUpAt = clock.monotonic() + busyTimeoutMs;
    for (;;) {
      try {
        return query(this.#opened().queries);
      } catch (error) {
        if (!isBusy(error) || clock.monotonic() >= giveUpAt) throw storageError(error, this.#path);
        await new Promise<void>((resolve) => clock.setTimer(1 + Math.floor(random() * 4), resolve));
      }
    }
  }

  /** For answers that leave the process: nobody shall be told of what a power cut could still undo. */
  async #readDurable<T>(query: (queries: Queries) => T): Promise<T> {
    const result = await this.#read(query);
    const { durability } = this.#opened();
    await new Promise<void>((resolve, reject) => {
      durability.whenDurable({
        bytes: 0,
        durable: resolve,
        failed: (error) => reject(storageError(error, this.#path)),
      });
    });
    return result;
  }
}

function sizeOfUnit({ entries, transition, children = [], posts = [] }: FirstUnit): number {
  let bytes = sizeOf(entries);
  if (transition?.kind === 'end') bytes += (transition.output?.length ?? 0) + (transition.error?.length ?? 0);
  for (const { input } of children) bytes += rowOverheadBytes + input.length;
  for (const { message } of posts) bytes += rowOverheadBytes + (message.payload?.length ?? 0);
  return bytes;
}

function sizeOf(entries: readonly JournalRow[]): number {
  return entries.reduce((bytes, { payload }) => bytes + rowOverheadBytes + (payload?.length ?? 0), 0);
}
