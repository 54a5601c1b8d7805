import { describe, expect, it } from 'vitest';
import { Project } from './project.js';

const note = `import { appendFileSync } from 'node:fs'; appendFileSync(new URL('../executed', import.meta.url), 'x');`;

/** Whatever of it is executed leaves a file. */
const trap = {
  'package.json': '{ "type": "module" }',
  'project/package.json': '{ "type": "module" }',
  'project/runsheet.config.ts': `${note}\nexport default { db: 'data.db' };\n`,
  'project/handlers/all.ts': `import { appendFileSync } from 'node:fs';
appendFileSync(new URL('../../executed', import.meta.url), 'x');
export default [{ name: 'a.b', run: () => appendFileSync(new URL('../../executed', import.meta.url), 'run') }];\n`,
  'project/definitions/f.yaml': 'workflow: f\nsteps:\n  - step: a.b\n',
  'project/definitions/g.yaml': 'workflow: g\nsteps:\n  - waitFor: go\n    timeout: never\n',
  'project/definitions/f.test.yaml': `workflow: ./f.yaml
tests:
  - name: real
    handlers: { a.b: real }
  - name: scripted
    handlers: { a.b: { returns: 1 } }
`,
};

/** A way to call each command; those that need handlers are refused, which is 2. */
const calls: Readonly<Record<string, readonly string[]>> = {
  validate: ['definitions'],
  explain: ['RS2013'],
  test: [],
  hash: ['definitions/f.yaml'],
  diff: ['definitions/f.yaml', 'definitions/g.yaml'],
  graph: ['f'],
  handlers: [],
  run: ['f'],
  start: ['f'],
  list: [],
  show: ['k'],
  logs: ['k'],
  signal: ['k', 'go'],
  cancel: ['k'],
  resume: ['k'],
  'compensation resume': ['k'],
  'compensation abandon': ['k'],
  worker: [],
  recover: [],
  schedules: [],
  'schedules pause': ['f', '0'],
  'schedules resume': ['f', '0'],
  'schedules trigger': ['f', '0'],
  cleanup: ['--older-than', '1h'],
  archive: ['--older-than', '1h'],
  init: ['new'],
  doctor: [],
  migrate: [],
  schema: [],
  completion: ['bash'],
};

const refused = ['handlers', 'run', 'start', 'worker', 'recover', 'schedules trigger'];

async function commandsIn(words: readonly string[]): Promise<string[]> {
  const help = (await new Project().runsheet([...words, '--help'])).out;
  const [, list = ''] = /\nCommands:\n([\s\S]*?)(?:\n\n|$)/.exec(help) ?? [];
  const names = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
  const inner = await Promise.all(names.map((name) => commandsIn([...words, name])));
  return names.flatMap((name, at) => [[...words, name].join(' '), ...(inner[at] ?? [])]);
}

async function withRun(): Promise<Project> {
  const project = new Project({ ...trap, 'project/runsheet.config.ts': '' });
  project.write('trusted/runsheet.config.yaml', '{}');
  const { code } = await project
    .in('trusted')
    .runsheet(['start', '../project/definitions/g.yaml', '--key', 'k', '--db', '../project/.runsheet/runs.db']);
  expect(code).toBe(0);
  project.write('project/runsheet.config.ts', trap['project/runsheet.config.ts']);
  return project;
}

describe('--untrusted', () => {
  it('is known to every command of this list', async () => {
    const known = await commandsIn([]);
    expect(known.filter((name) => name !== 'compensation').sort()).toEqual(Object.keys(calls).sort());
  });

  it.each(Object.entries(calls))('%s executes nothing of the project', async (name, rest) => {
    const project = await withRun();
    const args = [...name.split(' '), ...rest];
    for (const [words, env] of [
      [[...args, '--untrusted'], {}],
      [['--untrusted', ...args], {}],
      [args, { RUNSHEET_UNTRUSTED: '1' }],
    ] as const) {
      const { code, err } = await project.in('project').runsheet(words, { env });
      expect(err).not.toContain('This should not happen');
      expect({ refused: /forbids executing code of the project/.test(err), code: code === 2 }).toEqual({
        refused: refused.includes(name),
        code: refused.includes(name),
      });
    }
    expect(project.exists('executed')).toBe(false);
  });

  it.each(['list', 'validate', 'doctor'])('is needed: %s without it executes the config', async (name) => {
    const project = new Project(trap);
    await project.in('project').runsheet([name]);
    expect(project.exists('executed')).toBe(true);
  });

  it.each(['list', 'validate', 'doctor', 'test'])('%s executes nothing that stands above the project', async (name) => {
    const project = new Project({
      'runsheet.config.mjs': trap['project/runsheet.config.ts'].replace('../executed', './executed'),
      'project/package.json': '{}',
      'project/definitions/g.yaml': trap['project/definitions/g.yaml'],
    });
    await project.in('project/definitions').runsheet([name]);
    expect(project.exists('executed')).toBe(false);
  });

  it('says what was left out', async () => {
    const { code, err } = await new Project(trap).in('project').runsheet(['validate', '--untrusted']);
    expect({ code, err }).toEqual({
      code: 0,
      err: `note: --untrusted executes no code of the project, so runsheet.config.ts was left out
note: --untrusted executes no code of the project, so handlers were not checked
2 flows and 1 flow test checked, no problems
note: flows without a test: definitions/g.yaml
`,
    });
  });

  it('fails the test that wants the real handler, and runs the others', async () => {
    const { code, out } = await new Project(trap).in('project').runsheet(['test', '--untrusted']);
    expect(code).toBe(1);
    expect(out).toMatch(/FAIL {2}real[^]*ok {4}scripted/);
  });

  it('reads a config that is data', async () => {
    const project = new Project({ ...trap, 'project/strict.yaml': 'maxWarnings: 0\n' });
    const list = await project.in('project').runsheet(['list', '--untrusted', '--config', 'strict.yaml']);
    expect(list.err).toMatch(/^error: there is no database/);
  });

  it.each([
    [['list', '--config', 'runsheet.config.ts'], 'the config runsheet.config.ts is code'],
    [['validate', '--handlers', 'handlers'], '--handlers names code'],
  ])('refuses code that is named: %j', async (args, message) => {
    const project = new Project(trap);
    const { code, err } = await project.in('project').runsheet([...args, '--untrusted']);
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(`error: ${message}, and`) });
    expect(project.exists('executed')).toBe(false);
  });

  it.each([
    ['', true],
    ['0', true],
    ['false', true],
    ['1', false],
    ['yes', false],
    ['ture', false],
  ])('is what RUNSHEET_UNTRUSTED=%s means', async (value, executed) => {
    const project = new Project(trap);
    await project.in('project').runsheet(['doctor'], { env: { RUNSHEET_UNTRUSTED: value } });
    expect(project.exists('executed')).toBe(executed);
  });

  it.each([
    ['run', ''],
    ['handlers', ''],
    ['show', ''],
    ['list', '--status', ''],
    ['show', '--config', 'runsheet.config.ts', ''],
    ['handlers', '--handlers', 'handlers', ''],
  ])('completion never executes anything: %s %s %s', async (...words) => {
    const project = await withRun();
    await project.in('project').runsheet(['complete', '--', ...words]);
    expect(project.exists('executed')).toBe(false);
  });

  it('stands in the help of every command', async () => {
    for (const name of await commandsIn([])) {
      expect((await new Project().runsheet([...name.split(' '), '--help'])).out).toContain('--untrusted');
    }
  });
});
