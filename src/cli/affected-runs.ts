import type { Definition } from '../definition/index.js';
import { type Storage, openStatuses } from '../storage/index.js';

/** Unfinished runs of a workflow that are on another content than a definition's. */
export interface AffectedRuns {
  readonly hash: string;
  readonly revision: number;
  readonly runs: readonly string[];
  /** They are on the same revision: the definition is refused as long as they are unfinished. */
  readonly conflict: boolean;
}

/** By the content that they are on, in order of its revision. */
export async function affectedRuns(storage: Storage, { name, revision, hash }: Definition): Promise<AffectedRuns[]> {
  const byHash = new Map<string, { revision: number; runs: string[] }>();
  let cursor: string | undefined;
  do {
    const query = { workflow: name, statuses: openStatuses, limit: 1000, ...(cursor !== undefined && { cursor }) };
    const page = await storage.listRuns(query);
    for (const run of page.runs) {
      if (run.definitionHash === hash) continue;
      const group = byHash.get(run.definitionHash) ?? { revision: run.revision, runs: [] };
      group.runs.push(run.id);
      byHash.set(run.definitionHash, group);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return [...byHash]
    .map(([other, group]) => ({ hash: other, ...group, conflict: group.revision === revision }))
    .sort((a, b) => a.revision - b.revision);
}
