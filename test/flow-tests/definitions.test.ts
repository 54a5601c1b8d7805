import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HandlerRegistry, loadHandlers } from '../../src/handlers/index.js';
import { renderDiagnostics } from '../../src/syntax/index.js';
import { FlowLibrary, isFlowTestFile, loadFlowTest } from '../../src/testing/flow-tests/index.js';

const files = readdirSync('definitions').filter(isFlowTestFile);
const handlers = new HandlerRegistry(await loadHandlers('handlers'));
const library = new FlowLibrary();

describe('the tests of definitions/', () => {
  test('are there for every flow', () => {
    const flows = readdirSync('definitions').filter((name) => name.endsWith('.yaml') && !isFlowTestFile(name));
    expect(files).toEqual(flows.map((name) => name.replace('.yaml', '.test.yaml')));
  });

  test.each(files)('%s has no mistake and no warning', async (name) => {
    const options = { handlers: handlers.catalogue(), library };
    const { source, diagnostics } = await loadFlowTest(join('definitions', name), options);
    expect(renderDiagnostics(diagnostics, source, { color: false })).toBe('');
  });
});
