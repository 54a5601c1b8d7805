import type { RunRecord, Storage } from '../storage/index.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';

/**
 * The run that an id or a key means.
 *
 * @param workflow whose key it is, where several workflows have it
 * @throws CommandFailure (not found; usage where the key is ambiguous)
 */
export async function findRun(storage: Storage, idOrKey: string, workflow: string | undefined): Promise<RunRecord> {
  if (!/\S/.test(idOrKey)) {
    const message = 'the id or key of a run must not be empty; is the variable that it comes from set?';
    throw new CommandFailure(exitCodes.usage, message);
  }
  const byId = await storage.getRun(idOrKey);
  if (byId !== undefined) return byId;
  const found =
    workflow === undefined ? await runsWithKey(storage, idOrKey) : [await storage.getRunByKey(workflow, idOrKey)];
  const [run, another] = found;
  if (another !== undefined) {
    const workflows = found.map((each) => each?.workflow).join(', ');
    throw new CommandFailure(exitCodes.usage, `runs of ${workflows} have the key ${idOrKey}; say which by --workflow`);
  }
  if (run !== undefined) return run;
  throw new CommandFailure(
    exitCodes.notFound,
    `there is no run with the id or key ${idOrKey}; \`runsheet list\` shows those there are`,
  );
}

/** A key is unique within a workflow only, so all of them are looked through, archived runs too. */
async function runsWithKey(storage: Storage, key: string): Promise<RunRecord[]> {
  const found: RunRecord[] = [];
  for (const archived of [false, true]) {
    let cursor: string | undefined;
    do {
      const page = await storage.listRuns({ limit: 1000, archived, ...(cursor !== undefined && { cursor }) });
      found.push(...page.runs.filter((run) => run.key === key));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return found;
}

/** The run that owns this one, at any remove; itself if none does. */
export async function rootOf(storage: Storage, run: RunRecord): Promise<RunRecord> {
  let root = run;
  while (root.parentId !== null) {
    const parent = await storage.getRun(root.parentId);
    // An orphan goes on by itself.
    if (parent === undefined) break;
    root = parent;
  }
  return root;
}

/** A run and those that it owns, at any depth. */
export async function familyOf(storage: Storage, run: RunRecord): Promise<RunRecord[]> {
  const family = [run];
  // Grows while it is walked through.
  for (const { id } of family) family.push(...(await storage.listChildren(id)));
  return family;
}
