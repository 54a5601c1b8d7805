import type { Database } from 'better-sqlite3';
import type { Firing, FiringResult, NewSchedule, ScheduleRecord } from '../contract.js';
import type { Queries } from './queries.js';
import type { Transitions } from './transitions.js';

/** The schedules of all workflows. The writes are each to be called inside a transaction. */
export class Schedules {
  readonly #sql: ReturnType<typeof prepare>;
  readonly #queries: Queries;
  readonly #transitions: Transitions;

  constructor(db: Database, queries: Queries, transitions: Transitions) {
    this.#sql = prepare(db);
    this.#queries = queries;
    this.#transitions = transitions;
  }

  list(workflows: readonly string[] | undefined): ScheduleRecord[] {
    const rows = (
      workflows === undefined ? this.#sql.all.all() : this.#sql.ofWorkflows.all(JSON.stringify(workflows))
    ) as ScheduleRow[];
    return rows.map(toRecord);
  }

  register(workflow: string, revision: number, schedules: readonly NewSchedule[], now: number): void {
    if (this.#sql.speak.run({ workflow, revision }).changes === 0) return;
    this.#sql.removeOthers.run(workflow, JSON.stringify(schedules.map(({ id }) => id)));
    for (const schedule of schedules) this.#sql.put.run({ ...schedule, workflow, revision, now });
    this.#transitions.concernedOthers = true;
  }

  fire({ workflow, id, at, nextAt, run }: Firing): FiringResult {
    const row = this.#sql.one.get(workflow, id) as ScheduleRow | undefined;
    if (row === undefined || row.paused === 1 || row.nextAt !== at || row.revision > run.revision) {
      return { kind: 'lost' };
    }
    const isFired = run.key !== null && this.#queries.runByKey(run.workflow, run.key) !== undefined;
    const record = isFired || this.#isHeldBack(toRecord(row)) ? undefined : this.#transitions.insert(run);
    this.#sql.move.run({ workflow, id, nextAt });
    this.#transitions.concernedOthers = true;
    return record === undefined ? { kind: 'skipped' } : { kind: 'fired', run: record };
  }

  /** `nextAt` undefined leaves it as it is. */
  pause(workflow: string, id: string, paused: boolean, nextAt: number | null | undefined): boolean {
    const isThere = this.#sql.pause.run({ workflow, id, paused: paused ? 1 : 0 }).changes > 0;
    if (isThere && nextAt !== undefined) this.#sql.move.run({ workflow, id, nextAt });
    if (isThere) this.#transitions.concernedOthers = true;
    return isThere;
  }

  /** By the overlap rule. */
  #isHeldBack({ workflow, id, overlap }: ScheduleRecord): boolean {
    if (overlap === 'allow') return false;
    return (overlap === 'skip' ? this.#sql.unfinished : this.#sql.pending).get(workflow, id) !== undefined;
  }
}

/** As the database has it. */
type ScheduleRow = Omit<ScheduleRecord, 'paused'> & { readonly paused: 0 | 1 };

function toRecord({ paused, ...row }: ScheduleRow): ScheduleRecord {
  return { ...row, paused: paused === 1 };
}

function prepare(db: Database) {
  const columns = `workflow, id, revision, cadence, timezone, input, overlap, next_at as nextAt, anchor_at as anchorAt,
    paused`;
  const isSame = `cadence = excluded.cadence and timezone is excluded.timezone`;
  const unfinished = `select 1 from run where workflow = ? and schedule_id = ? and ended_at is null`;
  return {
    all: db.prepare(`select ${columns} from schedule order by workflow, id`),
    ofWorkflows: db.prepare(
      `select ${columns} from schedule where workflow in (select value from json_each(?)) order by workflow, id`,
    ),
    one: db.prepare(`select ${columns} from schedule where workflow = ? and id = ?`),
    speak: db.prepare(
      `insert into schedule_revision (workflow, revision) values (@workflow, @revision)
       on conflict (workflow) do update set revision = excluded.revision where excluded.revision >= revision`,
    ),
    removeOthers: db.prepare(`delete from schedule where workflow = ? and id not in (select value from json_each(?))`),
    put: db.prepare(
      `insert into schedule (workflow, id, revision, cadence, timezone, input, overlap, next_at, anchor_at, paused)
       values (@workflow, @id, @revision, @cadence, @timezone, @input, @overlap, @nextAt, @now, 0)
       on conflict (workflow, id) do update set
         next_at = iif(${isSame}, next_at, excluded.next_at), anchor_at = iif(${isSame}, anchor_at, excluded.anchor_at),
         revision = excluded.revision, cadence = excluded.cadence, timezone = excluded.timezone,
         input = excluded.input, overlap = excluded.overlap`,
    ),
    move: db.prepare(`update schedule set next_at = @nextAt where workflow = @workflow and id = @id`),
    pause: db.prepare(`update schedule set paused = @paused where workflow = @workflow and id = @id`),
    unfinished: db.prepare(unfinished),
    pending: db.prepare(`${unfinished} and status = 'pending'`),
  };
}
