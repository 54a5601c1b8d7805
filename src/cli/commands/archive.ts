import type { ExitCode } from '../exit-codes.js';
import type { Io } from '../io.js';
import { type RetentionOptions, withOldRuns } from '../old-runs.js';

/** Puts finished runs away: still shown by id and key, listed by `list --archived` only. */
export function archive(options: RetentionOptions, io: Io): Promise<ExitCode> {
  return withOldRuns(options, io, 'archived', async (engine, ageMs, statuses) => {
    let archived = 0;
    // The engine takes a bounded number at a time.
    for (;;) {
      const now = await engine.archive(ageMs, statuses);
      archived += now;
      if (now === 0) return archived;
    }
  });
}
