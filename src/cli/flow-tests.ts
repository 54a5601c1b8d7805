import { resolve } from 'node:path';
import type { HandlerCatalogue } from '../handlers/index.js';
import { type Findings, Source } from '../syntax/index.js';
import { type Io, pathOf } from './io.js';

/**
 * Checks flow tests against the flows that they name.
 *
 * @param folder of the definitions, where flows are looked for that are not beside a test
 * @param flows that are checked by themselves in the same go
 */
export async function checkFlowTests(
  tests: readonly Source[],
  folder: string,
  flows: readonly Source[],
  handlers: HandlerCatalogue | undefined,
  io: Io,
): Promise<Findings[]> {
  if (tests.length === 0) return [];
  const { FlowLibrary, checkFlowTestSource } = await import('../testing/flow-tests/index.js');
  const library = new FlowLibrary();
  const options = {
    definitions: pathOf(io, folder),
    library,
    toldElsewhere: new Set(flows.map(({ name }) => resolve(io.cwd, name))),
    ...(handlers !== undefined && { handlers }),
  };
  const findings: Findings[] = [];
  for (const source of tests) {
    const placed = new Source(pathOf(io, source.name), source.text, source.undecodableAt);
    const { diagnostics } = await checkFlowTestSource(placed, options);
    findings.push({ source, diagnostics });
  }
  return findings;
}
