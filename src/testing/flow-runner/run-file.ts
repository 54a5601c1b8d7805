import type { Definition } from '../../definition/index.js';
import type { HandlerRegistry } from '../../handlers/index.js';
import type { JournalRow } from '../../storage/index.js';
import type { LoadedFlowTest } from '../flow-tests/index.js';
import type { FlowToRun } from './flow-to-run.js';
import { type TestResult, runTest } from './run-test.js';
import { testCase } from './test-case.js';

export interface RunFileOptions {
  /** Those that `real` means; their schemas hold for scripted ones too. */
  readonly handlers?: HandlerRegistry;
  /** Only tests whose names hold this text, whatever its case. */
  readonly filter?: string;
  /** Told of the entries of every run, for coverage. */
  readonly onJournal?: (definition: Definition, entries: readonly JournalRow[]) => void;
}

/** Runs the tests of a file that has no mistakes, one after the other. */
export async function runLoadedTests(loaded: LoadedFlowTest, options: RunFileOptions = {}): Promise<TestResult[]> {
  const { document, workflow, children } = loaded;
  if (document === undefined || workflow === undefined) throw new TypeError('only tests without mistakes can be run');
  const { handlers, filter = '', onJournal } = options;
  const flow: FlowToRun = { definition: workflow, children, ...(handlers !== undefined && { handlers }) };
  const results: TestResult[] = [];
  for (const [index, { name }] of document.tests.entries()) {
    if (!name.toLowerCase().includes(filter.toLowerCase())) continue;
    const { result, journals } = await runTest(testCase(document, index), flow);
    for (const { definition, entries } of journals) onJournal?.(definition, entries);
    results.push(result);
  }
  return results;
}
