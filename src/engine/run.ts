import type { JsonValue } from '../common/index.js';
import type { RunError } from '../interpreter/index.js';
import type { RollbackStatus, RunRecord, RunStatus } from '../storage/index.js';
import type { WorkflowOutput } from './workflow-inputs.js';

/** A run as its users see it. Times are epoch milliseconds. */
export interface Run<Name extends string = string> {
  readonly id: string;
  readonly workflow: Name;
  readonly revision: number;
  readonly definitionHash: string;
  readonly key: string | null;
  readonly status: RunStatus;
  readonly rollbackStatus: RollbackStatus | null;
  readonly input: JsonValue;
  /** Null until it has completed, and where it gave none. */
  readonly output: WorkflowOutput<Name> | null;
  /** Why it failed. */
  readonly error: RunError | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** When it goes on, where it waits for a time. */
  readonly dueAt: number | null;
  /** The run that started this one. */
  readonly parentId: string | null;
  /** The failed run that this one took over, and the one that took this one over. */
  readonly resumedFrom: string | null;
  readonly resumedBy: string | null;
}

export function toRun<Name extends string = string>(record: RunRecord): Run<Name> {
  const { id, workflow, revision, definitionHash, key, status, rollbackStatus } = record;
  const { createdAt, startedAt, endedAt, parentId, resumedFrom, resumedBy } = record;
  return {
    id,
    workflow: workflow as Name,
    revision,
    definitionHash,
    key,
    status,
    rollbackStatus,
    input: JSON.parse(record.input) as JsonValue,
    output: record.output === null ? null : (JSON.parse(record.output) as WorkflowOutput<Name>),
    error: record.error === null ? null : (JSON.parse(record.error) as RunError),
    createdAt,
    startedAt,
    endedAt,
    // Of a leased run it is the expiry of its lease, which is the engine's business.
    dueAt: record.owner === null ? record.dueAt : null,
    parentId,
    resumedFrom,
    resumedBy,
  };
}
