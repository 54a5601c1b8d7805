import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Source, renderDiagnostics } from '../../src/syntax/index.js';
import { readFlowTest } from '../../src/testing/flow-tests/index.js';

const folder = fileURLToPath(new URL('fixtures', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.test.yaml'));

/** A wrong file beside all that is said of it. `npx vitest run test/flow-tests -u` writes what is said now. */
describe('flow tests with mistakes', () => {
  test.each(files)('%s', async (name) => {
    const source = new Source(name, readFileSync(`${folder}/${name}`, 'utf8'));
    const { document, diagnostics } = readFlowTest(source);
    expect(document).toBeUndefined();
    const said = renderDiagnostics(diagnostics, source, { color: false });
    await expect(said).toMatchFileSnapshot(`${folder}/${name.replace('.test.yaml', '.txt')}`);
  });
});
