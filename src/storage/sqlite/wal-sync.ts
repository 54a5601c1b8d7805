import { fdatasync, fdatasyncSync } from 'node:fs';
import type { Clock, Timer } from '../../common/index.js';
import type { Durability, Verify, Waiter } from './durability.js';

/** How a file is made durable; replaced by tests that simulate power cuts and slow or failing disks. */
export interface FileSync {
  /** Off the thread; `done` is called once, later. */
  start(fd: number, done: (error: Error | null) => void): void;
  /** On the thread. */
  now(fd: number): void;
}

export const systemFileSync: FileSync = { start: fdatasync, now: fdatasyncSync };

export interface WalSyncOptions {
  readonly fd: number;
  readonly fileSync: FileSync;
  readonly clock: Clock;
  readonly onFailure: (error: Error) => void;
  /** Asked after each sync, before anything that it covers is acknowledged. */
  readonly verify: Verify;
  /** After `close()`, when no sync uses `fd` any more. */
  readonly release: () => void;
}

const mostInFlight = 2;
/** A busy thread pool may keep a sync from even beginning: after so long it is repeated on this thread. */
const shortestPatienceMs = 20;
const patienceFactor = 4;
const rememberedDurations = 31;

/**
 * Durability against power cuts: a commit is acknowledged after an `fdatasync` of the write-ahead log
 * that began after its COMMIT had returned. Commits do not wait for it; one sync covers all that were
 * made while the one before was running.
 *
 * A sync that fails is the end: the kernel may have dropped the pages, so that a second try would
 * succeed without them. Nothing more is acknowledged, and `onFailure` is told.
 */
export class WalSync implements Durability {
  readonly #options: WalSyncOptions;

  /** Commits are counted; these are numbers of commits. */
  #written = 0;
  #syncStarted = 0;
  #synced = 0;
  #inFlight = 0;
  #queue: { readonly commit: number; readonly since: number; readonly waiter: Waiter }[] = [];
  #waitingBytes = 0;
  #durations: number[] = [];
  #patience: Timer | undefined;
  #failure: Error | undefined;
  #isClosed = false;

  constructor(options: WalSyncOptions) {
    this.#options = options;
  }

  get waiting(): { count: number; bytes: number } {
    return { count: this.#queue.length, bytes: this.#waitingBytes };
  }

  wrote(): void {
    this.#written += 1;
  }

  whenDurable(waiter: Waiter): void {
    if (this.#failure !== undefined) return waiter.failed(this.#failure);
    if (this.#synced >= this.#written) return waiter.durable();
    this.#queue.push({ commit: this.#written, since: this.#options.clock.monotonic(), waiter });
    this.#waitingBytes += waiter.bytes;
    this.#startSync();
    this.#watch();
  }

  syncNow(): void {
    if (this.#failure !== undefined || this.#synced >= this.#written) return;
    const covers = this.#written;
    const began = this.#options.clock.monotonic();
    try {
      this.#options.fileSync.now(this.#options.fd);
    } catch (error) {
      return this.#fail(error as Error);
    }
    this.#finished(covers, began);
  }

  fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#patience?.cancel();
    const told = this.#queue;
    this.#queue = [];
    this.#waitingBytes = 0;
    for (const { waiter } of told) waiter.failed(error);
  }

  /** No sync may be running on a descriptor that is closed: its number could be another file's by then. */
  close(): void {
    this.#isClosed = true;
    this.#patience?.cancel();
    if (this.#inFlight === 0) this.#options.release();
  }

  #startSync(): void {
    const newest = this.#queue.at(-1);
    if (newest === undefined || newest.commit <= this.#syncStarted || this.#inFlight >= mostInFlight) return;
    const covers = this.#written;
    const began = this.#options.clock.monotonic();
    this.#syncStarted = covers;
    this.#inFlight += 1;
    this.#options.fileSync.start(this.#options.fd, (error) => {
      this.#inFlight -= 1;
      if (this.#isClosed) return this.#inFlight === 0 ? this.#options.release() : undefined;
      if (this.#failure !== undefined) return;
      if (error !== null) return this.#fail(error);
      this.#finished(covers, began);
      this.#startSync();
    });
  }

  #finished(covers: number, began: number): void {
    this.#durations.push(this.#options.clock.monotonic() - began);
    if (this.#durations.length > rememberedDurations) this.#durations.shift();
    if (covers <= this.#synced) return;
    const lost = this.#options.verify();
    if (lost !== undefined) return this.fail(lost);
    this.#synced = covers;
    const firstLater = this.#queue.findIndex(({ commit }) => commit > covers);
    const told = this.#queue.splice(0, firstLater === -1 ? this.#queue.length : firstLater);
    for (const { waiter } of told) this.#waitingBytes -= waiter.bytes;
    for (const { waiter } of told) waiter.durable();
  }

  /** One timer for the one who has waited longest. */
  #watch(): void {
    const oldest = this.#queue[0];
    if (this.#patience !== undefined || oldest === undefined || this.#failure !== undefined) return;
    const left = oldest.since + this.#patienceMs() - this.#options.clock.monotonic();
    this.#patience = this.#options.clock.setTimer(Math.max(1, left), () => {
      this.#patience = undefined;
      const now = this.#queue[0];
      if (now !== undefined && this.#options.clock.monotonic() - now.since >= this.#patienceMs()) this.syncNow();
      this.#watch();
    });
  }

  #patienceMs(): number {
    const sorted = [...this.#durations].sort((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    return Math.max(shortestPatienceMs, patienceFactor * median);
  }

  #fail(error: Error): void {
    this.fail(error);
    this.#options.onFailure(error);
  }
}
