import type { Database, Statement } from 'better-sqlite3';
import type { Clock, Timer } from '../../common/index.js';
import { ChangeListeners } from '../change-listeners.js';
import { isBusy } from './errors.js';
import type { FileWatch } from './file-watch.js';

/** A look costs some microseconds and no access to the disk. */
const lookEveryMs = 20;

/** Notices what other connections commit, by SQLite's own counter, and what is done to the files; looks only while somebody listens. */
export class ForeignChanges {
  readonly #dataVersion: Statement;
  readonly #clock: Clock;
  readonly #files: FileWatch | undefined;
  readonly #listeners = new ChangeListeners();
  #seen: unknown;
  #timer: Timer | undefined;

  constructor(db: Database, clock: Clock, files: FileWatch | undefined) {
    this.#files = files;
    this.#dataVersion = db.prepare('pragma data_version').pluck();
    this.#clock = clock;
  }

  add(listener: () => void): () => void {
    if (this.#timer === undefined) {
      this.#look();
      this.#arm();
    }
    const remove = this.#listeners.add(listener);
    return () => {
      remove();
      if (this.#listeners.size === 0) this.#disarm();
    };
  }

  /** Tells the listeners of a change that was not foreign to this connection, but is to one of them. */
  notify(): void {
    this.#listeners.notify();
  }

  close(): void {
    this.#disarm();
    this.#listeners.clear();
  }

  #arm(): void {
    this.#timer = this.#clock.setTimer(
      lookEveryMs,
      () => {
        this.#arm();
        const before = this.#seen;
        this.#look();
        this.#files?.look();
        if (this.#seen !== before) this.#listeners.notify();
      },
      { keepAlive: false },
    );
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Any trouble but a passing lock counts as a change: those who look then meet it in a call of their own. */
  #look(): void {
    try {
      this.#seen = this.#dataVersion.get();
    } catch (error) {
      if (!isBusy(error)) this.#seen = error;
    }
  }
}
