import type { ExitCode } from '../exit-codes.js';
import type { Io } from '../io.js';
import { type RetentionOptions, withOldRuns } from '../old-runs.js';

/** Removes finished runs for good, archived ones too; never what is still owed. */
export function cleanup(options: RetentionOptions, io: Io): Promise<ExitCode> {
  return withOldRuns(options, io, 'removed', (engine, ageMs, statuses) => engine.cleanup(ageMs, statuses));
}
