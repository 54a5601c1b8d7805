import type { Database } from 'better-sqlite3';
import type { RunRecord, Survey } from '../contract.js';
import { parkedStatuses } from '../run-rules.js';
import { openHashesSql, runColumns } from './queries.js';

const parkedList = parkedStatuses.map((status) => `'${status}'`).join(', ');

/** As `isParked` says. Only the rows of unwinding runs are read; of the others the index has all that counts. */
const countParkedSql = `select count(*) from run
  where definition_hash = ? and ended_at is null and status in (${parkedList}, 'compensating')
    and (status <> 'compensating' or (owner is null and interruptions = 0 and (due_at is null or due_at > ?)))`;

/** Exported so that a test can ask SQLite for its plan. */
export const openParentsSql = `select distinct parent_id from run
  where parent_id is not null and ended_at is null and parent_id > ? order by parent_id limit ?`;

/** What an operator asks about unfinished runs; each answer from an index. */
export class SurveyQueries {
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#sql = prepare(db);
  }

  /** Definitions that an unfinished run is on. */
  openHashes(): string[] {
    return this.#sql.openHashes.all() as string[];
  }

  countParked(hash: string, now: number): number {
    return this.#sql.countParked.get(hash, now) as number;
  }

  suspects(hash: string): Numbered[] {
    return this.#sql.suspects.all(hash) as Numbered[];
  }

  unfinished(hash: string): RunRecord[] {
    return this.#sql.unfinished.all(hash) as RunRecord[];
  }

  /** Ids of parents of unfinished runs, whether or not they are there, ascending. */
  openParents(after: string, limit: number): string[] {
    return this.#sql.openParents.all(after, limit) as string[];
  }

  /** The unfinished children of those of these parents that are gone. */
  orphansOf(parents: readonly string[]): Numbered[] {
    return this.#sql.orphans.all(JSON.stringify(parents)) as Numbered[];
  }

  isLeasedByOthers(owner: string, now: number): boolean {
    return this.#sql.leasedByOthers.get(owner, now) !== undefined;
  }
}

export interface Numbered {
  readonly run: number;
  readonly id: string;
}

const parentsPerTurn = 500;

/** Looks at the unfinished runs, with turns of the event loop in between. */
export async function takeSurvey(
  queries: SurveyQueries,
  read: <T>(query: () => T) => Promise<T>,
  hashes: readonly string[],
  now: number,
): Promise<Omit<Survey, 'othersAlive'>> {
  let parked = 0;
  const suspects: Numbered[] = [];
  const withoutDefinition: RunRecord[] = [];
  const orphans: Numbered[] = [];
  for (const hash of await read(() => queries.openHashes())) {
    suspects.push(...(await read(() => queries.suspects(hash))));
    if (hashes.includes(hash)) parked += await read(() => queries.countParked(hash, now));
    else withoutDefinition.push(...(await read(() => queries.unfinished(hash))));
    await nextTurn();
  }
  for (let last: string | undefined = ''; last !== undefined;) {
    const after: string = last;
    const parents = await read(() => queries.openParents(after, parentsPerTurn));
    orphans.push(...(await read(() => queries.orphansOf(parents))));
    last = parents.at(-1);
    await nextTurn();
  }
  return {
    parked,
    suspects: inOrder(suspects).map(({ id }) => id),
    orphans: inOrder(orphans).map(({ id }) => id),
    withoutDefinition: inOrder(withoutDefinition),
  };
}

/** Of insertion. */
function inOrder<T extends Numbered>(runs: readonly T[]): T[] {
  return runs.toSorted((a, b) => a.run - b.run);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function prepare(db: Database) {
  return {
    openHashes: db.prepare(`${openHashesSql} select hash from open where hash is not null`).pluck(),
    countParked: db.prepare(countParkedSql).pluck(),
    suspects: db.prepare(`select run, id from run where definition_hash = ? and suspect = 1 and ended_at is null`),
    unfinished: db.prepare(`select ${runColumns} from run where definition_hash = ? and ended_at is null`),
    openParents: db.prepare(openParentsSql).pluck(),
    orphans: db.prepare(
      `select child.run, child.id from json_each(?) as parent cross join run as child on child.parent_id = parent.value
       where child.ended_at is null and not exists (select 1 from run where id = parent.value)`,
    ),
    leasedByOthers: db.prepare(
      `select 1 from run where lease_expires_at is not null and owner <> ? and lease_expires_at > ? limit 1`,
    ),
  };
}
