import { type BigIntStats, statSync } from 'node:fs';
import { type Clock, RunsheetError } from '../../common/index.js';

/** A look is a call of the system for each file. */
const lookEveryMs = 500;

interface Watched {
  readonly path: string;
  readonly opened: BigIntStats;
}

/**
 * Notices that the files of an open database were removed, or others put in their place. SQLite goes on with a removed
 * file as if it were there: what is written, and acknowledged, then is in no file that anybody will ever open again.
 */
export class FileWatch {
  readonly #watched: readonly Watched[];
  readonly #clock: Clock;
  readonly #onLost: (error: RunsheetError) => void;
  #lookedAt: number;
  #isLost = false;

  /** @param paths as they are now, open; those that do not exist are not watched */
  constructor(paths: readonly string[], clock: Clock, onLost: (error: RunsheetError) => void) {
    this.#watched = paths.flatMap((path) => {
      const opened = statOf(path);
      return opened === undefined ? [] : [{ path, opened }];
    });
    this.#clock = clock;
    this.#onLost = onLost;
    this.#lookedAt = clock.monotonic();
  }

  /** Looks, unless it did so just now. */
  look(): void {
    const now = this.#clock.monotonic();
    if (this.#isLost || now - this.#lookedAt < lookEveryMs) return;
    this.#lookedAt = now;
    const missing = this.#watched.find(({ path, opened }) => !isSame(opened, statOf(path)));
    if (missing === undefined) return;
    this.#isLost = true;
    this.#onLost(
      new RunsheetError(
        'RS_STORAGE_LOST',
        `${missing.path} was removed or replaced while it was in use, so nothing more is written to it; ` +
          'start again, and stop everything that uses a database before you move it or put a backup in its place.',
      ),
    );
  }
}

function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function isSame(opened: BigIntStats, now: BigIntStats | undefined): boolean {
  return now !== undefined && now.ino === opened.ino && now.dev === opened.dev;
}
