import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createJiti } from 'jiti';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RunsheetError } from '../../src/common/index.js';
import { HandlerRegistry, isNoEffect, isNonRetryable, loadHandlers, originOf } from '../../src/handlers/index.js';

/** The modules import Runsheet as the CLI's users do: through jiti, so with a copy of their own. */
const runsheet = fileURLToPath(new URL('../../src/handlers/index.ts', import.meta.url));
const jiti = createJiti(import.meta.url, { moduleCache: false });
const importModule = (file: string): Promise<unknown> => jiti.import(file);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runsheet-handlers-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (files: Record<string, string>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
};

const named = (name: string): string => `export default { name: '${name}', run: () => '${name}' };\n`;

const refusal = async (path = folder, options: Parameters<typeof loadHandlers>[1] = { importModule }) => {
  const error: unknown = await loadHandlers(path, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RunsheetError)) throw new Error(`expected a refusal, got ${String(error)}`);
  return { code: error.code, message: error.message.replaceAll(folder, '<folder>'), cause: error.cause };
};

describe('which files are handlers', () => {
  test('those directly in the folder, in the order of their names, one handler or a list each', async () => {
    write({
      'stock.ts': `export default [{ name: 'stock.pick', run(): void {} }, { name: 'stock.book', run(): void {} }];`,
      'mail.mjs': named('mail.send'),
      'audit.js': named('audit'),
      '_shared.ts': 'throw new Error("never loaded")',
      'types.d.ts': 'throw new Error("never loaded")',
      'mail.test.ts': 'throw new Error("never loaded")',
      'readme.md': 'no code',
      'deeper/other.ts': 'throw new Error("never loaded")',
      'folder.ts/inside.ts': 'throw new Error("never loaded")',
    });
    const handlers = await loadHandlers(folder, { importModule });
    expect(handlers.map(({ name }) => name)).toEqual(['audit', 'mail.send', 'stock.pick', 'stock.book']);
    expect(handlers.map(originOf)).toEqual(
      ['audit.js', 'mail.mjs', 'stock.ts', 'stock.ts'].map((name) => join(folder, name)),
    );
  });

  test('a single file, whatever its name', async () => {
    write({ '_one.ts': named('one') });
    expect(await loadHandlers(join(folder, '_one.ts'), { importModule })).toMatchObject([{ name: 'one' }]);
  });

  test('an empty folder has none', async () => {
    expect(await loadHandlers(folder, { importModule })).toEqual([]);
  });

  test('JavaScript needs no importModule, not even as CommonJS compiled from a default export', async () => {
    write({
      'package.json': '{ "type": "commonjs" }',
      'old.js': `Object.defineProperty(exports, '__esModule', { value: true });\nexports.default = { name: 'old', run: () => 1 };`,
      'plain.js': `module.exports = { name: 'plain', run: () => 1 };`,
      'new.mjs': named('new'),
    });
    expect((await loadHandlers(folder)).map(({ name }) => name)).toEqual(['new', 'old', 'plain']);
  });

  test('one handler that two files export is one handler', async () => {
    write({
      '_a.mjs': named('a'),
      'a.mjs': `export { default } from './_a.mjs';`,
      'b.mjs': `export { default } from './_a.mjs';`,
    });
    expect(await loadHandlers(folder)).toHaveLength(1);
  });
});

describe('what cannot be loaded is named with its file and the remedy', () => {
  test('a folder that is not there', async () => {
    expect(await refusal(join(folder, 'nowhere'))).toMatchObject({
      code: 'RS_HANDLER_INVALID',
      message: 'there are no handlers at <folder>/nowhere; create that folder, or name the one that holds them',
    });
  });

  test.each([
    ['throws an Error', 'throw new TypeError("no DATABASE_URL");', '(TypeError: no DATABASE_URL)'],
    ['throws something else', 'throw "just text";', '(just text)'],
  ])('a module that %s while it is loaded', async (_, text, shown) => {
    write({ 'bad.ts': text });
    const { code, message, cause } = await refusal();
    expect(code).toBe('RS_HANDLER_INVALID');
    expect(message).toBe(
      `<folder>/bad.ts: the module throws while it is loaded ${shown}; a handler module should only define handlers and do its work in run()`,
    );
    expect(cause).toBeDefined();
  });

  test('a syntax error in TypeScript, at its place', async () => {
    write({ 'bad.ts': "const a: number = 1;\nexport default {{ name: 'x' };\n" });
    expect((await refusal()).message).toBe('<folder>/bad.ts:2:16: syntax error: Unexpected token');
  });

  test('a syntax error in JavaScript', async () => {
    write({ 'bad.mjs': 'export default {{ };\n' });
    expect((await refusal(folder, {})).message).toMatch(/^<folder>\/bad\.mjs: .*(syntax|Unexpected|parse)/i);
  });

  test('an import that is not there', async () => {
    write({ 'bad.ts': "import { x } from './nowhere.js';\nexport default x;\n" });
    expect((await refusal()).message).toMatch(
      /^<folder>\/bad\.ts: it imports something that is not there \(.*nowhere.*\); install or correct it$/,
    );
  });

  test.each([
    [
      'no default export',
      'export const handler = 1;',
      'it has no default export; write export default defineHandler({ … })',
    ],
    [
      'a function',
      'export default function send() {}',
      'but the function send; make one with defineHandler({ name, run })',
    ],
    ['a number', 'export default 3;', 'its default export is neither a handler nor a list of handlers but a number'],
    ['a list with a stranger', 'export default [null];', 'default export, entry 0: a handler is an object, not null'],
    ['no name', 'export default { run() {} };', 'a handler has no name'],
    ['a bad name', "export default { name: '1st', run() {} };", 'handler name "1st" is impossible'],
    ['no run', "export default { name: 'x' };", 'handler "x" has no run function; add run(ctx) { … }'],
    [
      'a misspelt field',
      "export default { name: 'x', run() {}, inputs: 1 };",
      'handler "x" has an unknown field "inputs"',
    ],
    [
      'no zod schema',
      "export default { name: 'x', run() {}, input: { a: 'string' } };",
      'input of handler "x" is no zod schema but an object',
    ],
    [
      'errors that are no names',
      "export default { name: 'x', run() {}, errors: [404] };",
      'errors of handler "x" is no list of error names',
    ],
  ])('%s', async (_, text, message) => {
    write({ 'bad.ts': text });
    const refused = await refusal();
    expect(refused.code).toBe('RS_HANDLER_INVALID');
    expect(refused.message).toContain(`<folder>/bad.ts`);
    expect(refused.message).toContain(message);
  });

  test('what defineHandler itself refuses', async () => {
    write({
      'bad.ts': `import { defineHandler } from '${runsheet}';\nexport default defineHandler({ name: 'a b', run() {} });`,
    });
    expect((await refusal()).message).toMatch(/^<folder>\/bad\.ts: handler name "a b" is impossible; use letters/);
  });

  test('a name that is defined in two files, or twice in one', async () => {
    write({ 'a.ts': named('mail.send'), 'b.ts': named('mail.send') });
    expect(await refusal()).toMatchObject({
      code: 'RS_HANDLER_DUPLICATE',
      message: 'handler "mail.send" is defined in <folder>/a.ts and in <folder>/b.ts; rename one of them',
    });
    write({ 'b.ts': `export default [{ name: 'x', run() {} }, { name: 'x', run() {} }];` });
    expect((await refusal()).message).toBe('handler "x" is defined twice in <folder>/b.ts; rename one of them');
  });

  test('every mistake of every file at once', async () => {
    write({ 'a.ts': 'export default 1;', 'b.ts': named('ok'), 'c.ts': 'throw new Error("c")', 'd.ts': named('ok') });
    const { message, cause } = await refusal();
    expect(message.split('\n').map((line) => line.slice(0, 13))).toEqual([
      '<folder>/a.ts',
      '<folder>/c.ts',
      'handler "ok" ',
    ]);
    expect(cause).toMatchObject({ errors: { length: 3 } });
  });
});

test('errors are recognised though the handler file has another copy of their classes', async () => {
  write({
    'a.ts': `
      import { NoEffectError, NonRetryableError, defineHandler } from '${runsheet}';
      export default [
        defineHandler({ name: 'declined', run() { throw new NonRetryableError('no', { name: 'CardDeclined' }); } }),
        defineHandler({ name: 'nothing', run() { throw new NoEffectError('busy'); } }),
      ];`,
  });
  const registry = new HandlerRegistry(await loadHandlers(folder, { importModule }));
  const thrownBy = (name: string): unknown => {
    try {
      return registry.get(name).run({} as never);
    } catch (error) {
      return error;
    }
  };
  expect(thrownBy('declined')).toMatchObject({ name: 'CardDeclined', message: 'no' });
  expect([isNonRetryable(thrownBy('declined')), isNoEffect(thrownBy('declined'))]).toEqual([true, false]);
  expect([isNonRetryable(thrownBy('nothing')), isNoEffect(thrownBy('nothing'))]).toEqual([false, true]);
});
