import type { Definition } from '../../definition/index.js';
import type { HandlerRegistry } from '../../handlers/index.js';
import type { JournalRow } from '../../storage/index.js';
import type { Diagnostic } from '../../syntax/index.js';
import type { FlowTestDocument, LoadedFlowTest } from '../flow-tests/index.js';
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

/** Runs the tests of a file one after the other; one with mistakes has failed. */
export async function runLoadedTests(loaded: LoadedFlowTest, options: RunFileOptions = {}): Promise<TestResult[]> {
  const { document, workflow, children, mistakes } = loaded;
  if (document === undefined || workflow === undefined) throw new TypeError('only a file that can be read can be run');
  const { handlers, filter = '', onJournal } = options;
  const flow: FlowToRun = { definition: workflow, children, ...(handlers !== undefined && { handlers }) };
  const results: TestResult[] = [];
  for (const index of document.tests.keys()) {
    const name = nameOf(document, index);
    if (!name.toLowerCase().includes(filter.toLowerCase())) continue;
    const wrong = mistakes.get(index);
    if (wrong !== undefined) {
      results.push(unsound(name, index, wrong));
      continue;
    }
    const { result, journals } = await runTest(testCase(document, index), flow);
    for (const { definition, entries } of journals) onJournal?.(definition, entries);
    results.push(result);
  }
  return results;
}

/** A test with mistakes may lack a name, or be no map at all. */
function nameOf({ tests }: FlowTestDocument, index: number): string {
  const test: unknown = tests[index];
  const name: unknown = typeof test === 'object' && test !== null && 'name' in test ? test.name : undefined;
  return typeof name === 'string' ? name : `test ${index + 1}`;
}

function unsound(name: string, index: number, mistakes: readonly Diagnostic[]): TestResult {
  const path = ['tests', index];
  const failures = mistakes.map(({ code, message, help, range }) => ({
    path,
    range,
    message: `${code}: ${message}`,
    ...(help !== undefined && { help }),
  }));
  return { name, path, ok: false, failures, durationMs: 0, wakeUps: 0 };
}
