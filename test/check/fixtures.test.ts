import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type CataloguedWorkflow, type WorkflowCatalogue, checkSource } from '../../src/check/index.js';
import type { HandlerCatalogue, HandlerDescription } from '../../src/handlers/index.js';
import { Source, renderDiagnostics } from '../../src/syntax/index.js';

const folder = fileURLToPath(new URL('fixtures', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const handlers = new Map(['mail.send', 'payments.charge', 'payments.refund'].map((name) => [name, { name }]));

/** Of the fixtures that are about errors and children. */
const declaring: HandlerCatalogue = new Map<string, HandlerDescription>([
  ...handlers,
  ['stock.reserve', { name: 'stock.reserve', errors: ['OutOfStock', 'UnknownItem'] }],
  ['stock.release', { name: 'stock.release', errors: ['NotReserved'] }],
]);

function workflow(name: string, revision: number, ...starts: string[]): CataloguedWorkflow {
  const steps = starts.map((child) => ({ subWorkflow: child }));
  return { name, revision, document: { workflow: name, revision, steps } };
}

const workflows: WorkflowCatalogue = new Map([
  ['book-shipment', [workflow('book-shipment', 1), workflow('book-shipment', 3)]],
  ['ping', [workflow('ping', 1, 'pong')]],
  ['pong', [workflow('pong', 1), workflow('pong', 2, 'children')]],
]);

/** A wrong file beside all that is said of it. `npx vitest run test/check -u` writes what is said now. */
describe('flows with mistakes', () => {
  test.each(files)('%s', async (name) => {
    const source = new Source(name, readFileSync(`${folder}/${name}`, 'utf8'));
    const needsProject = name.startsWith('children') || name.startsWith('error-names');
    const options = needsProject ? { handlers: declaring, workflows } : { handlers };
    const { definition, diagnostics } = checkSource(source, options);
    expect(definition).toBeUndefined();
    const said = renderDiagnostics(diagnostics, source, { color: false });
    await expect(said).toMatchFileSnapshot(`${folder}/${name.replace('.yaml', '.txt')}`);
  });
});
