import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { root } from '../docs/manual.js';

const compiler = join(root, 'node_modules/typescript/bin/tsc');
/** Where the package is built from the sources as they are now. */
let built = '';

beforeAll(() => {
  built = mkdtempSync(join(tmpdir(), 'runsheet-built-'));
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', root, '--outDir', built], {
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
}, 300_000);

afterAll(() => rmSync(built, { recursive: true, force: true }));

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const dependencies = Object.keys(manifest.dependencies);

/** The modules that the public declarations lead to, and what they import from other packages. */
function declared(entry: string, seen = new Set<string>(), packages = new Set<string>()): Set<string> {
  if (seen.has(entry)) return packages;
  seen.add(entry);
  for (const [, from = ''] of readFileSync(entry, 'utf8').matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
    if (!from.startsWith('.')) packages.add(from);
    else declared(resolve(dirname(entry), from.replace(/\.js$/, '.d.ts')), seen, packages);
  }
  return packages;
}

/** A project as npm installs one: this package with its dependencies, and others that are named. */
function installed(packages: readonly string[], files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-types-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const own = join(folder, 'node_modules/runsheet');
  cpSync(built, join(own, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(own, 'package.json'));
  for (const name of [...dependencies, ...packages]) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

function compile(folder: string): string {
  const options = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
  const where = ['--target', 'ES2023', '--module', 'NodeNext', '--skipLibCheck', 'false', '--pretty', 'false'];
  const sources = readdirSync(folder).filter((name) => name.endsWith('.ts'));
  const { stdout } = spawnSync(process.execPath, [compiler, ...options, ...where, ...sources], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout;
}

describe('the types of the package', () => {
  it('name no package that its users do not have', () => {
    const found = ['index', 'testing/index'].flatMap((entry) => [...declared(join(built, `${entry}.d.ts`))]);
    const typed = dependencies.filter((name) => !['better-sqlite3', 'picomatch'].includes(name));
    const foreign = found.map((name) => name.split('/')[0] ?? '').filter((name) => !name.startsWith('node:'));
    expect([...new Set(foreign)].filter((name) => !typed.includes(name))).toEqual([]);
  });

  it('are right for the strictest compiler, which checks them too', { timeout: 300_000 }, () => {
    const folder = installed(['@types/node', 'undici-types'], {
      'program.ts': `
import { NonRetryableError, SqliteStorage, createEngine, defineHandler, loadDefinitions, loadHandlers } from 'runsheet';
import { testFlow } from 'runsheet/testing';
import './workflow-types.js';

const definitions = await loadDefinitions('definitions');
const flow = await testFlow({ definitions, workflow: 'order' });
await flow.close();

const engine = createEngine({ storage: new SqliteStorage('x.db'), definitions, handlers: await loadHandlers('handlers') });
const run = await engine.enqueue('order', { orderId: 'o-1' }, { key: 'k' });
// @ts-expect-error the name is misspelt
await engine.enqueue('ordr', { orderId: 'o-1' });
// @ts-expect-error the input is not the one of this workflow
await engine.enqueue('order', { orderId: 1 });
const computed: string = process.argv[2] ?? 'order';
await engine.enqueue(computed, { anything: true });

const ended = await engine.result(run);
const total: number | undefined = ended.output?.total;
// @ts-expect-error the output is not a text
const text: string = ended.output;
const typed = await engine.result<'order'>('wf_1');
const again: number | undefined = typed.output?.total;
const untyped = await engine.result('wf_1');
console.log(total, text, again, untyped.output);

await engine.signal({ workflow: 'order', key: 'k' }, 'approval', { approved: true });
await engine.signal(run, 'approval', { approved: true });
await engine.signal('wf_1', 'whatever', 1);
// @ts-expect-error the name is misspelt
await engine.signal(run, 'aproval', { approved: true });
// @ts-expect-error the payload is not the one of this signal
await engine.signal({ workflow: 'order', key: 'k' }, 'approval', { approved: 'yes' });

const errors = ['CardDeclined'] as const;
export default defineHandler({
  name: 'payments.charge',
  errors,
  run() {
    if (total === 1) throw new NonRetryableError<(typeof errors)[number]>('declined', { name: 'CardDeclined' });
    // @ts-expect-error the name is none of those that are declared
    throw new NonRetryableError<(typeof errors)[number]>('declined', { name: 'CardDeclnied' });
  },
});
`,
      'workflow-types.ts': `
export {};
declare module 'runsheet' {
  interface WorkflowInputs { order: { readonly orderId: string } }
  interface WorkflowOutputs { order: { readonly total: number } }
  interface WorkflowSignals { order: { approval: { readonly approved: boolean } } }
}
`,
    });
    expect(compile(folder)).toBe('');
  });

  it('take any name and value where a project has declared none', { timeout: 300_000 }, () => {
    const folder = installed(['@types/node', 'undici-types', '@types/better-sqlite3'], {
      'program.ts': `
import { MemoryStorage, createEngine } from 'runsheet';
const engine = createEngine({ storage: new MemoryStorage() });
const run = await engine.enqueue('anything');
await engine.signal(run.id, 'word', { any: 1 });
console.log((await engine.result(run.id)).output);
`,
    });
    expect(compile(folder)).toBe('');
  });
});

describe('the package', () => {
  it('has no source maps', () => {
    expect(readdirSync(built, { recursive: true }).filter((name) => String(name).endsWith('.map'))).toEqual([]);
  });
});
