import type { RetentionQuery, RunRecord } from '../contract.js';
import { isSettled, isTerminal } from '../run-rules.js';
import type { RunTable, StoredRun } from './run-table.js';

/** All runs of the trees that a retention query may have, oldest end first. */
export function retainedNoMore(
  runs: RunTable,
  { endedBefore, statuses, limit }: RetentionQuery,
  { alsoArchived }: { alsoArchived: boolean },
): StoredRun[] {
  const isOld = ({ status, endedAt }: RunRecord): boolean =>
    isTerminal(status) && endedAt !== null && endedAt <= endedBefore;
  const isWanted = ({ status }: RunRecord): boolean =>
    statuses === undefined || (statuses as readonly string[]).includes(status);
  const roots = [...runs.all()]
    .filter(({ record }) => isOld(record) && isWanted(record) && (alsoArchived || record.archivedAt === null))
    .filter(({ record }) => record.parentId === null || runs.byId(record.parentId) === undefined)
    .sort((a, b) => (a.record.endedAt ?? 0) - (b.record.endedAt ?? 0) || a.record.run - b.record.run);
  const taken: StoredRun[] = [];
  for (const root of roots) {
    if (taken.length >= limit) break;
    const tree = runs.family(root);
    if (!tree.every(({ record }) => isSettled(record)) || isNeeded(runs, tree)) continue;
    if (taken.length > 0 && taken.length + tree.length > limit) break;
    taken.push(...tree);
  }
  return taken;
}

/** A run that was taken over: whoever has its results may yet have to unwind the children they came from. */
function isNeeded(runs: RunTable, tree: readonly StoredRun[]): boolean {
  return tree.length > 1 && tree.some(({ record }) => isHeir(runs, record.resumedBy));
}

function isHeir(runs: RunTable, id: string | null): boolean {
  const heir = id === null ? undefined : runs.byId(id)?.record;
  return heir !== undefined && (!isSettled(heir) || isHeir(runs, heir.resumedBy));
}
