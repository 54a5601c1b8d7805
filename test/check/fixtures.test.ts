import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { Source, renderDiagnostics } from '../../src/syntax/index.js';

const folder = fileURLToPath(new URL('fixtures', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const handlers = new Map(['mail.send', 'payments.charge', 'payments.refund'].map((name) => [name, { name }]));

/** A wrong file beside all that is said of it. `npx vitest run test/check -u` writes what is said now. */
describe('flows with mistakes', () => {
  test.each(files)('%s', async (name) => {
    const source = new Source(name, readFileSync(`${folder}/${name}`, 'utf8'));
    const { definition, diagnostics } = checkSource(source, { handlers });
    expect(definition).toBeUndefined();
    const said = renderDiagnostics(diagnostics, source, { color: false });
    await expect(said).toMatchFileSnapshot(`${folder}/${name.replace('.yaml', '.txt')}`);
  });
});
