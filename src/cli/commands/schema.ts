import { readFileSync } from 'node:fs';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import type { Io } from '../io.js';
import { packageFile } from '../package-files.js';
import { oneLine } from '../text.js';

/** The kinds of documents that have a JSON Schema, each in `schemas/<kind>.schema.json`. */
export const schemaKinds = ['workflow', 'flow-test'] as const;

export type SchemaKind = (typeof schemaKinds)[number];

/** Prints the JSON Schema of flows or of flow tests, or where in this installation it is. */
export async function schema(kind: SchemaKind, options: { readonly path: boolean }, io: Io): Promise<ExitCode> {
  const file = packageFile(`schemas/${kind}.schema.json`);
  if (options.path) io.out(`${oneLine(file)}\n`);
  else io.data(readFileSync(file, 'utf8'));
  return exitCodes.fine;
}
