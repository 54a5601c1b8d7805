import type { Database } from 'better-sqlite3';
import { isSettled } from '../run-rules.js';
import type { RunRecord } from '../contract.js';

/** What retention looks at in a run. */
export interface Node extends Pick<RunRecord, 'run' | 'id' | 'status' | 'rollbackStatus' | 'endedAt' | 'resumedBy'> {
  /** About how large its row is. */
  readonly bytes: number;
}

export interface Candidate extends Node {
  readonly endedAt: number;
  /** It has no parent, or its parent's row is gone. */
  readonly isRoot: 0 | 1;
}

/** How much one transaction may touch: well below 5,000 rows and 8 MB, since everybody else waits for it. */
export const mostRows = 1000;
export const mostBytes = 4 * 1024 * 1024;
const pageRows = 500;

const sizeSql = `octet_length(input) + coalesce(octet_length(output), 0) + coalesce(octet_length(error), 0)`;
const nodeColumns = `run, id, status, rollback_status as rollbackStatus, ended_at as endedAt, resumed_by as resumedBy,
  ${sizeSql} as bytes`;

/** A page of ended runs, archived or not, oldest end first, after a place in that order. */
function endedSql(archived: 0 | 1): string {
  return `select ${nodeColumns}, parent_id is null or not exists (
      select 1 from run as parent where parent.id = run.parent_id
    ) as isRoot
    from run where archived = ${archived} and ended_at is not null and ended_at <= @endedBefore
      and (ended_at, run) > (@endedAt, @run)`;
}

/** Exported so that a test can ask SQLite for their plans. */
export const candidatesSql = `${endedSql(0)} order by endedAt, run limit ${pageRows}`;
export const allCandidatesSql = `${endedSql(0)} union all ${endedSql(1)} order by endedAt, run limit ${pageRows}`;
export const childNodesSql = `select ${nodeColumns}, parent_step as step, parent_occurrence as occurrence from run
  where parent_id = ? and (parent_step, parent_occurrence) > (?, ?)
  order by parent_step, parent_occurrence limit ${pageRows}`;

export const removeSql = `delete from run where run = ? and ended_at is not null`;
export const owePurgeSql = `insert into removal (run) values (?)`;

type ChildNode = Node & { readonly step: string; readonly occurrence: string };

/** The statements of retention; the writes are each to be called inside a transaction. */
export class RetentionSql {
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#sql = prepare(db);
  }

  /** Ended at or before `endedBefore`, after the place of `last` in the order. */
  candidates(
    endedBefore: number,
    last: { readonly endedAt: number; readonly run: number } | undefined,
    { alsoArchived }: { alsoArchived: boolean },
  ): Candidate[] {
    const { endedAt, run } = last ?? { endedAt: Number.MIN_SAFE_INTEGER, run: 0 };
    return (alsoArchived ? this.#sql.allCandidates : this.#sql.candidates).all({
      endedBefore,
      endedAt,
      run,
    }) as Candidate[];
  }

  node(run: number): Node | undefined {
    return this.#sql.node.get(run) as Node | undefined;
  }

  nodeById(id: string): Node | undefined {
    return this.#sql.nodeById.get(id) as Node | undefined;
  }

  children(parentId: string, after: ChildNode | undefined): ChildNode[] {
    return this.#sql.children.all(parentId, after?.step ?? '', after?.occurrence ?? '') as ChildNode[];
  }

  countArchived(): number {
    return this.#sql.countArchived.get() as number;
  }

  /** Only what has ended is removed; answers how many there were. */
  remove(nodes: readonly Node[]): number {
    return nodes.filter(({ run }) => {
      if (this.#sql.remove.run(run).changes === 0) return false;
      this.#sql.owePurge.run(run);
      return true;
    }).length;
  }

  archive(nodes: readonly Node[], now: number): number {
    return nodes.filter(({ run }) => this.#sql.archive.run(now, run).changes > 0).length;
  }

  get owesPurge(): boolean {
    return this.#sql.owed.all(1).length > 0;
  }

  /** Removes what is left of removed runs, as much as one transaction may. */
  purge(): void {
    let rows = 0;
    let bytes = 0;
    for (const run of this.#sql.owed.all(mostRows) as number[]) {
      for (const table of [this.#sql.journal, this.#sql.inbox]) {
        const page = table.page.all(run, mostRows - rows) as { seq: number; bytes: number }[];
        let last: number | undefined;
        for (const row of page) {
          if (rows >= mostRows || (bytes > 0 && bytes + row.bytes > mostBytes)) break;
          last = row.seq;
          rows += 1;
          bytes += row.bytes;
        }
        if (last !== undefined) table.remove.run(run, last);
        if (rows >= mostRows || last !== page.at(-1)?.seq) return;
      }
      this.#sql.purged.run(run);
      rows += 1;
    }
  }
}

/** Collects a run and all that it owns, page by page, so that a large tree need not be read in one go. */
export class TreeWalk {
  /** A parent before its children. */
  readonly nodes: Node[];
  /** Something in the tree is unfinished, owed or stuck; the rest was not looked at. */
  isUnsettled = false;

  readonly #sql: RetentionSql;
  #index = 0;
  #last: ChildNode | undefined;

  constructor(sql: RetentionSql, root: Node) {
    this.#sql = sql;
    this.nodes = [root];
    this.isUnsettled = !isSettled(root);
  }

  /** Reads one page. @returns whether there is more to read */
  step(): boolean {
    const parent = this.nodes[this.#index];
    if (parent === undefined || this.isUnsettled) return false;
    const page = this.#sql.children(parent.id, this.#last);
    this.nodes.push(...page);
    this.isUnsettled = page.some((node) => !isSettled(node));
    this.#last = page.length < pageRows ? undefined : page.at(-1);
    if (this.#last === undefined) this.#index += 1;
    return true;
  }

  /** Whether a run that took over one of these may yet have to unwind the children that it took over. */
  get isNeeded(): boolean {
    return this.nodes.length > 1 && this.nodes.some(({ resumedBy }) => this.#isHeir(resumedBy));
  }

  #isHeir(id: string | null): boolean {
    const heir = id === null ? undefined : this.#sql.nodeById(id);
    return heir !== undefined && (!isSettled(heir) || this.#isHeir(heir.resumedBy));
  }
}

function prepare(db: Database) {
  const partsOf = (table: 'journal' | 'inbox') => ({
    page: db.prepare(
      `select seq, coalesce(octet_length(payload), 0) as bytes from ${table} where run = ? order by seq limit ?`,
    ),
    remove: db.prepare(`delete from ${table} where run = ? and seq <= ?`),
  });
  return {
    candidates: db.prepare(candidatesSql),
    allCandidates: db.prepare(allCandidatesSql),
    node: db.prepare(`select ${nodeColumns} from run where run = ?`),
    nodeById: db.prepare(`select ${nodeColumns} from run where id = ?`),
    children: db.prepare(childNodesSql),
    countArchived: db.prepare(`select count(*) from run where archived = 1 and ended_at is not null`).pluck(),
    remove: db.prepare(removeSql),
    archive: db.prepare(
      `update run set archived_at = ? where run = ? and ended_at is not null and archived_at is null`,
    ),
    owePurge: db.prepare(owePurgeSql),
    owed: db.prepare(`select run from removal order by run limit ?`).pluck(),
    purged: db.prepare(`delete from removal where run = ?`),
    journal: partsOf('journal'),
    inbox: partsOf('inbox'),
  };
}
