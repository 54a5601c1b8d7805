import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { RunsheetError } from '../../common/index.js';
import { isBusy, isErrorCode } from './errors.js';
import { ownersFolder, shareAs } from './file-modes.js';

const suffix = '.lock';
const registrationTries = 100;

/**
 * The proof that an engine lives: it holds `BEGIN EXCLUSIVE` on a little SQLite database of its own,
 * `<database>-engines/<owner>.lock`, for as long as it is registered. The system drops the lock with
 * the process, however that ends, and keeps it while the process is merely stopped; so whoever obtains
 * it has proved the owner's death. No process ids, no host names, no clocks.
 *
 * The absence of a lock file proves nothing (somebody may have copied the database without the folder).
 *
 * These files must be opened through SQLite only: closing any other descriptor of a file drops all
 * locks that this process has on it.
 */
export class EngineLocks {
  readonly #database: string;
  readonly #folder: string;
  readonly #Database: typeof BetterSqlite3;
  readonly #held = new Map<string, BetterSqlite3.Database>();

  constructor(databasePath: string, Database: typeof BetterSqlite3) {
    this.#database = databasePath;
    this.#folder = `${databasePath}-engines`;
    this.#Database = Database;
  }

  register(owner: string): void {
    if (this.#held.has(owner)) return;
    for (let attempt = 0; attempt < registrationTries; attempt += 1) {
      this.#makeFolder();
      const lock = this.#obtain(owner, { create: true });
      if (lock === undefined) continue;
      // One who is tidying up may have taken the new file for a dead engine's and removed it before we had the lock.
      if (existsSync(this.#pathOf(owner))) {
        shareAs(this.#database, this.#pathOf(owner));
        this.#held.set(owner, lock);
        return;
      }
      lock.close();
    }
    throw new RunsheetError(
      'RS_STORAGE_BUSY',
      `${this.#pathOf(owner)} is locked: an engine named ${owner} is already at work; every engine needs a name of its own.`,
    );
  }

  /** Not `recursive`, which says of a read-only file system that the folder above, which is there, is not. */
  #makeFolder(): void {
    try {
      mkdirSync(this.#folder, ownersFolder);
      shareAs(this.#database, this.#folder);
    } catch (error) {
      // It may be there, or another engine has just made it.
      if (!existsSync(this.#folder)) throw error;
    }
  }

  unregister(owner: string): void {
    const lock = this.#held.get(owner);
    if (lock === undefined) return;
    this.#held.delete(owner);
    this.#remove(owner, lock);
  }

  /**
   * Calls `release` for each engine that is proved dead, holding its lock meanwhile so that nobody else
   * does the same, and removes its lock file after that. A file that cannot be opened proves nothing: it is passed over,
   * and the first such trouble thrown once all others were looked at.
   */
  async reap(release: (owner: string) => Promise<void>): Promise<void> {
    let trouble: unknown;
    for (const owner of this.#known()) {
      if (this.#held.has(owner)) continue;
      let lock: BetterSqlite3.Database | undefined;
      try {
        lock = this.#obtain(owner, { create: false });
      } catch (error) {
        trouble ??= unreadable(this.#pathOf(owner), error);
      }
      if (lock === undefined) continue;
      try {
        await release(owner);
      } catch (error) {
        lock.close();
        throw error;
      }
      this.#remove(owner, lock);
    }
    if (trouble !== undefined) throw trouble;
  }

  /** Whether any engine but this one is alive, here or in another process. */
  othersLive(owner: string): boolean {
    const others = [...new Set([...this.#held.keys(), ...this.#known()])].filter((other) => other !== owner);
    return others.some((other) => this.#held.has(other) || this.#isTaken(other));
  }

  /** Engines of others whose lock is free, as far as can be told: one whose file cannot be opened is not among them. */
  unlocked(): string[] {
    return this.#known().filter((owner) => {
      if (this.#held.has(owner)) return false;
      try {
        const lock = this.#obtain(owner, { create: false });
        lock?.close();
        return lock !== undefined;
      } catch {
        // Proves nothing; `reap` says what is wrong with it.
        return false;
      }
    });
  }

  /** Lets go of the locks but leaves the files: whoever comes next finds these engines dead. */
  close(): void {
    for (const lock of this.#held.values()) lock.close();
    this.#held.clear();
  }

  #known(): string[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder).flatMap((name) => {
      const owner = ownerOf(name);
      return owner !== undefined && this.#isLockFile(name) ? [owner] : [];
    });
  }

  /** An empty file of its own: through a link another database could be locked, or changed. */
  #isLockFile(name: string): boolean {
    const stat = lstatSync(join(this.#folder, name), { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size === 0 && stat.nlink === 1;
  }

  #pathOf(owner: string): string {
    return join(this.#folder, `${encodeURIComponent(owner)}${suffix}`);
  }

  /** The lock, or undefined where somebody has it or the file is (no longer) there. */
  #obtain(owner: string, { create }: { create: boolean }): BetterSqlite3.Database | undefined {
    let lock: BetterSqlite3.Database | undefined;
    try {
      lock = new this.#Database(this.#pathOf(owner), { timeout: 0, fileMustExist: !create });
      // Or a journal file would lie beside it, and be left behind by the killed.
      lock.pragma('journal_mode = MEMORY');
      lock.exec('begin exclusive');
      return lock;
    } catch (error) {
      lock?.close();
      if (isBusy(error) || !existsSync(this.#pathOf(owner))) return undefined;
      throw error;
    }
  }

  /** One whose file cannot be opened is, for all that is known, alive. */
  #isTaken(owner: string): boolean {
    try {
      const lock = this.#obtain(owner, { create: false });
      lock?.close();
      return lock === undefined && existsSync(this.#pathOf(owner));
    } catch {
      return true;
    }
  }

  /** The file goes first, while the lock still is held: nobody may obtain the lock of a file that is about to go. */
  #remove(owner: string, lock: BetterSqlite3.Database): void {
    try {
      ignoring(['ENOENT'], () => unlinkSync(this.#pathOf(owner)));
      ignoring(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => rmdirSync(this.#folder));
    } finally {
      lock.close();
    }
  }
}

function ignoring(codes: readonly string[], act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!isErrorCode(error, ...codes)) throw error;
  }
}

/** Undefined where no engine can have made a file of that name. */
function ownerOf(name: string): string | undefined {
  if (!name.endsWith(suffix)) return undefined;
  try {
    const owner = decodeURIComponent(name.slice(0, -suffix.length));
    return `${encodeURIComponent(owner)}${suffix}` === name ? owner : undefined;
  } catch {
    return undefined;
  }
}

function unreadable(path: string, error: unknown): RunsheetError {
  const reason = error instanceof Error ? error.message : String(error);
  return new RunsheetError(
    'RS_STORAGE_FAILED',
    `The lock file ${path} of another engine cannot be opened, so that nobody can tell whether that engine is alive: its runs ` +
      `wait until their leases expire. Give this user access to it, or remove it if that engine is gone. (${reason})`,
    { cause: error },
  );
}
