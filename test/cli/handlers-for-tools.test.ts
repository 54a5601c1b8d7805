import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { Project } from './project.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

const files = {
  'definitions/pay.yaml': `workflow: pay
input:
  orderId: { type: string, description: The number on the invoice }
  total: { type: number }
  currency: { enum: [EUR, USD], default: EUR }
  items: { type: array, items: { type: object, properties: { sku: { type: string } } } }
  note: { optional: true }
steps: []
`,
  'definitions/pay-2.yaml': 'workflow: pay\nrevision: 2\ninput: { orderId: { type: string } }\nsteps: []\n',
  'definitions/empty.yaml': 'workflow: empty-one\nsteps: []\n',
  'definitions/any.yaml': 'workflow: any\ninputSchema: { type: object }\nsteps: []\n',
};

/** What the compiler says of a file beside the types. */
function problems(types: string, usage: string): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.test.json'), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const texts = new Map([
    [resolve(root, 'test/cli/workflow-inputs.d.ts'), types],
    [resolve(root, 'test/cli/usage.ts'), usage],
  ]);
  const host = ts.createCompilerHost({ ...options, skipLibCheck: false });
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => texts.has(resolve(path)) || fileExists(path);
  host.readFile = (path) => texts.get(resolve(path)) ?? readFile(path);
  host.getSourceFile = (path, version, ...rest) => {
    const text = texts.get(resolve(path));
    return text === undefined ? getSourceFile(path, version, ...rest) : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  return [...texts.keys()].flatMap((path) => {
    const file = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText, start = 0 }) =>
        `${file?.getLineAndCharacterOfPosition(start).line ?? 0}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
  });
}

describe('runsheet handlers --types', () => {
  it('has the compiler check what is given to enqueue', async () => {
    const { 'definitions/pay-2.yaml': _newer, ...first } = files;
    const { code, out } = await new Project(first).runsheet(['handlers', '--types']);
    expect(code).toBe(0);
    await expect(out).toMatchFileSnapshot('fixtures/workflow-inputs.d.ts.txt');
    const usage = `import type { Engine, JsonValue } from 'runsheet';
export async function use(engine: Engine, name: string, value: JsonValue): Promise<void> {
  await engine.enqueue('pay', { orderId: 'o', total: 1, items: [{ sku: 's' }] });
  await engine.enqueue('pay', { orderId: 'o', total: 1, items: [], currency: 'USD', note: { a: [1] } }, { key: 'k' });
  await engine.enqueue('empty-one');
  await engine.enqueue('empty-one', {});
  await engine.enqueue('any', { whatever: 1 });
  await engine.enqueue('unknown', { whatever: 1 });
  await engine.enqueue(name, value);
  await engine.enqueue('pay', { orderId: 1, total: 1, items: [] });
  await engine.enqueue('pay', { orderId: 'o', total: 1, items: [], currency: 'CHF' });
  await engine.enqueue('pay', { orderId: 'o', total: 1 });
  await engine.enqueue('pay', { orderId: 'o', total: 1, items: [], extra: 1 });
  await engine.enqueue('pay');
  await engine.enqueue('empty-one', { a: 1 });
}
`;
    expect(problems(out, usage).map((problem) => problem.split(':')[0])).toEqual([
      '7',
      '9',
      '10',
      '11',
      '12',
      '13',
      '14',
    ]);
  });

  it('takes the newest revision of each workflow', async () => {
    const { out } = await new Project(files).runsheet(['handlers', '--types']);
    expect(out.match(/\bpay\b/g)).toHaveLength(3);
    expect(out).not.toContain('total');
  });
});

const handlers = `
import { defineHandler } from 'runsheet';
import { z } from 'zod';
export default [
  defineHandler({
    name: 'mail.send',
    description: 'Sends a mail.',
    input: z.strictObject({
      to: z.email(),
      copies: z.int().min(0).optional(),
      parts: z.array(z.union([z.string(), z.object({ html: z.string() })])).optional(),
      kind: z.enum(['plain', 'pretty']).optional(),
    }),
    run: () => null,
  }),
  defineHandler({ name: 'note', run: () => null }),
];
`;

describe('runsheet handlers --schema', () => {
  it('knows the handlers, what they take, and that a formula or a secret may stand for any of it', async () => {
    const project = new Project({
      'handlers/all.ts': handlers.replace(
        "import { z } from 'zod';",
        `import { z } from '${join(root, 'node_modules/zod/index.js')}';`,
      ),
    });
    const { code, out } = await project.runsheet(['handlers', '--schema']);
    expect(code).toBe(0);
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    const validate = ajv.compile(JSON.parse(out) as object);
    const fits = (step: object): boolean => validate({ workflow: 'w', steps: [step] });
    const mail = (input: unknown): boolean => fits({ step: 'mail.send', with: input });

    expect(mail({ to: 'a@example.test', copies: 1, parts: ['x', { html: 'y' }], kind: 'plain' })).toBe(true);
    expect(
      mail({ to: '=$input.to', copies: '=1', parts: ['=$x', { html: '=$y' }, { $secret: 'Z' }], kind: '=$k' }),
    ).toBe(true);
    expect(mail({ to: { $secret: 'TO' }, parts: '=$input.parts' })).toBe(true);
    expect(mail('=$input.mail')).toBe(true);
    expect(fits({ step: 'note', with: { anything: 1 } })).toBe(true);
    expect(fits({ step: 'note', compensate: { step: 'mail.send', with: { to: '=$input.to' } } })).toBe(true);

    expect(fits({ step: 'nosuch' })).toBe(false);
    expect(mail({})).toBe(false);
    expect(mail({ to: 'nobody' })).toBe(false);
    expect(mail({ to: '=$a', copies: 'many' })).toBe(false);
    expect(mail({ to: '=$a', parts: [{ html: 5 }] })).toBe(false);
    expect(mail({ to: '=$a', kind: 'ugly' })).toBe(false);
    expect(mail({ to: '=$a', subject: 'x' })).toBe(false);
    expect(fits({ step: 'note', compensate: { step: 'mail.send', with: { too: '=$a' } } })).toBe(false);
    expect(fits({ waitFor: 'x', timeout: '1h', remind: { every: '5m', step: 'nosuch' } })).toBe(false);
  });

  it('prints one thing at a time', async () => {
    const { code, err } = await new Project().runsheet(['handlers', '--schema', '--types']);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('give one of them') as string });
  });
});
