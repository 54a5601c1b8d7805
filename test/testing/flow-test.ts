import { Source } from '../../src/syntax/index.js';
import { type TestResult, renderFailures, runLoadedTests } from '../../src/testing/flow-runner/index.js';
import { checkFlowTestSource } from '../../src/testing/flow-tests/index.js';
import { HandlerRegistry, type Handler } from 'runsheet';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

export interface Tested {
  readonly results: readonly TestResult[];
  /** What `runsheet test` shows of those that failed. */
  readonly text: string;
}

/** Runs the flow tests of a text against the flow of another one; further flows by their file names. */
export async function runTests(
  flow: string,
  tests: string,
  { handlers, others = {} }: { handlers?: readonly Handler[]; others?: Readonly<Record<string, string>> } = {},
): Promise<Tested> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'flow.yaml'), `workflow: flow\n${flow}`);
  for (const [name, text] of Object.entries(others)) writeFileSync(join(folder, name), text);
  const source = new Source(join(folder, 'flow.test.yaml'), `workflow: ./flow.yaml\n${tests}`);
  const registry = handlers && new HandlerRegistry(handlers);
  const loaded = await checkFlowTestSource(source, registry === undefined ? {} : { handlers: registry.catalogue() });
  const { root, diagnostics } = loaded;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (root === undefined || errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  const results = await runLoadedTests(loaded, registry === undefined ? {} : { handlers: registry });
  const file = { source: new Source('flow.test.yaml', source.text), root };
  return { results, text: results.map((result) => renderFailures(result, file)).join('') };
}

/** The only test must pass; else the error shows what a user would see. */
export async function passes(...args: Parameters<typeof runTests>): Promise<TestResult> {
  const { results, text } = await runTests(...args);
  const [first] = results;
  if (text !== '' || first === undefined) throw new Error(text);
  return first;
}
