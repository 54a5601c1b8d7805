import { existsSync } from 'node:fs';
import { type Definition, definitionFromCanonical, diffDefinitions } from '../../definition/index.js';
import type { Storage } from '../../storage/index.js';
import { type AffectedRuns, affectedRuns } from '../affected-runs.js';
import { validDefinition } from '../check-flow.js';
import { databasePath, withExistingStorage } from '../database.js';
import { affectedText, diffText } from '../diff-text.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { readFlows } from '../flow-files.js';
import type { Io } from '../io.js';
import { columnsOf, renderOptions, say } from '../terminal-text.js';
import { printedJson } from '../text.js';

export interface DiffOptions {
  readonly json: boolean;
  readonly db?: string;
}

/**
 * Says what changed in meaning from one flow to another, or from what is stored to a flow, and which unfinished runs
 * that touches. Needs no handlers. A conflict with them is its own exit code, for scripts that deploy.
 */
export async function diff(first: string, second: string | undefined, options: DiffOptions, io: Io): Promise<ExitCode> {
  const after = await flowAt(second ?? first, io);
  const isNeeded = second === undefined || options.db !== undefined;
  const hasDatabase = existsSync(databasePath(options.db, io));
  const { stored, affected } =
    isNeeded || hasDatabase
      ? await withExistingStorage(options.db, io, async (storage) => ({
          stored: second === undefined ? await storedDefinition(storage, after.name) : undefined,
          affected: await affectedRuns(storage, after),
        }))
      : { stored: undefined, affected: undefined };
  const before = stored ?? (await flowAt(first, io));
  show(before, after, affected, options, io);
  return affected?.some(({ conflict }) => conflict) === true ? exitCodes.conflict : exitCodes.fine;
}

function show(
  before: Definition,
  after: Definition,
  affected: readonly AffectedRuns[] | undefined,
  { json, db }: DiffOptions,
  io: Io,
): void {
  const found = diffDefinitions(before, after);
  if (json) {
    const sides = { before: identityOf(before), after: identityOf(after) };
    io.data(`${printedJson({ version: 1, ...found, ...sides, ...(affected && { affected }) })}\n`);
    return;
  }
  io.out(diffText(before, after, found, renderOptions(io, 'out')));
  if (affected !== undefined) io.out(affectedText(after, affected, { db }, columnsOf(io, 'out')));
  else if (!found.same && before.name === after.name && before.revision === after.revision) {
    say(
      io,
      `note: there is no database to look for unfinished runs of revision ${after.revision}; raise \`revision\` if there may be any`,
    );
  }
}

function identityOf({ name, revision, hash }: Definition): { name: string; revision: number; hash: string } {
  return { name, revision, hash };
}

async function flowAt(path: string, io: Io): Promise<Definition> {
  const [source, another] = await readFlows([path], io);
  if (source === undefined || another !== undefined) {
    throw new CommandFailure(exitCodes.usage, `${path} is a folder; give the path of one flow`);
  }
  return validDefinition(source, undefined, io);
}

/** What the newest run of the workflow is on. */
async function storedDefinition(storage: Storage, workflow: string): Promise<Definition> {
  for (const archived of [false, true]) {
    const { runs } = await storage.listRuns({ workflow, limit: 1, archived });
    const stored = runs[0] === undefined ? undefined : await storage.readDefinition(runs[0].definitionHash);
    if (stored !== undefined) return definitionFromCanonical(stored.document);
  }
  throw new CommandFailure(
    exitCodes.notFound,
    `no run of ${workflow} is stored, so there is nothing to compare with; give two flows`,
  );
}
