import type { Database, Statement } from 'better-sqlite3';
import type { Clock, RunsheetError } from '../../common/index.js';
import { Deliveries } from './deliveries.js';
import type { Durability } from './durability.js';
import { isBusy } from './errors.js';

export interface WriteOptions {
  /** About how much it writes: bounds the transaction. */
  readonly bytes?: number;
  /** Resolves at COMMIT, without waiting for durability. Default false. */
  readonly early?: boolean;
}

export interface GroupCommitOptions {
  readonly db: Database;
  readonly durability: Durability;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called within each transaction, before anything is written; may call `end`. */
  readonly afterBegin: () => void;
  /** How long BEGIN is tried while another connection holds the lock. */
  readonly busyTimeoutMs: number;
  /** What the caller sees of an error. */
  readonly explain: (error: unknown) => RunsheetError;
  /** After each COMMIT, with about how much it wrote. */
  readonly onCommit: (written: { writes: number; bytes: number }) => void;
}

interface Write {
  readonly apply: () => unknown;
  readonly bytes: number;
  readonly early: boolean;
  readonly since: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  /** It was in a transaction that failed: it gets one for itself, so that only the culprit fails. */
  single: boolean;
}

const mostWrites = 256;
const mostBytes = 1024 * 1024;
/** As `bytes` of a write: it gets a transaction for itself. */
export const wholeTransaction = mostBytes + 1;
/** What is left of a batch after so long gets the next transaction, after a turn of the event loop. */
const longestMs = 4;
const longestInlineMs = 5;
const backlogWrites = 1000;
const backlogBytes = 4 * 1024 * 1024;

/**
 * All writes asked for in one turn of the event loop share one transaction. No connection waits inside
 * SQLite: where the lock is taken, BEGIN is tried again a few milliseconds later, and what is
 * asked for meanwhile joins the batch.
 *
 * A COMMIT never has an unknown result here: one that fails has not published its frames in the WAL's
 * index, so that nobody has seen them, and the next commit writes over them.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #totalChanges: Statement;

  #queue: Write[] = [];
  #queuedBytes = 0;
  #scheduled = false;
  #ended: RunsheetError | undefined;
  #forRoom: (() => void)[] = [];
  readonly #deliveries: Deliveries;
  /** When this turn of the event loop made its first inline commit. */
  #inlineSince: number | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#begin = options.db.prepare('begin immediate');
    this.#commit = options.db.prepare('commit');
    this.#totalChanges = options.db.prepare('select total_changes()').pluck();
    this.#deliveries = new Deliveries(options.clock, () => this.#schedule());
  }

  /** Nothing is queued, waits to become durable, or is durable and not answered yet. */
  get isIdle(): boolean {
    const { waiting } = this.#options.durability;
    return this.#queue.length === 0 && waiting.count === 0 && !this.#deliveries.areUnderWay;
  }

  /** Runs `apply`, which must be synchronous, in the next transaction; resolves with what it returned. */
  submit<T>(apply: () => T, { bytes = 0, early = false }: WriteOptions = {}): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const since = this.#options.clock.monotonic();
    const result = new Promise<T>((resolve, reject) => {
      const settle = resolve as (result: unknown) => void;
      this.#queue.push({ apply, bytes, early, since, resolve: settle, reject, single: false });
    });
    this.#queuedBytes += bytes;
    this.#schedule();
    return result;
  }

  /**
   * Commits and syncs what is queued, on this thread; for one who would gain nothing from company. Resolves when
   * `results`, of what the caller has submitted, are settled.
   * A caller that awaits one such commit after another would never let the event loop turn, so that
   * it is made to, every 5 ms.
   */
  async flushInline(results: readonly Promise<unknown>[]): Promise<void> {
    const { clock } = this.#options;
    const settled = Promise.allSettled(results);
    if (this.#inlineSince === undefined) {
      this.#inlineSince = clock.monotonic();
      setImmediate(() => (this.#inlineSince = undefined));
    }
    const since = this.#inlineSince;
    this.#flush({ inline: true });
    if (clock.monotonic() - since >= longestInlineMs) await new Promise((resolve) => setImmediate(resolve));
    await settled;
  }

  /** Few enough writes are unacknowledged to take on new work. */
  get hasRoom(): boolean {
    if (this.#ended !== undefined) return true;
    const { waiting } = this.#options.durability;
    return this.#queue.length + waiting.count < backlogWrites && this.#queuedBytes + waiting.bytes < backlogBytes;
  }

  /** Resolves when there is room, or an end. */
  async room(): Promise<void> {
    while (!this.hasRoom) {
      await new Promise<void>((resolve) => this.#forRoom.push(resolve));
    }
  }

  /** Rejects what is queued and all that comes. */
  end(error: RunsheetError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    const queued = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    for (const { reject } of queued) reject(error);
    this.#deliveries.flush();
    this.#tellRoom();
  }

  /** While many are answered, the transaction waits for what they have to write: it comes at once. */
  #schedule(): void {
    if (this.#scheduled || this.#queue.length === 0 || this.#deliveries.areUnderWay) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush({ inline = false } = {}): void {
    if (this.#queue.length === 0) return;
    try {
      this.#begin.run();
    } catch (error) {
      return isBusy(error) ? this.#tryLater(error) : this.#failed(this.#take(), error);
    }
    try {
      this.#options.afterBegin();
    } catch (error) {
      this.#rollBack();
      return this.#failed(this.#take(), error);
    }
    if (this.#ended !== undefined) return this.#rollBack();
    this.#transact(this.#take(), inline);
    this.#schedule();
  }

  #transact(taken: readonly Write[], inline: boolean): void {
    const { durability, clock, onCommit } = this.#options;
    const since = clock.monotonic();
    const results: unknown[] = [];
    let hasWritten: boolean;
    try {
      const before = this.#totalChanges.get();
      for (const write of taken) {
        results.push(write.apply());
        if (clock.monotonic() - since >= longestMs) break;
      }
      hasWritten = this.#totalChanges.get() !== before;
      this.#commit.run();
    } catch (error) {
      this.#rollBack();
      return this.#failed(taken, error);
    }
    const batch = taken.slice(0, results.length);
    this.#putBack(taken.slice(results.length));
    if (hasWritten) {
      durability.wrote();
      if (inline) durability.syncNow();
      onCommit({ writes: batch.length, bytes: bytesOf(batch) });
    }
    batch.forEach(({ bytes, early, resolve, reject }, index) => {
      if (early) return resolve(results[index]);
      durability.whenDurable({
        bytes,
        durable: () => {
          if (inline) resolve(results[index]);
          else this.#deliveries.add(() => resolve(results[index]));
          this.#tellRoom();
        },
        failed: (error) => reject(this.#options.explain(error)),
      });
    });
    this.#tellRoom();
  }

  /** Some errors (a full disk among them) have rolled back by themselves. */
  #rollBack(): void {
    const { db } = this.#options;
    try {
      if (db.inTransaction) db.exec('rollback');
    } catch {
      // The next BEGIN then fails, and reports it.
    }
  }

  /** The next batch; a write that needs a transaction for itself goes by itself. */
  #take(): Write[] {
    let count = 0;
    let bytes = 0;
    for (const write of this.#queue) {
      if (count > 0 && (write.single || count >= mostWrites || bytes + write.bytes > mostBytes)) break;
      count += 1;
      bytes += write.bytes;
      if (write.single) break;
    }
    this.#queuedBytes -= bytes;
    return this.#queue.splice(0, count);
  }

  #failed(batch: readonly Write[], error: unknown): void {
    const [first, ...others] = batch;
    if (first !== undefined && others.length === 0) {
      first.reject(this.#options.explain(error));
    } else {
      for (const write of batch) write.single = true;
      this.#putBack(batch);
    }
    this.#tellRoom();
    this.#schedule();
  }

  #putBack(writes: readonly Write[]): void {
    this.#queue.unshift(...writes);
    this.#queuedBytes += bytesOf(writes);
  }

  #tryLater(busy: unknown): void {
    const { clock, random, busyTimeoutMs, explain } = this.#options;
    const waitedSince = clock.monotonic() - busyTimeoutMs;
    const tooOld = this.#queue.findIndex(({ since }) => since > waitedSince);
    const given = this.#queue.splice(0, tooOld === -1 ? this.#queue.length : tooOld);
    for (const { bytes, reject } of given) {
      this.#queuedBytes -= bytes;
      reject(explain(busy));
    }
    if (this.#queue.length === 0) return;
    this.#scheduled = true;
    clock.setTimer(1 + Math.floor(random() * 4), () => {
      this.#scheduled = false;
      if (this.#ended === undefined) this.#flush();
    });
  }

  #tellRoom(): void {
    if (this.#forRoom.length === 0 || !this.hasRoom) return;
    const told = this.#forRoom;
    this.#forRoom = [];
    for (const resolve of told) resolve();
  }
}

function bytesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, { bytes }) => sum + bytes, 0);
}
