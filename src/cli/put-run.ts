import { type Engine, type Run, createEngine } from '../engine/index.js';
import { storageOf } from './database.js';
import { type ExitCode, exitCodes } from './exit-codes.js';
import { findDefinitions } from './find-flow.js';
import type { Io } from './io.js';
import { continueCommand } from './next-commands.js';
import { neededHandlers } from './project-handlers.js';
import { definitionsSetting } from './settings.js';
import { propose, say } from './terminal-text.js';
import { printedJson, timeText } from './text.js';

/** What the commands share that put a run into the database and drive nothing. */
export interface PutOptions {
  /** Print the run instead of its id. */
  readonly json: boolean;
  readonly db?: string;
  readonly handlers?: string;
  readonly definitions?: string;
}

/**
 * Has an engine that knows the flow, by path or name, begin a run; prints its id, and the command that would drive it.
 *
 * @param begin is given the name of the workflow
 */
export async function putRun(
  target: string,
  { json, db, handlers: handlersPath, definitions: folder }: PutOptions,
  io: Io,
  begin: (engine: Engine, workflow: string) => Promise<Run>,
): Promise<ExitCode> {
  const handlers = await neededHandlers(handlersPath, io);
  const definitions = await findDefinitions(target, definitionsSetting(folder, io), handlers, io);
  const [{ name } = { name: target }] = definitions;
  const engine = createEngine({
    storage: await storageOf(db, io),
    definitions,
    clock: io.clock,
    ...(handlers !== undefined && { handlers }),
  });
  try {
    const run = await begin(engine, name);
    if (json) io.data(`${printedJson({ version: 1, run })}\n`);
    else io.out(`${run.id}\n`);
    const until = run.dueAt !== null && run.dueAt > io.clock.now() ? ` until ${timeText(run.dueAt)}` : '';
    say(io, `${run.id} is ${run.status}${until}`);
    if (run.endedAt === null) {
      say(io, 'unless a worker drives it, go on by');
      propose(io, [continueCommand(run, { target, db, handlers: handlersPath, definitions: folder })]);
    }
    return exitCodes.fine;
  } finally {
    await engine.close();
  }
}
