import type { ExitCode } from '../exit-codes.js';
import type { Io } from '../io.js';
import { type TellOptions, tellRun } from '../tell-run.js';

/** Goes on with an unwind that is stuck, from the reversal that failed. */
export function resumeCompensation(idOrKey: string, options: TellOptions, io: Io): Promise<ExitCode> {
  return tellRun(idOrKey, options, io, async (engine, { id }) => {
    await engine.resumeCompensation(id);
    return { said: `${id} is told to try again to undo what failed` };
  });
}

/** Gives an unwind that is stuck up. */
export function abandonCompensation(idOrKey: string, options: TellOptions, io: Io): Promise<ExitCode> {
  return tellRun(idOrKey, options, io, async (engine, { id }) => {
    await engine.abandonCompensation(id);
    return { said: `${id} is told to leave as it is what is not undone` };
  });
}
