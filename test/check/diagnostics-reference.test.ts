import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { type CheckOptions, type WorkflowCatalogue, checkSource } from '../../src/check/index.js';
import type { HandlerCatalogue } from '../../src/handlers/index.js';
import { type Diagnostic, type DiagnosticCode, Source, diagnosticCodes } from '../../src/syntax/index.js';
import { checkFlowTestSource } from '../../src/testing/flow-tests/index.js';
import { typedCatalogues } from './typed-catalogues.js';

const reference = readFileSync(new URL('../../docs/reference/diagnostics.md', import.meta.url), 'utf8');
const testFolder = fileURLToPath(new URL('..', import.meta.url));

interface Entry {
  readonly code: string;
  readonly title: string;
  readonly isWarning: boolean;
  readonly wrong?: string;
  readonly right?: string;
}

const entries = reference
  .split(/^### /m)
  .slice(1)
  // The last entry of a family is followed by the heading of the next one.
  .map((text) => text.split(/^## /m)[0] ?? '')
  .map((text): Entry => {
    const [, code = '', title = ''] = /^(RS\d{4}): (.*)\n/.exec(text) ?? [];
    const [wrong, right] = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
    const isWarning = text.includes('_Warning._');
    return { code, title, isWarning, ...(wrong !== undefined && { wrong }), ...(right !== undefined && { right }) };
  });

/** A whole flow around an example that is only a part of one. */
function asFlow(example: string): string {
  if (/^(workflow|StartAt|services):/m.test(example)) return example;
  if (example.startsWith('- ')) return `workflow: example\nsteps:\n${example.replace(/^(?=.)/gm, '  ')}`;
  return `workflow: example\n${example}${/^steps:/m.test(example) ? '' : 'steps: []\n'}`;
}

/** What the examples of handlers may call. */
const handlers = new Map(
  ('mail.send payments.charge payments.refund orders.pack lookup chat.send files.delete send-mail ' + 'stock.reserve')
    .split(' ')
    .map((name) => [name, { name }]),
);

/** The flow that the examples of flow tests are about, beside one with mistakes. */
const testFolderOfExamples = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-examples-'));
  const [, flow = ''] = /^## RS6[\s\S]*?```yaml\n([\s\S]*?)```/m.exec(reference) ?? [];
  writeFileSync(join(folder, 'order.yaml'), flow);
  writeFileSync(join(folder, 'half-written.yaml'), 'workflow: half-written\nsteps: 5\n');
  return folder;
})();
afterAll(() => rmSync(testFolderOfExamples, { recursive: true }));

/** What the handlers of that flow say of themselves. */
const describedHandlers: HandlerCatalogue = new Map([
  [
    'payments.charge',
    {
      name: 'payments.charge',
      output: { type: 'object', properties: { paymentId: { type: 'string' } }, required: ['paymentId'] },
      errors: ['CardDeclined', 'GatewayUnavailable'],
    },
  ],
]);

/** The workflows that the examples of children may start. */
const workflows: WorkflowCatalogue = new Map([
  ['book-shipment', [{ name: 'book-shipment', revision: 1, document: { workflow: 'book-shipment', steps: [] } }]],
]);

/** A whole file of flow tests around an example that is only a part of one. */
function asFlowTest(example: string): string {
  if (/^workflow:/m.test(example)) return example;
  const shared = 'workflow: ./order.yaml\ndefaults: { input: { orderId: o-1, total: 5 }, handlers: real }\n';
  if (/^tests:/m.test(example)) return `${shared}${example}`;
  return `${shared}tests:\n  - name: example\n${example.replace(/^(?=.)/gm, '    ')}`;
}

async function diagnosticsOf(example: string, code: string): Promise<readonly Diagnostic[]> {
  if (code.startsWith('RS6')) {
    const source = new Source(join(testFolderOfExamples, 'example.test.yaml'), asFlowTest(example));
    return (await checkFlowTestSource(source, { handlers: describedHandlers })).diagnostics;
  }
  if (code.startsWith('RS5'))
    return checkSource(new Source('example.yaml', asFlow(example)), typedCatalogues).diagnostics;
  const needsHandlers = code === 'RS4007';
  const options: CheckOptions = {
    ...(needsHandlers && { handlers }),
    ...(code === 'RS4025' && { handlers: describedHandlers }),
    ...(['RS4022', 'RS4023'].includes(code) && { workflows }),
  };
  return checkSource(new Source('example.yaml', asFlow(example)), options).diagnostics;
}

async function check(example: string, code: string): Promise<{ codes: string[]; severities: string[] }> {
  const diagnostics = await diagnosticsOf(example, code);
  return { codes: diagnostics.map((each) => each.code), severities: diagnostics.map((each) => each.severity) };
}

describe('docs/reference/diagnostics.md', () => {
  test('has an entry for every code, with its title', () => {
    expect(entries.map(({ code }) => code)).toEqual(Object.keys(diagnosticCodes).sort());
    for (const { code, title } of entries) expect(title).toBe(diagnosticCodes[code as DiagnosticCode]);
  });

  test('shows an example wherever one can be printed', () => {
    const without = entries.filter(({ wrong }) => wrong === undefined).map(({ code }) => code);
    expect(without).toEqual(['RS1002', 'RS1004', 'RS1035', 'RS1036', 'RS4050']);
    expect(entries.filter(({ wrong, right }) => (wrong === undefined) !== (right === undefined))).toEqual([]);
  });

  const examples = entries.flatMap(({ wrong, right, ...entry }) =>
    wrong === undefined || right === undefined ? [] : [{ ...entry, wrong, right }],
  );

  test.each(examples)('$code: the wrong example has this one mistake', async ({ code, wrong, isWarning }) => {
    expect(await check(wrong, code)).toEqual({ codes: [code], severities: [isWarning ? 'warning' : 'error'] });
  });

  test.each(examples)('$code: the right example has none', async ({ code, right }) => {
    expect((await check(right, code)).codes).toEqual([]);
  });

  test('every code has a case among the tests', () => {
    const texts = readdirSync(testFolder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|txt)$/.test(name) && !name.endsWith('diagnostics-reference.test.ts'))
      .map((name) => readFileSync(join(testFolder, name), 'utf8'))
      .join('\n');
    const without = Object.keys(diagnosticCodes).filter((code) => !texts.includes(code));
    expect(without).toEqual([]);
  });
});
