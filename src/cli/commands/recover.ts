import { existsSync } from 'node:fs';
import type { Definition } from '../../definition/index.js';
import { createEngine } from '../../engine/index.js';
import type { HandlerRegistry } from '../../handlers/index.js';
import type { Storage } from '../../storage/index.js';
import { withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { type Io, pathOf } from '../io.js';
import { projectDefinitions } from '../project-definitions.js';
import { neededHandlers } from '../project-handlers.js';
import { definitionsSetting } from '../settings.js';
import { recoveryLines } from '../recovery-text.js';
import { columnsOf, hanging, say } from '../terminal-text.js';
import { oneLine, printedJson } from '../text.js';

export interface RecoverOptions {
  readonly json: boolean;
  readonly db?: string;
  readonly handlers?: string;
  readonly definitions?: string;
}

/** Takes over what dead engines left behind, and tells what nobody will drive. Drives nothing itself. */
export async function recover(options: RecoverOptions, io: Io): Promise<ExitCode> {
  const { json, db, handlers: handlersPath, definitions: folder } = options;
  const handlers = await neededHandlers(handlersPath, io);
  const definitions = await knownDefinitions(folder, handlers, io);
  const recovery = await withExistingStorage(db, io, async (storage) => {
    const engine = createEngine({
      storage,
      definitions: await withoutConflict(definitions, storage, io),
      clock: io.clock,
      ...(handlers !== undefined && { handlers }),
    });
    try {
      return await engine.recover();
    } finally {
      await engine.stop();
    }
  });
  if (json) io.data(`${printedJson({ version: 1, ...recovery })}\n`);
  else
    io.out(lines(recoveryLines(recovery, { db, handlers: handlersPath, definitions: folder }), columnsOf(io, 'out')));
  return exitCodes.fine;
}

async function knownDefinitions(
  flag: string | undefined,
  handlers: HandlerRegistry | undefined,
  io: Io,
): Promise<Definition[]> {
  const folder = definitionsSetting(flag, io);
  const { path, givenBy } = folder;
  if (givenBy !== undefined || existsSync(pathOf(io, path))) return projectDefinitions(folder, undefined, handlers, io);
  say(io, `note: there is no folder \`${path}\` here, so no run has its definition; --definitions names another`);
  return [];
}

/** Runs on other content of the same revision keep no one from recovering: they are told to have no definition. */
async function withoutConflict(definitions: readonly Definition[], storage: Storage, io: Io): Promise<Definition[]> {
  const usable: Definition[] = [];
  for (const definition of definitions) {
    const { name, revision, hash, source } = definition;
    const others = await storage.unfinishedHashes(name, revision, hash);
    if (others.length === 0) usable.push(definition);
    else {
      say(
        io,
        `note: unfinished runs of ${name} revision ${revision} have another content than ${source?.name ?? 'its flow'}, ` +
          'which is left out; give it a higher revision',
      );
    }
  }
  return usable;
}

function lines(each: readonly string[], columns: number | undefined): string {
  return each.map((line) => `${hanging(oneLine(line), columns, 2)}\n`).join('');
}
