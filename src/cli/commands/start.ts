import type { ExitCode } from '../exit-codes.js';
import type { Io } from '../io.js';
import { readJsonInput } from '../json-input.js';
import { type PutOptions, putRun } from '../put-run.js';
import { timeOption } from '../time-options.js';

export interface StartOptions extends PutOptions {
  readonly input?: string;
  readonly key?: string;
  /** A duration from now, or an ISO time. */
  readonly at?: string;
}

/** Puts a run into the database for a worker to drive, and prints its id. */
export async function start(target: string, options: StartOptions, io: Io): Promise<ExitCode> {
  const { key } = options;
  const input = options.input === undefined ? {} : await readJsonInput('--input', options.input, io);
  const at = options.at === undefined ? undefined : timeOption('--at', options.at, io.clock.now(), 'from now');
  return putRun(target, options, io, (engine, workflow) =>
    engine.enqueue(workflow, input, { ...(key !== undefined && { key }), ...(at !== undefined && { at }) }),
  );
}
