import { validDefinition } from '../check-flow.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { readFlows } from '../flow-files.js';
import type { Io } from '../io.js';
import { oneLine, printedJson } from '../text.js';

/** Prints the identity of a flow: its hash, name and revision. Needs no handlers. */
export async function hash(path: string, options: { readonly json: boolean }, io: Io): Promise<ExitCode> {
  const [source, another] = await readFlows([path], io);
  if (source === undefined || another !== undefined) {
    throw new CommandFailure(exitCodes.usage, `${path} is a folder; give the path of one flow`);
  }
  const { hash: sha256, name, revision } = await validDefinition(source, undefined, io);
  if (options.json) io.data(`${printedJson({ version: 1, hash: sha256, name, revision })}\n`);
  else io.out(`${sha256} ${oneLine(name)} ${revision}\n`);
  return exitCodes.fine;
}
