import type { ExitCode } from '../exit-codes.js';
import type { Io } from '../io.js';
import { type TellOptions, tellRun } from '../tell-run.js';

export interface CancelOptions extends TellOptions {
  /** `false`: what the run has done so far stays. */
  readonly compensate: boolean;
  readonly reason?: string;
}

/** Has a run cancelled by whoever drives it. */
export function cancel(idOrKey: string, options: CancelOptions, io: Io): Promise<ExitCode> {
  const { compensate, reason } = options;
  return tellRun(idOrKey, options, io, async (engine, { id }) => {
    await engine.cancel(id, { compensate, ...(reason !== undefined && { reason }) });
    return { said: `${id} is told to end${compensate ? ' and to undo what it has done' : ''}` };
  });
}
