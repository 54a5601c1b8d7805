import type { NewRun, RunRecord } from './contract.js';

/** A run as it is inserted, under the number that its storage gives it. */
export function pendingRecord(run: number, given: NewRun, resumedFrom: string | null): RunRecord {
  const { id, workflow, revision, definitionHash, key, input, createdAt, dueAt, parent, scheduleId } = given;
  return {
    run,
    id,
    workflow,
    revision,
    definitionHash,
    key,
    status: 'pending',
    rollbackStatus: null,
    input,
    output: null,
    error: null,
    createdAt,
    startedAt: null,
    endedAt: null,
    dueAt,
    owner: null,
    epoch: 0,
    leaseExpiresAt: null,
    inboxSeq: 0,
    parentId: parent?.id ?? null,
    parentStep: parent?.step ?? null,
    parentOccurrence: parent?.occurrence ?? null,
    resumedFrom,
    resumedBy: null,
    interruptions: 0,
    scheduleId: scheduleId ?? null,
    archivedAt: null,
  };
}
