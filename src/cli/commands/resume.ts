import type { ExitCode } from '../exit-codes.js';
import type { Io } from '../io.js';
import { type TellOptions, tellRun } from '../tell-run.js';

/** Goes on with a failed run as a new one, whose id is printed. Drives nothing. */
export function resume(idOrKey: string, options: TellOptions, io: Io): Promise<ExitCode> {
  return tellRun(idOrKey, options, io, async (engine, { id }) => {
    const run = await engine.resume(id);
    return { run, said: `${id} goes on as ${run.id}`, out: run.id };
  });
}
