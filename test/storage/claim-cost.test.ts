import Database from 'better-sqlite3';
import { beforeAll, afterAll, describe, expect, test } from 'vitest';
import { migrate } from '../../src/storage/sqlite/schema.js';
import { Queries, childrenSql, familyDueSql, familySql } from '../../src/storage/sqlite/queries.js';
import { allCandidatesSql, candidatesSql, childNodesSql } from '../../src/storage/sqlite/retention-sql.js';
import { SurveyQueries, openParentsSql } from '../../src/storage/sqlite/survey.js';
import { countLeasedSql, familyHeadSql, headSql, suspectDueSql } from '../../src/storage/sqlite/transition-sql.js';
import { Transitions } from '../../src/storage/sqlite/transitions.js';

const insertSql = `insert into run
  (id, workflow, revision, definition_hash, status, input, created_at, due_at, ended_at, epoch, inbox_seq)
  values (?, ?, 1, ?, ?, '{}', 0, ?, ?, 0, 0)`;

const executed: string[] = [];

/** So many runs: a quarter each sleeping until later, waiting without end, due but of a full workflow, and ended. */
function databaseOf(count: number): Database.Database {
  const db = new Database(':memory:', { verbose: (sql) => executed.push(String(sql)) });
  migrate(db, ':memory:');
  const insert = db.prepare(insertSql);
  db.exec('begin');
  for (let index = 0; index < count; index += 1) {
    const kind = index % 4;
    const [workflow, hash] = kind === 2 ? ['full', 'hash-full'] : ['mail', 'hash-mail'];
    const dueAt = [1_000_000 + index, null, index, null][kind];
    const status = ['sleeping', 'waiting', 'pending', 'completed'][kind];
    insert.run(`wf_${index}`, workflow, hash, status, dueAt, kind === 3 ? 1 : null);
  }
  db.exec('commit');
  return db;
}

const claim = { owner: 'engine-a', limit: 1, now: 900_000, leaseExpiresAt: 2_000_000 };

/** Claims by name, of runs that are due beside those of a full workflow; gives how long it took, in milliseconds. */
function claimsOn(db: Database.Database): (id: string) => number {
  const transitions = new Transitions(db, new Queries(db));
  const insert = db.prepare(insertSql);
  transitions.setLimit('full', 1, 0);
  return (id) => {
    insert.run(id, 'mail', 'hash-mail', 'pending', 500_000, null);
    const began = performance.now();
    const claimed = transitions.claim({ ...claim, hashes: ['hash-full', 'hash-mail'], alone: true });
    const took = performance.now() - began;
    expect(claimed.map((run) => run.id)).toEqual([id]);
    return took;
  };
}

/** Behind many runs of every kind a claim reads its own rows alone. */
describe('with 100,000 open runs', () => {
  const count = 100_000;
  let db: Database.Database;
  beforeAll(() => {
    db = databaseOf(count);
  });
  afterAll(() => db.close());

  function planOf(sql: string, ...values: unknown[]): string {
    const rows = db.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
    return rows.map(({ detail }) => detail).join('; ');
  }

  test('the head of a definition’s queue is one probe of its index, without sorting', () => {
    expect(planOf(headSql, 'hash-mail', 0, 5)).toBe(
      'SEARCH run USING INDEX run_due (definition_hash=? AND suspect=? AND due_at<?)',
    );
  });

  test('that no suspect is due is found out by one probe, for all definitions', () => {
    expect(planOf(suspectDueSql, 5)).toBe('SEARCH run USING INDEX run_suspect (due_at<?)');
  });

  test('a run’s children are found through the index of their places', () => {
    expect(planOf(childrenSql, 'wf_1')).toMatch(/^SEARCH run USING INDEX run_parent \(parent_id=\?\)/);
  });

  test('a run and those that it owns are found through the indexes of places and ids', () => {
    for (const sql of [`${familySql} select * from family`, familyDueSql, familyHeadSql]) {
      const plan = planOf(sql, ...['wf_1', '[]', 0, 5].slice(0, sql.split('?').length - 1));
      expect(plan).toMatch(/SCAN family; SEARCH child USING (COVERING )?INDEX run_parent \(parent_id=\?\)/);
      expect(plan).not.toMatch(/SCAN (run|child)/);
    }
  });

  test('a workflow’s places are counted over leased rows alone, in the index', () => {
    expect(planOf(countLeasedSql, 'full', 5)).toBe(
      'SEARCH run USING COVERING INDEX run_leased (workflow=? AND lease_expires_at>?)',
    );
  });

  test('retention reads what has ended in its order, and children by their places, in pages without sorting', () => {
    const ended = 'SEARCH run USING INDEX run_ended (archived=? AND ended_at>? AND ended_at<?)';
    const parent = 'SEARCH parent USING COVERING INDEX sqlite_autoindex_run_1 (id=?)';
    const page = { endedBefore: 9, endedAt: 0, run: 0 };
    expect(planOf(candidatesSql, page)).toBe(`${ended}; CORRELATED SCALAR SUBQUERY 1; ${parent}`);
    expect(planOf(allCandidatesSql, page)).toMatch(/^MERGE \(UNION ALL\)/);
    expect(planOf(allCandidatesSql, page)).not.toMatch(/SCAN|TEMP B-TREE/);
    expect(planOf(childNodesSql, 'wf_1', '', '')).toBe(
      'SEARCH run USING INDEX run_parent (parent_id=? AND (parent_step,parent_occurrence)>(?,?))',
    );
  });

  /** Every statement that this executes finds its runs through an index. Gives the statements. */
  function expectProbes(act: () => void): string[] {
    executed.length = 0;
    act();
    const statements = executed.splice(0);
    const read = statements.filter((sql) => /^\s*(select|with|update)\b/i.test(sql));
    expect(read).not.toEqual([]);
    // The partial index `run_leased` holds only the runs that are being executed.
    for (const sql of new Set(read)) expect(planOf(sql), sql).not.toMatch(/SCAN run\b(?! USING INDEX run_leased)/);
    return statements;
  }

  test('a survey counts parked runs in the index, and asks for orphans once a parent', () => {
    expect(planOf(openParentsSql, '', 5)).toBe('SEARCH run USING INDEX run_open_child (parent_id>?)');
    const survey = new SurveyQueries(db);
    expectProbes(() => {
      expect(survey.openHashes()).toEqual(['hash-full', 'hash-mail']);
      expect(survey.countParked('hash-mail', 5)).toBe(count / 2);
    });
  });

  test('a claim costs about as much as with a hundred', () => {
    const [large, small] = [claimsOn(db), claimsOn(databaseOf(100))];
    expectProbes(() => large('wf_probed'));
    const rounds = Array.from(
      { length: 51 },
      (_, round) => [large(`wf_due_${round}`), small(`wf_due_${round}`)] as const,
    );
    const median = (times: number[]): number => times.sort((a, b) => a - b)[25] ?? 0;
    // To go through the 25,000 due runs of the full workflow takes 300 times as long.
    expect(median(rounds.map(([time]) => time)) / median(rounds.map(([, time]) => time))).toBeLessThan(30);
  });

  test('an engine of fifty definitions finds out by one probe for each that none of their runs is due', () => {
    const transitions = new Transitions(db, new Queries(db));
    const hashes = Array.from({ length: 50 }, (_, index) => `hash-idle-${index}`);
    for (const alone of [true, false]) {
      const statements = expectProbes(() =>
        expect(transitions.claim({ ...claim, hashes, alone, overdueSince: 800_000 })).toEqual([]),
      );
      // One for those that have to be executed alone, and one for leases that have expired.
      expect(statements).toHaveLength(hashes.length + 2);
    }
  });

  test('the next due time and the definitions in use are found without reading the runs', () => {
    const queries = new Queries(db);
    expectProbes(() => {
      expect(queries.nextDueAt(['hash-mail', 'hash-none'])).toBe(1_000_000);
      expect(queries.unfinishedHashes('full', 1, 'hash-other')).toEqual(['hash-full']);
    });
  });
});
