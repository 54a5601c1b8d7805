import { createEngine } from '../../engine/index.js';
import { storageOf } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { findDefinitions } from '../find-flow.js';
import type { Io } from '../io.js';
import { readJsonInput } from '../json-input.js';
import { continueCommand } from '../next-commands.js';
import { projectHandlers } from '../project-handlers.js';
import { definitionsSetting } from '../settings.js';
import { propose, say } from '../terminal-text.js';
import { timeText } from '../text.js';
import { timeOption } from '../time-options.js';

export interface StartOptions {
  readonly input?: string;
  readonly key?: string;
  /** A duration from now, or an ISO time. */
  readonly at?: string;
  readonly json: boolean;
  readonly db?: string;
  readonly handlers?: string;
  readonly definitions?: string;
}

/** Puts a run into the database for a worker to drive, and prints its id. */
export async function start(target: string, options: StartOptions, io: Io): Promise<ExitCode> {
  const { key, json, db, handlers: handlersPath } = options;
  const input = options.input === undefined ? {} : await readJsonInput('--input', options.input, io);
  const at = options.at === undefined ? undefined : timeOption('--at', options.at, io.clock.now(), 'from now');
  const handlers = await projectHandlers(handlersPath, io);
  const definitions = await findDefinitions(target, definitionsSetting(options.definitions, io), handlers, io);
  const [{ name } = { name: target }] = definitions;

  const engine = createEngine({
    storage: await storageOf(db, io),
    definitions,
    clock: io.clock,
    ...(handlers !== undefined && { handlers }),
  });
  try {
    const run = await engine.enqueue(name, input, {
      ...(key !== undefined && { key }),
      ...(at !== undefined && { at }),
    });
    if (json) io.out(`${JSON.stringify({ version: 1, run })}\n`);
    else io.out(`${run.id}\n`);
    const until = run.dueAt !== null && run.dueAt > io.clock.now() ? ` until ${timeText(run.dueAt)}` : '';
    say(io, `${run.id} is ${run.status}${until}`);
    if (run.endedAt === null) {
      const given = { target, db, handlers: handlersPath, definitions: options.definitions };
      say(io, 'unless a worker drives it, go on by');
      propose(io, [continueCommand(run, given)]);
    }
    return exitCodes.fine;
  } finally {
    await engine.close();
  }
}
