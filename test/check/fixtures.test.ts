import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type CataloguedWorkflow, type WorkflowCatalogue, checkSource } from '../../src/check/index.js';
import type { HandlerCatalogue, HandlerDescription } from '../../src/handlers/index.js';
import { Source, diagnosticCodes, renderDiagnostics } from '../../src/syntax/index.js';
import { typedCatalogues } from './typed-catalogues.js';

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

function checked(name: string) {
  const source = Source.fromBytes(name, readFileSync(`${folder}/${name}`));
  const needsProject = name.startsWith('children') || name.startsWith('error-names');
  const isTyped = name.startsWith('calls') || name.startsWith('RS5');
  const options = isTyped ? typedCatalogues : needsProject ? { handlers: declaring, workflows } : { handlers };
  return { source, ...checkSource(source, options) };
}

/** A wrong file beside all that is said of it. `npx vitest run test/check -u` writes what is said now. */
describe('flows with mistakes', () => {
  test.each(files)('%s', async (name) => {
    const { source, definition, diagnostics } = checked(name);
    expect(diagnostics).not.toEqual([]);
    expect(diagnostics.filter(({ help }) => help === '')).toEqual([]);
    expect(definition === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
    const said = renderDiagnostics(diagnostics, source, { color: false });
    await expect(said).toMatchFileSnapshot(`${folder}/${name.replace('.yaml', '.txt')}`);
  });
});

/** Each line with mistakes says their codes in a comment, `# RS2013`; `# RS2013 below` is of the next line. */
function marksOf(source: Source): string[] {
  return source.text.split('\n').flatMap((line, index) => {
    const [, codes = '', below] = /(?:#|--) (RS\d{4}(?: RS\d{4})*)( below)?\s*$/.exec(line) ?? [];
    const number = below === undefined ? index + 1 : index + 2;
    return codes === '' ? [] : codes.split(' ').map((code) => `line ${number}: ${code}`);
  });
}

describe('one mistake is one diagnostic', () => {
  const marked = files.filter((name) => name.startsWith('RS') && !name.startsWith('RS1002'));

  test.each(marked)('in %s', (name) => {
    const { source, diagnostics } = checked(name);
    const found = diagnostics.map(({ code, range }) => `line ${source.position(range.start).line}: ${code}`);
    expect(found).toEqual(marksOf(source));
    expect(diagnostics.map(({ code }) => code)).toContain(name.slice(0, 6));
  });
});

/** Codes whose cases are elsewhere. */
const elsewhere: ReadonlySet<string> = new Set([
  // Too large for a file: test/syntax/yaml-rules.test.ts.
  'RS1004',
  // Too many mistakes for a transcript, and files that cannot be read: test/check/hostile-files.test.ts, test/cli.
  'RS1035',
  'RS1036',
  // Of several files: test/cli/validate.
  'RS4050',
]);

describe('every code that is said of flows', () => {
  const cases = new Map<string, number>();
  for (const name of files) {
    for (const { code } of checked(name).diagnostics) cases.set(code, (cases.get(code) ?? 0) + 1);
  }
  const codes = Object.keys(diagnosticCodes).filter((code) => /^RS[1-5]/.test(code) && !elsewhere.has(code));

  test.each(codes)('has two cases of %s or more among these files', (code) => {
    expect(cases.get(code) ?? 0).toBeGreaterThanOrEqual(2);
  });
});
