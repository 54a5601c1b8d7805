import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import type { Entry } from '../killer.js';

/** A lease that was taken or renewed, as the database saw it in that transaction. */
export interface LeaseSeen {
  readonly kind: 'claim' | 'renewal';
  readonly run: number;
  readonly owner: string;
  readonly epoch: number;
  /** Leases of the workflow that were live then, this one among them. */
  readonly live: number;
}

/** A run that was taken from a dead owner, in the state that it had. */
export interface Release {
  readonly id: string;
  readonly status: string;
}

export interface SeenRelease extends Release {
  /** Who had held it. */
  readonly owner: string;
  /** Whether its lease had: then a claim may have come upon it, whoever held it. */
  readonly expired: 0 | 1;
}

/** Who held the run when an entry of its journal was written. */
export interface Writing {
  readonly run: number;
  readonly seq: number;
  readonly epoch: number;
  readonly owner: string;
}

export interface RunRow {
  readonly run: number;
  readonly id: string;
  readonly key: string | null;
  readonly status: string;
  readonly owner: string | null;
  readonly epoch: number;
  readonly leaseExpiresAt: number | null;
}

const runColumns = 'run, id, key, status, owner, epoch, lease_expires_at as leaseExpiresAt';

/** Clocks of processes are read at different moments, and SQLite's in whole milliseconds. */
const slackMs = 2;

/**
 * The database of the runs seen from outside: triggers write down every lease and every entry of a journal
 * inside the transaction that makes it, whoever that is, so that no moment is missed.
 */
export class WatchedDatabase {
  readonly #db: Database.Database;

  /**
   * @param path of a database that Runsheet has made
   * @param limited the workflow whose leases are counted
   */
  constructor(path: string, limited: string, { since, factor }: { since: number; factor: number }) {
    this.#db = new Database(path, { timeout: 10_000 });
    onTestFinished(() => void this.#db.close());
    const now = `(${since} + (cast(unixepoch('now', 'subsec') * 1000 as integer) - ${since} + ${slackMs}) * ${factor})`;
    this.#db.exec(`
      create table seen_lease (kind text, run integer, owner text, epoch integer, live integer);
      create table seen_entry (run integer, seq integer, epoch integer, owner text);
      create table seen_release (id text, status text, owner text, expired integer);
      create trigger see_release after update of owner on run
      when new.owner is null and new.interruptions > old.interruptions begin
        insert into seen_release values (old.id, old.status, old.owner, old.lease_expires_at <= ${now});
      end;
      create trigger see_lease after update of lease_expires_at on run
      when new.workflow = '${limited}' and new.lease_expires_at > ${now} begin
        insert into seen_lease select case when new.epoch > old.epoch then 'claim' else 'renewal' end,
          new.run, new.owner, new.epoch,
          (select count(*) from run where workflow = new.workflow and lease_expires_at > ${now});
      end;
      create trigger see_entry after insert on journal begin
        insert into seen_entry select new.run, new.seq, epoch, owner from run where run = new.run;
      end;`);
  }

  leases(): LeaseSeen[] {
    return this.#all('select * from seen_lease order by rowid');
  }

  /** How many leases of the workflow were live at most, at every claim and renewal so far. */
  mostLive(): number {
    const [row] = this.#all<{ most: number | null }>('select max(live) as most from seen_lease');
    return row?.most ?? 0;
  }

  countReleases(): number {
    const [row] = this.#all<{ count: number }>('select count(*) as count from seen_release');
    return row?.count ?? 0;
  }

  /** Those after the first so many, in order. */
  releases(after = 0): SeenRelease[] {
    return this.#all('select * from seen_release where rowid > ? order by rowid', after);
  }

  writings(): Writing[] {
    return this.#all('select * from seen_entry order by rowid');
  }

  runs(): RunRow[] {
    return this.#all(`select ${runColumns} from run order by run`);
  }

  leased(): RunRow[] {
    return this.#all(`select ${runColumns} from run where lease_expires_at is not null`);
  }

  journal(run: number): Entry[] {
    return this.#all('select * from journal where run = ? order by seq', run);
  }

  /** Runs that have not ended and that somebody could drive on, or does. */
  countOpen(): number {
    const [row] = this.#all<{ count: number }>(
      `select count(*) as count from run where ended_at is null and status not in ('waiting', 'sleeping', 'retrying')`,
    );
    return row?.count ?? 0;
  }

  #all<Row>(sql: string, ...values: unknown[]): Row[] {
    return this.#db.prepare(sql).all(...values) as Row[];
  }
}
