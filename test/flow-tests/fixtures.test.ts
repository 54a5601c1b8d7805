import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { HandlerCatalogue } from '../../src/handlers/index.js';
import { renderDiagnostics } from '../../src/syntax/index.js';
import { FlowLibrary, isFlowTestFile, loadFlowTest } from '../../src/testing/flow-tests/index.js';

const folder = relative(process.cwd(), fileURLToPath(new URL('fixtures', import.meta.url)));
const files = readdirSync(folder).filter(isFlowTestFile);
const library = new FlowLibrary();

const object = (properties: Record<string, { type: string }>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const handlers: HandlerCatalogue = new Map([
  ['stock.reserve', { name: 'stock.reserve', output: object({ reservationId: { type: 'string' } }) }],
  [
    'payments.charge',
    { name: 'payments.charge', output: object({ paymentId: { type: 'string' } }), errors: ['CardDeclined'] },
  ],
  ['mail.send', { name: 'mail.send' }],
]);

/** A wrong file beside all that is said of it. `npx vitest run test/flow-tests -u` writes what is said now. */
describe('flow tests with mistakes', () => {
  test.each(files)('%s', async (name) => {
    const { source, diagnostics } = await loadFlowTest(join(folder, name), { handlers, library });
    expect(diagnostics.filter(({ severity }) => severity === 'error')).not.toEqual([]);
    const said = renderDiagnostics(diagnostics, source, { color: false });
    await expect(said).toMatchFileSnapshot(join('fixtures', name.replace('.test.yaml', '.txt')));
  });
});
