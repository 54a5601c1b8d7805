import { createHash } from 'node:crypto';
import type { NewRun, ParentPlace } from '../storage/index.js';

/**
 * Ids of runs that are started again in the same way get the same id, and with it the same idempotency keys, also where
 * a backup was put back that does not know of them yet.
 */

/** Of a child: by its parent and its place in it. */
export function childRunId({ id, step, occurrence }: ParentPlace): string {
  return idOf('child', id, step, occurrence);
}

/** Of the run that resumes another. */
export function resumedRunId(from: string): string {
  return idOf('resumed', from);
}

/**
 * Of a run with a key. The storage has a part in it: the same key in another database, of another customer or of a test,
 * is another run. Where a run that has lost its key to its successor still has the id, others follow.
 */
export function keyedRunId(storageId: string, workflow: string, key: string): Pick<NewRun, 'id' | 'nextId'> {
  const nextId = (attempt: number): string => idOf('key', storageId, workflow, key, String(attempt));
  return { id: nextId(0), nextId };
}

function idOf(...parts: readonly string[]): string {
  return `wf_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`;
}
