import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { renderDiagnostics } from '../../src/syntax/index.js';
import { runLoadedTests } from '../../src/testing/flow-runner/index.js';
import { FlowLibrary, isFlowTestFile, loadFlowTest } from '../../src/testing/flow-tests/index.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(folder).filter(isFlowTestFile);
const library = new FlowLibrary();

describe('scenarios of the Serverless Workflow compatibility kit', () => {
  test('stand in the table of docs/reference/conformance.md, each of them', () => {
    const table = readFileSync(new URL('../../docs/reference/conformance.md', import.meta.url), 'utf8');
    const linked = [...table.matchAll(/test\/conformance\/([\w-]+\.test\.yaml)/g)].map(([, name]) => name);
    expect([...new Set(linked)].sort()).toEqual(files);
  });

  test.each(files)('%s has no mistake and no warning, and passes', async (name) => {
    const loaded = await loadFlowTest(`${folder}/${name}`, { library });
    expect(renderDiagnostics(loaded.diagnostics, loaded.source, { color: false })).toBe('');
    const results = await runLoadedTests(loaded);
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    expect(results.length).toBeGreaterThan(0);
  });
});
