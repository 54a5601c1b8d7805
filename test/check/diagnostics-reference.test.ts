import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { type Diagnostic, type DiagnosticCode, Source, diagnosticCodes } from '../../src/syntax/index.js';
import { readFlowTest } from '../../src/testing/flow-tests/index.js';

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
  .map((text): Entry => {
    const [, code = '', title = ''] = /^(RS\d{4}): (.*)\n/.exec(text) ?? [];
    const [wrong, right] = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
    const isWarning = text.includes('_Warning._');
    return { code, title, isWarning, ...(wrong !== undefined && { wrong }), ...(right !== undefined && { right }) };
  });

/** A whole flow around an example that is only a part of one. */
function asFlow(example: string): string {
  if (/^(workflow|StartAt):/m.test(example)) return example;
  if (example.startsWith('- ')) return `workflow: example\nsteps:\n${example.replace(/^(?=.)/gm, '  ')}`;
  return `workflow: example\n${example}${/^steps:/m.test(example) ? '' : 'steps: []\n'}`;
}

/** What the examples of handlers may call. */
const handlers = new Map(
  ('mail.send payments.charge payments.refund orders.pack lookup chat.send files.delete send-mail ' + 'stock.reserve')
    .split(' ')
    .map((name) => [name, { name }]),
);

/** A whole file of flow tests around an example that is only a part of one. */
function asFlowTest(example: string): string {
  if (/^workflow:/m.test(example)) return example;
  if (/^tests:/m.test(example)) return `workflow: ./example.yaml\n${example}`;
  return `workflow: ./example.yaml\ntests:\n  - name: example\n${example.replace(/^(?=.)/gm, '    ')}`;
}

function diagnosticsOf(example: string, code: string): Diagnostic[] {
  if (code.startsWith('RS6')) return readFlowTest(new Source('example.test.yaml', asFlowTest(example))).diagnostics;
  const options = code === 'RS4007' ? { handlers } : {};
  return checkSource(new Source('example.yaml', asFlow(example)), options).diagnostics;
}

function check(example: string, code: string): { codes: string[]; severities: string[] } {
  const diagnostics = diagnosticsOf(example, code);
  return { codes: diagnostics.map((each) => each.code), severities: diagnostics.map((each) => each.severity) };
}

describe('docs/reference/diagnostics.md', () => {
  test('has an entry for every code, with its title', () => {
    expect(entries.map(({ code }) => code)).toEqual(Object.keys(diagnosticCodes).sort());
    for (const { code, title } of entries) expect(title).toBe(diagnosticCodes[code as DiagnosticCode]);
  });

  test('shows an example wherever one can be printed', () => {
    expect(entries.filter(({ wrong }) => wrong === undefined).map(({ code }) => code)).toEqual(['RS1002', 'RS1004']);
    expect(entries.filter(({ wrong, right }) => (wrong === undefined) !== (right === undefined))).toEqual([]);
  });

  const examples = entries.flatMap(({ wrong, right, ...entry }) =>
    wrong === undefined || right === undefined ? [] : [{ ...entry, wrong, right }],
  );

  test.each(examples)('$code: the wrong example has this one mistake', ({ code, wrong, isWarning }) => {
    expect(check(wrong, code)).toEqual({ codes: [code], severities: [isWarning ? 'warning' : 'error'] });
  });

  test.each(examples)('$code: the right example has none', ({ code, right }) => {
    expect(check(right, code).codes).toEqual([]);
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
