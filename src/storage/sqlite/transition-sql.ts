import type { Database, Statement } from 'better-sqlite3';
import { owePurgeSql, removeSql } from './retention-sql.js';
import { familySql, runColumns } from './queries.js';

/** The head of one definition's queue; exported so that a test can ask SQLite for its plan. */
export const headSql = `select run, workflow, status, due_at as dueAt, owner, interruptions from run
  where definition_hash = ? and suspect = ? and ended_at is null and due_at <= ? order by due_at, run limit 1`;

/** The same, among one run and those that it owns. */
export const familyHeadSql = `${familySql}
  select run, workflow, status, due_at as dueAt, owner, interruptions from family cross join run on run.id = family.id
  where definition_hash = ? and suspect = ? and ended_at is null and due_at <= ? order by due_at, run limit 1`;

/** Whether a suspect is due, of any definition; by the condition of its index. */
export const suspectDueSql = `select 1 from run where interruptions >= 3 and ended_at is null and due_at <= ? limit 1`;

export const countLeasedSql = `select count(*) from run where workflow = ? and lease_expires_at > ?`;

/** Values are bound by place where a statement is run for every run: by name costs several times as much. */
const forRows = {
  setLimit: `insert into workflow_limit (workflow, revision, most_runs) values (?, ?, ?)
       on conflict (workflow) do update set revision = excluded.revision, most_runs = excluded.most_runs
       where excluded.revision >= revision`,
  storeDefinition: `insert into definition (hash, workflow, revision, document, source, stored_at) values (?, ?, ?, ?, ?, ?)
       on conflict (hash) do nothing`,
  insertRun: `insert into run (id, workflow, revision, definition_hash, key, status, input, created_at, due_at, owner, epoch,
         lease_expires_at, started_at, queued_at, inbox_seq, parent_id, parent_step, parent_occurrence, resumed_from, schedule_id)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)`,
  head: headSql,
  familyHead: familyHeadSql,
  lease: `update run set status = @status, owner = @owner, epoch = epoch + 1, lease_expires_at = @leaseExpiresAt,
         due_at = @leaseExpiresAt,
         queued_at = case when owner is null then due_at else coalesce(queued_at, due_at) end, started_at = coalesce(started_at, @now), interruptions = @interruptions
       where run = @run returning ${runColumns}`,
  renew: `update run set lease_expires_at = @expiresAt, due_at = @expiresAt
       where run = @run and owner = @owner and epoch = @epoch and (
         lease_expires_at > @now
         or (select count(*) from run as other where other.workflow = run.workflow and other.lease_expires_at > @now)
           < coalesce((select most_runs from workflow_limit where workflow = run.workflow), 9e15)
       )`,
  release: `update run set owner = null, lease_expires_at = null, due_at = min(coalesce(queued_at, @now), @now)
       where run = @run and owner = @owner and epoch = @epoch`,
  leasedBy: `select run, id, status, interruptions from run where lease_expires_at is not null and owner = ?`,
  interrupt: `update run set owner = null, lease_expires_at = null, interruptions = @interruptions,
         due_at = case when @delayMs = 0 then min(coalesce(queued_at, @now), @now) else @now + @delayMs end
       where run = @run`,
  requeue: `update run set due_at = queued_at where lease_expires_at <= ? and queued_at < due_at`,
  progress: `update run set interruptions = 0 where run = ? and interruptions > 0`,
  fence: `select owner, epoch, inbox_seq as inboxSeq,
         (select coalesce(max(seq), 0) from journal where journal.run = run.run) as lastSeq
       from run where run = ?`,
  insertEntry: `insert into journal (run, seq, kind, step, occurrence, aspect, at, payload) values (?, ?, ?, ?, ?, ?, ?, ?)`,
  park: `update run set status = @status, due_at = @dueAt, rollback_status = coalesce(@rollbackStatus, rollback_status),
         owner = null, lease_expires_at = null
       where run = @run`,
  end: `update run set status = ?, output = ?, error = ?, rollback_status = ?, ended_at = ?,
         due_at = null, owner = null, lease_expires_at = null
       where run = ?`,
  setStatus: `update run set status = @status, rollback_status = coalesce(@rollbackStatus, rollback_status),
         error = coalesce(@error, error)
       where run = @run`,
  reopen: `update run set status = 'compensating', rollback_status = 'owed', due_at = @dueAt, ended_at = null,
         archived_at = null
       where run = @run`,
  passKey: `update run set key = null, resumed_by = @resumedBy where run = @run`,
  remove: removeSql,
  owePurge: owePurgeSql,
  insertMessage: `insert into inbox (run, seq, kind, name, payload, at) values (?, ?, ?, ?, ?, ?)`,
};

const forSingleValues = {
  suspectDue: suspectDueSql,
  countLeased: countLeasedSql,
  limit: `select most_runs from workflow_limit where workflow = ?`,
  unfinishedRun: `select run from run where id = ? and ended_at is null`,
  raiseInbox: `update run set inbox_seq = inbox_seq + 1,
           due_at = case when owner is null then min(coalesce(due_at, @at), @at) else due_at end
         where run = @run returning inbox_seq`,
};

export type TransitionStatements = Readonly<Record<keyof typeof forRows | keyof typeof forSingleValues, Statement>>;

export function prepareTransitions(db: Database): TransitionStatements {
  const rows = Object.entries(forRows).map(([name, sql]) => [name, db.prepare(sql)] as const);
  const values = Object.entries(forSingleValues).map(([name, sql]) => [name, db.prepare(sql).pluck()] as const);
  return Object.fromEntries([...rows, ...values]) as TransitionStatements;
}
