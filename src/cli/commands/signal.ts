import { RunsheetError } from '../../common/index.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import type { Io } from '../io.js';
import { readJsonInput } from '../json-input.js';
import { type TellOptions, tellRun } from '../tell-run.js';

export interface SignalOptions extends TellOptions {
  readonly data?: string;
}

/** Delivers a signal to a run. */
export async function signal(idOrKey: string, name: string, options: SignalOptions, io: Io): Promise<ExitCode> {
  const payload = options.data === undefined ? null : await readJsonInput('--data', options.data, io);
  return tellRun(idOrKey, options, io, async (engine, { id }) => {
    await engine.signal(id, name, payload).catch((error: unknown) => {
      if (options.data !== undefined || !(error instanceof RunsheetError) || error.code !== 'RS_SIGNAL_INVALID')
        throw error;
      throw new CommandFailure(exitCodes.usage, `${error.message}; give it by --data`, { cause: error });
    });
    return { said: `${name} was delivered to ${id}` };
  });
}
