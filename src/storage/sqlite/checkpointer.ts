import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import type { Clock, Timer } from '../../common/index.js';
import { type CheckpointOrders, checkpointWorkerSource } from './checkpoint-worker.js';
import type { CheckpointThresholds } from './checkpoint-thresholds.js';

const pageBytes = 4096;
/** Every commit rewrites at least the last page of a table and of its indexes. */
const framesPerCommit = 3;
const respawnAfterMs = 1000;
/** Without the worker SQLite checkpoints by itself, within a COMMIT: slow, but the log stays bounded. */
const autocheckpointFrames = 1000;

/**
 * Keeps the write-ahead log short from a thread of its own, which starts when there first is something
 * to do. The number of frames is not to be had from SQLite without asking, so it is guessed from
 * what was written when to ask; the worker counts exactly.
 */
export class Checkpointer {
  readonly #db: Database;
  readonly #orders: CheckpointOrders;
  readonly #clock: Clock;
  readonly #lookAfterFrames: number;
  #worker: Worker | undefined;
  #respawn: Timer | undefined;
  #isLooking = false;
  #framesSinceLook = 0;
  #isEnding = false;

  constructor(db: Database, path: string, clock: Clock, thresholds: CheckpointThresholds) {
    this.#db = db;
    this.#clock = clock;
    this.#orders = { driver: createRequire(import.meta.url).resolve('better-sqlite3'), path, ...thresholds };
    this.#lookAfterFrames = Math.max(1, Math.floor(thresholds.passiveFrames / 4));
  }

  /** The running worker's thread, for tests that kill it. */
  get worker(): Worker | undefined {
    return this.#worker;
  }

  wrote({ writes, bytes }: { writes: number; bytes: number }): void {
    this.#framesSinceLook += framesPerCommit + writes + Math.ceil(bytes / pageBytes);
    if (this.#framesSinceLook < this.#lookAfterFrames || this.#isLooking || this.#respawn !== undefined) return;
    this.#framesSinceLook = 0;
    const worker = this.#running();
    if (worker === undefined) return;
    this.#isLooking = true;
    worker.postMessage('look');
  }

  /** Copies the whole log into the database and ends the worker. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#respawn?.cancel();
    const worker = this.#worker;
    if (worker === undefined) return;
    await new Promise<void>((resolve) => {
      worker.once('exit', () => resolve());
      worker.ref();
      worker.postMessage('end');
    });
  }

  /** Ends the worker as it is. */
  async abandon(): Promise<void> {
    this.#isEnding = true;
    this.#respawn?.cancel();
    await this.#worker?.terminate();
  }

  /** The worker, started where needed; undefined where there is no thread for it now. */
  #running(): Worker | undefined {
    try {
      this.#worker ??= this.#start();
    } catch {
      // A commit called for it, which stands all the same.
      this.#lost();
    }
    return this.#worker;
  }

  #start(): Worker {
    const worker = new Worker(checkpointWorkerSource, { eval: true, workerData: this.#orders, execArgv: [] });
    worker.unref();
    worker.on('message', () => (this.#isLooking = false));
    // What it died of is not lost: SQLite's own checkpoints meet the same trouble, in a commit that reports it.
    worker.on('error', () => undefined);
    worker.once('exit', () => this.#lost());
    return worker;
  }

  #setAutocheckpoint(frames: number): void {
    if (!this.#isEnding && this.#db.open) this.#db.pragma(`wal_autocheckpoint = ${frames}`);
  }

  #lost(): void {
    this.#worker = undefined;
    this.#isLooking = false;
    if (this.#isEnding) return;
    this.#setAutocheckpoint(autocheckpointFrames);
    this.#respawn = this.#clock.setTimer(
      respawnAfterMs,
      () => {
        this.#respawn = undefined;
        this.#running()?.once('online', () => this.#setAutocheckpoint(0));
      },
      { keepAlive: false },
    );
  }
}
