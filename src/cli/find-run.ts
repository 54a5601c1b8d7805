import type { RunRecord, Storage } from '../storage/index.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import { firstOf } from './text.js';

/** What an id begins with, and at least four of its digits; a whole one has 32. */
const idPrefix = /^wf_[0-9a-f]{4,31}$/;

/** Of ids that begin alike, so many are named. */
const mostCandidates = 5;

/**
 * The run that an id, the beginning of one, or a key means. A key comes before the beginning of an id.
 *
 * @param workflow whose key it is, where several workflows have it
 * @throws CommandFailure (not found; usage where the key or the beginning of an id is ambiguous)
 */
export async function findRun(storage: Storage, idOrKey: string, workflow: string | undefined): Promise<RunRecord> {
  if (!/\S/.test(idOrKey)) {
    const message = 'the id or key of a run must not be empty; is the variable that it comes from set?';
    throw new CommandFailure(exitCodes.usage, message);
  }
  const byId = await storage.getRun(idOrKey);
  if (byId !== undefined) return byId;
  const found =
    workflow === undefined
      ? await runsThat(storage, (each) => each.key === idOrKey)
      : [await storage.getRunByKey(workflow, idOrKey)];
  const [run, another] = found;
  if (another !== undefined) {
    const workflows = found.map((each) => each?.workflow).join(', ');
    throw new CommandFailure(exitCodes.usage, `runs of ${workflows} have the key ${idOrKey}; say which by --workflow`);
  }
  if (run !== undefined) return run;
  if (idPrefix.test(idOrKey)) {
    const begun = await runsThat(storage, ({ id }) => id.startsWith(idOrKey));
    const [only, other] = begun;
    if (only !== undefined && other === undefined) return only;
    if (other !== undefined) throw ambiguousId(idOrKey, begun);
  }
  throw new CommandFailure(
    exitCodes.notFound,
    `there is no run with the id or key ${idOrKey}; \`runsheet list\` shows those there are`,
  );
}

function ambiguousId(prefix: string, runs: readonly RunRecord[]): CommandFailure {
  const candidates = runs.map(({ id, workflow, status }) => `  ${id}  ${workflow}, ${status}`);
  return new CommandFailure(
    exitCodes.usage,
    `the ids of ${runs.length} runs begin with ${prefix}; give more of the one that is meant:`,
    { details: firstOf(candidates, mostCandidates) },
  );
}

/** A key is unique within a workflow only, so all of them are looked through, archived runs too. */
async function runsThat(storage: Storage, isMeant: (run: RunRecord) => boolean): Promise<RunRecord[]> {
  const found: RunRecord[] = [];
  for (const archived of [false, true]) {
    let cursor: string | undefined;
    do {
      const page = await storage.listRuns({ limit: 1000, archived, ...(cursor !== undefined && { cursor }) });
      found.push(...page.runs.filter(isMeant));
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
