import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { builtCommand } from './built-command.js';
import { Project, notingHandlers } from './project.js';

/** Writes every module that is loaded into the file that MODULES names; those that are required only at the end. */
const recorder = `data:text/javascript,${encodeURIComponent(`
import { appendFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
process.on('exit', () => {
  const required = Object.keys(createRequire('file:///any.js').cache);
  appendFileSync(process.env.MODULES, required.map((path) => path + '\\n').join(''));
});
register('data:text/javascript,' + encodeURIComponent(\`
import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  appendFileSync(process.env.MODULES, url + '\\\\n');
  return next(url, context);
}\`));
`)}`;

const files = {
  'definitions/greeting.yaml': 'workflow: greeting\nsteps:\n  - step: note\n    with: { text: hello }\n',
  'definitions/odd.yaml': 'workflow: odd\nsteps:\n  - set: &value 1\n  - set: *value\n',
  'handlers/all.ts': notingHandlers,
};

/** What a command loads, by folder of the package or by package. */
function loadedBy(args: readonly string[]): Set<string> {
  const project = new Project(files);
  const modules = project.path('modules.txt');
  project.write('modules.txt', '');
  const { status, stderr } = spawnSync(process.execPath, ['--import', recorder, builtCommand(), ...args], {
    cwd: project.folder,
    env: { ...process.env, MODULES: modules },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const found = new Set<string>();
  for (const url of readFileSync(modules, 'utf8').trimEnd().split('\n')) {
    const folder = /\/dist\/(\w+)\//.exec(url)?.[1];
    const library = /.*\/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//.exec(url)?.[1];
    if (library !== undefined && !url.includes('.cache/')) found.add(library);
    else if (folder !== undefined) found.add(folder);
  }
  return found;
}

const runsThings = ['engine', 'storage', 'interpreter', 'better-sqlite3'];

describe('a command loads what it needs', () => {
  it('nothing to tell its version, nothing but commander to tell its help', () => {
    expect([...loadedBy(['--version'])]).toEqual([]);
    expect([...loadedBy(['--help'])].sort()).toEqual(['cli', 'commander', 'common']);
  });

  it('no rules for severities and no other formats to check flows in a project without a config', () => {
    const loaded = loadedBy(['validate', '--no-handlers', 'definitions/greeting.yaml']);
    expect([...loaded].sort()).toEqual(['check', 'cli', 'commander', 'common', 'definition', 'expression', 'syntax']);
  });

  it.each([
    // Handlers import the package, and so all of it.
    ['validate', '--no-handlers', 'definitions/greeting.yaml'],
    ['hash', 'definitions/greeting.yaml'],
    ['schema'],
    ['completion', 'bash'],
    ['init', 'new'],
    ['explain', 'RS4001'],
    ['graph', 'definitions/greeting.yaml'],
  ])('%s without the engine and its database', (...args) => {
    const loaded = loadedBy(args);
    expect(loaded).toContain('commander');
    expect(runsThings.filter((name) => loaded.has(name))).toEqual([]);
  });

  it('validate the YAML library only for a file that is not plainly sound', () => {
    expect(loadedBy(['validate', '--no-handlers', 'definitions/greeting.yaml'])).not.toContain('yaml');
    expect(loadedBy(['validate', '--no-handlers', 'definitions/odd.yaml'])).toContain('yaml');
  });
});
