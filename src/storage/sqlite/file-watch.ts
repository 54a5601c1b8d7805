import { type BigIntStats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, RunsheetError, systemClock } from '../../common/index.js';
import { isErrorCode } from './errors.js';

/** A look is a call of the system. */
const lookEveryMs = 20;
/** Times of folders are coarse: one that is younger may stay the same through the next change. */
const settledAfterMs = 100;

interface Watched {
  readonly path: string;
  readonly opened: BigIntStats;
}

/**
 * Notices that the files of an open database were removed, or others put in their place. SQLite goes on with a removed
 * file as if it were there: what is written, and acknowledged, then is in no file that anybody will ever open again.
 *
 * The files are never opened for that, since closing any descriptor of a file drops the locks that SQLite has on it.
 */
export class FileWatch {
  readonly #watched: readonly Watched[];
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #onLost: (error: RunsheetError) => void;
  #lookedAt: number;
  /** While the folder is as it was then, nothing in it was removed or replaced. */
  #folderThen: BigIntStats | undefined;
  #lost: RunsheetError | undefined;

  /** @param paths in one folder, as they are now, open; those that do not exist are not watched */
  constructor(paths: readonly string[], clock: Clock, onLost: (error: RunsheetError) => void) {
    this.#watched = paths.flatMap((path) => {
      const opened = statOf(path);
      return opened === undefined ? [] : [{ path, opened }];
    });
    this.#folder = dirname(paths[0] ?? '.');
    this.#clock = clock;
    this.#onLost = onLost;
    this.#lookedAt = clock.monotonic();
  }

  /** Verifies, unless it was done just now. */
  look(): void {
    if (this.#clock.monotonic() - this.#lookedAt >= lookEveryMs) this.verify();
  }

  /** Why nothing that was written can be acknowledged; undefined while all files are in place. */
  verify(): RunsheetError | undefined {
    if (this.#lost !== undefined) return this.#lost;
    this.#lookedAt = this.#clock.monotonic();
    try {
      this.#lost = this.#look();
    } catch {
      // A folder that cannot be looked into proves nothing, and SQLite has its files open.
      return undefined;
    }
    if (this.#lost !== undefined) this.#onLost(this.#lost);
    return this.#lost;
  }

  #look(): RunsheetError | undefined {
    const folder = statOf(this.#folder);
    if (folder !== undefined && isSame(folder, this.#folderThen) && folder.mtimeNs === this.#folderThen?.mtimeNs) {
      return undefined;
    }
    const missing = this.#watched.find(({ path, opened }) => !isSame(opened, statOf(path)));
    if (missing !== undefined) {
      return new RunsheetError(
        'RS_STORAGE_LOST',
        `${missing.path} was removed or replaced while it was in use, so nothing more is written to it; ` +
          'start again, and stop everything that uses a database before you move it or put a backup in its place.',
      );
    }
    const isSettled = folder !== undefined && Number(folder.mtimeMs) < systemClock.now() - settledAfterMs;
    this.#folderThen = isSettled ? folder : undefined;
    return undefined;
  }
}

/** Undefined where there is nothing, or a part of the path is no folder any more. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (isErrorCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

function isSame(one: BigIntStats, other: BigIntStats | undefined): boolean {
  return other !== undefined && one.ino === other.ino && one.dev === other.dev;
}
