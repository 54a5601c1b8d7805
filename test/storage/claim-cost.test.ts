import Database from 'better-sqlite3';
import { beforeAll, afterAll, describe, expect, test } from 'vitest';
import { migrate } from '../../src/storage/sqlite/schema.js';
import { Queries, childrenSql, familyDueSql, familySql } from '../../src/storage/sqlite/queries.js';
import { allCandidatesSql, candidatesSql, childNodesSql } from '../../src/storage/sqlite/retention-sql.js';
import { SurveyQueries, openParentsSql } from '../../src/storage/sqlite/survey.js';
import { countLeasedSql, familyHeadSql, headSql, suspectDueSql } from '../../src/storage/sqlite/transition-sql.js';
import { Transitions } from '../../src/storage/sqlite/transitions.js';

/** Behind many runs of every kind a claim reads its own rows alone. */
describe('with 100,000 open runs', () => {
  const db = new Database(':memory:');
  const count = 100_000;

  beforeAll(() => {
    migrate(db, ':memory:');
    const insert = db.prepare(
      `insert into run (id, workflow, revision, definition_hash, status, input, created_at, due_at, ended_at, epoch, inbox_seq)
       values (?, ?, 1, ?, ?, '{}', 0, ?, ?, 0, 0)`,
    );
    db.exec('begin');
    for (let index = 0; index < count; index += 1) {
      // Sleeping until later, waiting without end, due but of a full workflow, and ended.
      const kind = index % 4;
      const [workflow, hash] = kind === 2 ? ['full', 'hash-full'] : ['mail', 'hash-mail'];
      const dueAt = [1_000_000 + index, null, index, null][kind];
      const status = ['sleeping', 'waiting', 'pending', 'completed'][kind];
      insert.run(`wf_${index}`, workflow, hash, status, dueAt, kind === 3 ? 1 : null);
    }
    db.exec('commit');
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

  test('a survey counts parked runs in the index, and asks for orphans once a parent', () => {
    expect(planOf(openParentsSql, '', 5)).toBe('SEARCH run USING INDEX run_open_child (parent_id>?)');
    const survey = new SurveyQueries(db);
    const durations = Array.from({ length: 9 }, () => {
      const began = performance.now();
      expect(survey.openHashes()).toEqual(['hash-full', 'hash-mail']);
      expect(survey.countParked('hash-mail', 5)).toBe(count / 2);
      return performance.now() - began;
    });
    expect(durations.sort((a, b) => a - b)[4]).toBeLessThan(25);
  });

  test('a claim takes at most a millisecond, beside 25,000 due runs of a full workflow', () => {
    const transitions = new Transitions(db, new Queries(db));
    const insert = db.prepare(
      `insert into run (id, workflow, revision, definition_hash, status, input, created_at, due_at, epoch, inbox_seq)
       values (?, 'mail', 1, 'hash-mail', 'pending', '{}', 0, ?, 0, 0)`,
    );
    const rounds = 300;
    for (let round = 0; round < rounds; round += 1) insert.run(`wf_due_${round}`, 500_000 + round);
    const claim = {
      owner: 'engine-a',
      hashes: ['hash-full', 'hash-mail'],
      limit: 1,
      now: 900_000,
      leaseExpiresAt: 2_000_000,
      alone: true,
    };
    transitions.setLimit('full', 1, 0);
    const durations: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const began = performance.now();
      const claimed = transitions.claim(claim);
      durations.push(performance.now() - began);
      expect(claimed.map(({ id }) => id)).toEqual([`wf_due_${round}`]);
    }
    // The median, as the machine may be busy with something else at times.
    expect(durations.sort((a, b) => a - b)[rounds / 2]).toBeLessThan(1);
  });

  test('an engine of fifty definitions finds out in half a millisecond that none of their runs is due', () => {
    const transitions = new Transitions(db, new Queries(db));
    const hashes = Array.from({ length: 50 }, (_, index) => `hash-idle-${index}`);
    const times = { now: 900_000, leaseExpiresAt: 2_000_000, overdueSince: 800_000 };
    const durations = Array.from({ length: 200 }, (_, round) => {
      const began = performance.now();
      expect(transitions.claim({ owner: 'engine-a', hashes, limit: 1, alone: round % 2 === 0, ...times })).toEqual([]);
      return performance.now() - began;
    });
    expect(durations.sort((a, b) => a - b)[100]).toBeLessThan(0.5);
  });

  test('the next due time and the definitions in use are found without reading the runs', () => {
    const queries = new Queries(db);
    const durations = Array.from({ length: 9 }, () => {
      const began = performance.now();
      expect(queries.nextDueAt(['hash-mail', 'hash-none'])).toBe(1_000_000);
      expect(queries.unfinishedHashes('full', 1, 'hash-other')).toEqual(['hash-full']);
      return performance.now() - began;
    });
    expect(durations.sort((a, b) => a - b)[4]).toBeLessThan(5);
  });
});
