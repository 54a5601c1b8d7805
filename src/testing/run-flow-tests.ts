import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InvalidDefinitionsError, isFlowTestFile } from '../check/index.js';
import { z } from 'zod';
import { RunsheetError, checkOptions } from '../common/index.js';
import { type Handler, HandlerRegistry } from '../handlers/index.js';
import type { Findings } from '../syntax/index.js';
import { renderFailures } from './flow-runner/render-result.js';
import { runLoadedTests } from './flow-runner/run-file.js';
import { FlowLibrary, type LoadedFlowTest, loadFlowTest } from './flow-tests/index.js';

export interface RunFlowTestsOptions {
  /** The registered handlers: `real` means these, and their schemas hold for scripted ones too. */
  readonly handlers?: HandlerRegistry | readonly Handler[];
  /** Where flows are looked for that are not beside their tests. Default: the folder of the test. */
  readonly definitions?: string;
  /** Only tests whose names hold this text, whatever its case. */
  readonly filter?: string;
}

const optionsSchema = z.object({
  path: z.string().min(1),
  options: z.strictObject({
    handlers: z.custom<unknown>((value) => typeof value === 'object' && value !== null, 'must be handlers').optional(),
    definitions: z.string().optional(),
    filter: z.string().optional(),
  }),
});

/** What came of one flow test. */
export interface FlowTestOutcome {
  readonly file: string;
  readonly name: string;
  readonly ok: boolean;
  /** What `runsheet test` shows of it; empty where it passed. */
  readonly message: string;
  /** Real time. */
  readonly durationMs: number;
}

/**
 * Runs the flow tests of a file, or of those directly in a folder, for test frameworks.
 *
 *     for (const { name, message } of await runFlowTests('definitions/order.test.yaml')) {
 *       test(name, () => expect(message).toBe(''));
 *     }
 *
 * A test with mistakes has failed with them; the others are run.
 *
 * @throws InvalidDefinitionsError (`RS_DEFINITION_INVALID`) where what all tests of a file share has mistakes
 * @throws RunsheetError `RS_OPTIONS_INVALID` where there is nothing to run
 */
export async function runFlowTests(path: string, options: RunFlowTestsOptions = {}): Promise<FlowTestOutcome[]> {
  checkOptions('runFlowTests', optionsSchema, { path, options });
  const { handlers, filter } = options;
  const registry =
    handlers === undefined || handlers instanceof HandlerRegistry ? handlers : new HandlerRegistry(handlers);
  const library = new FlowLibrary();
  const loaded: LoadedFlowTest[] = [];
  const findings: Findings[] = [];
  for (const file of await testFilesOf(path)) {
    const { definitions = dirname(file) } = options;
    const test = await loadFlowTest(file, {
      library,
      definitions,
      ...(registry && { handlers: registry.catalogue() }),
    });
    if (test.document === undefined || test.workflow === undefined) findings.push(test);
    else loaded.push(test);
  }
  if (findings.length > 0) throw new InvalidDefinitionsError(findings);
  const outcomes: FlowTestOutcome[] = [];
  for (const test of loaded) {
    const { source, root } = test;
    if (root === undefined) continue;
    const results = await runLoadedTests(test, {
      ...(registry !== undefined && { handlers: registry }),
      ...(filter !== undefined && { filter }),
    });
    for (const result of results) {
      const { name, ok, durationMs } = result;
      outcomes.push({ file: source.name, name, ok, message: renderFailures(result, { source, root }), durationMs });
    }
  }
  return outcomes;
}

async function testFilesOf(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter(isFlowTestFile).sort();
    if (names.length > 0) return names.map((name) => join(path, name));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RunsheetError('RS_OPTIONS_INVALID', `flow tests cannot be read from ${path}: ${reason}`, { cause });
  }
  throw new RunsheetError('RS_OPTIONS_INVALID', `there is no flow test (*.test.yaml) in the folder ${path}`);
}
