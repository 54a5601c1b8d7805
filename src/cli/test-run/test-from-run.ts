import { existsSync } from 'node:fs';
import { withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { findRun } from '../find-run.js';
import { type Io, pathOf } from '../io.js';
import { shellWord } from '../shell-word.js';
import { say } from '../terminal-text.js';
import { writeOutput } from '../write-output.js';

export interface TestFromRunOptions {
  readonly db?: string;
  /** Where the test is written; absent: to stdout. */
  readonly output?: string;
}

/** Writes a file of flow tests that repeats a stored run. */
export async function testFromRun(idOrKey: string, { db, output }: TestFromRunOptions, io: Io): Promise<ExitCode> {
  const { flowTestFromRun } = await import('../../testing/index.js');
  if (output !== undefined && existsSync(pathOf(io, output))) {
    throw new CommandFailure(exitCodes.conflict, `${output} is there already; give the name of a new file`);
  }
  const text = await withExistingStorage(db, io, async (storage) => {
    const { id } = await findRun(storage, idOrKey, undefined);
    return flowTestFromRun(storage, id);
  });
  if (output === undefined) {
    io.data(text);
  } else {
    writeOutput(output, text, io);
    say(io, `${output} is written; \`runsheet test ${shellWord(output)}\` runs it`);
  }
  return exitCodes.fine;
}
