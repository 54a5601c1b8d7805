import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HandlerRegistry, loadHandlers } from '../../src/handlers/index.js';
import { renderDiagnostics } from '../../src/syntax/index.js';
import { FlowCoverage, mergeCoverage, runLoadedTests } from '../../src/testing/flow-runner/index.js';
import { FlowLibrary, isFlowTestFile, loadFlowTest } from '../../src/testing/flow-tests/index.js';

const files = readdirSync('definitions').filter(isFlowTestFile);
const handlers = new HandlerRegistry(await loadHandlers('handlers'));
const library = new FlowLibrary();

/** With `crash: every` each test is a hundred runs or more. */
const minutes = { timeout: 300_000 };

describe('the tests of definitions/', () => {
  test('are there for every flow', () => {
    const flows = readdirSync('definitions').filter((name) => name.endsWith('.yaml') && !isFlowTestFile(name));
    expect(files).toEqual(flows.map((name) => name.replace('.yaml', '.test.yaml')));
  });

  test.each(files)(
    '%s has no mistake and no warning, passes, and comes to every place of the flow',
    minutes,
    async (name) => {
      const options = { handlers: handlers.catalogue(), library };
      const loaded = await loadFlowTest(join('definitions', name), options);
      const { source, diagnostics, workflow } = loaded;
      expect(renderDiagnostics(diagnostics, source, { color: false })).toBe('');
      if (workflow === undefined) throw new Error('a flow without mistakes has a definition');
      const coverage = new FlowCoverage(workflow);
      const results = await runLoadedTests(loaded, {
        handlers,
        onJournal: (definition, entries) => definition.name === workflow.name && coverage.add(entries),
      });
      expect(results.filter(({ ok }) => !ok)).toEqual([]);
      const missing = mergeCoverage([coverage.marks('.')])[0]?.missing.map(({ what }) => what);
      expect(missing).toEqual([]);
    },
  );
});
