import { existsSync } from 'node:fs';
import { inspectDatabase } from '../../storage/index.js';
import { databasePath, withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import type { Io } from '../io.js';
import { oneLine, printedJson } from '../text.js';

export interface MigrateOptions {
  /** Only tell whether there is something to do. */
  readonly check: boolean;
  readonly json: boolean;
  readonly db?: string;
}

/**
 * Brings the database to the version that this Runsheet works with, in one transaction. Every command that opens it
 * does the same; this one says so, and does nothing else. With `check` it fails where there is something to do.
 */
export async function migrate({ check, json, db }: MigrateOptions, io: Io): Promise<ExitCode> {
  const path = databasePath(db, io);
  if (!existsSync(path)) {
    throw new CommandFailure(exitCodes.notFound, `there is no database ${path}; --db names another`);
  }
  const { version: from, newestVersion: to } = await inspectDatabase(path);
  const isDue = from < to;
  if (isDue && !check) await withExistingStorage(db, io, async () => {});
  if (json) io.data(`${printedJson({ version: 1, from, to, migrated: isDue && !check })}\n`);
  else if (!isDue) io.out(`${oneLine(path)} has version ${to}, which is the newest\n`);
  else io.out(`${oneLine(path)} ${check ? 'would go' : 'went'} from version ${from} to ${to}\n`);
  return isDue && check ? exitCodes.failed : exitCodes.fine;
}
