import { type Engine, createEngine } from '../engine/index.js';
import type { terminalStatuses } from '../storage/index.js';
import { withExistingStorage } from './database.js';
import { type ExitCode, exitCodes } from './exit-codes.js';
import type { Io } from './io.js';
import { countText, printedJson } from './text.js';
import { durationOption } from './time-options.js';

export interface RetentionOptions {
  /** Runs that ended so long ago, or longer. */
  readonly olderThan: string;
  readonly status?: readonly (typeof terminalStatuses)[number][];
  readonly json: boolean;
  readonly db?: string;
}

/** Does something to old runs, and says to how many. */
export async function withOldRuns(
  { olderThan, status, json, db }: RetentionOptions,
  io: Io,
  word: 'removed' | 'archived',
  act: (engine: Engine, ageMs: number, statuses: RetentionOptions['status']) => Promise<number>,
): Promise<ExitCode> {
  const ageMs = durationOption('--older-than', olderThan);
  const count = await withExistingStorage(db, io, async (storage) => {
    const engine = createEngine({ storage, clock: io.clock });
    try {
      return await act(engine, ageMs, status);
    } finally {
      await engine.stop();
    }
  });
  if (json) io.data(`${printedJson({ version: 1, [word]: count })}\n`);
  else io.out(`${countText(count, 'run')} ${word}\n`);
  return exitCodes.fine;
}
