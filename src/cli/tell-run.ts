import type { Engine, Run } from '../engine/index.js';
import type { RunRecord, Storage } from '../storage/index.js';
import { withExistingStorage } from './database.js';
import { type ExitCode, exitCodes } from './exit-codes.js';
import { findRun, rootOf } from './find-run.js';
import type { Io } from './io.js';
import { continueCommand } from './next-commands.js';
import { propose, say } from './terminal-text.js';
import { printedJson } from './text.js';

/** What the commands share that tell something to a run which is there already. */
export interface TellOptions {
  /** Whose key it is. */
  readonly workflow?: string;
  readonly json: boolean;
  readonly db?: string;
}

/** What was told, for people; the run to go on with, if it is another one; data, if there is any without `--json`. */
export interface Told {
  readonly said: string;
  readonly run?: Run;
  readonly out?: string;
}

/**
 * Tells a run something, through an engine that drives nothing and needs neither definitions nor handlers; shows the
 * run as it is then, and the command that would drive it.
 */
export async function tellRun(
  idOrKey: string,
  { workflow, json, db }: TellOptions,
  io: Io,
  tell: (engine: Engine, run: RunRecord, storage: Storage) => Promise<Told>,
): Promise<ExitCode> {
  return withExistingStorage(db, io, async (storage) => {
    const { createEngine } = await import('../engine/index.js');
    const record = await findRun(storage, idOrKey, workflow);
    // Before there is one of our own.
    const { othersAlive } = await storage.survey(nobody, [], io.clock.now());
    const engine = createEngine({ storage, clock: io.clock });
    try {
      const { said, out, run = await engine.getRun(record.id) } = await tell(engine, record, storage);
      if (json) io.data(`${printedJson({ version: 1, run })}\n`);
      else if (out !== undefined) io.out(`${out}\n`);
      say(io, said);
      // Whoever is at work hears of it.
      if (!othersAlive) await sayHowToDrive(storage, run.id, db, io);
      return exitCodes.fine;
    } finally {
      await engine.stop();
    }
  });
}

/** Who asks is an engine with a name; one who only tells something has none. */
const nobody = 'runsheet';

async function sayHowToDrive(storage: Storage, id: string, db: string | undefined, io: Io): Promise<void> {
  const record = await storage.getRun(id);
  if (record === undefined || record.endedAt !== null || record.owner !== null) return;
  const root = await rootOf(storage, record);
  say(io, 'no engine is running, so that nothing happens until one is; go on by');
  propose(io, [continueCommand(root, { db })]);
}
