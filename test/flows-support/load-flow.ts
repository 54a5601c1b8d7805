import { readFileSync } from 'node:fs';
import type { Definition } from '../../src/definition/index.js';
import { readWorkflow, sealDefinition } from '../../src/definition/index.js';
import { Source } from '../../src/syntax/index.js';

/** A flow file as its sealed definition; its mistakes are the test's failure. */
export function loadFlow(path: string): Definition {
  const source = new Source(path, readFileSync(path, 'utf8'));
  const { document, diagnostics } = readWorkflow(source);
  if (document === undefined) throw new Error(diagnostics.map(({ message }) => `${path}: ${message}`).join('\n'));
  return sealDefinition(document, source);
}
