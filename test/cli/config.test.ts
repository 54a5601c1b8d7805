import { describe, expect, it } from 'vitest';
import { Project, notingHandlers } from './project.js';

const flow = 'workflow: f\nsteps:\n  - step: note\n    with: { text: no }\n';
const quiet = { 'definitions/f.yaml': flow, 'handlers/all.ts': notingHandlers };

describe('the config of a project', () => {
  it.each([
    ['runsheet.config.yaml', 'severity:\n  RS1030: off\n'],
    ['runsheet.config.json', '{ "severity": { "RS1030": "off" } }'],
    ['runsheet.config.js', 'export default { severity: { RS1030: "off" } };'],
    ['runsheet.config.mjs', 'export default { severity: { RS1030: "off" } };'],
    [
      'runsheet.config.ts',
      `import { type RunsheetConfig, defineConfig } from 'runsheet';
       const config: RunsheetConfig = { severity: { RS1030: 'off' } };
       export default defineConfig(config);`,
    ],
  ])('is read from %s', async (name, text) => {
    const project = new Project({ ...quiet, 'package.json': '{ "type": "module" }' });
    expect((await project.runsheet(['validate', 'definitions/f.yaml'])).err).toContain('1 warning');
    project.write(name, text);
    const { code, err } = await project.runsheet(['validate', 'definitions/f.yaml']);
    expect({ code, err }).toEqual({ code: 0, err: '1 flow checked, no problems\n' });
  });

  it('can make a warning an error, but no error any milder', async () => {
    const project = new Project({
      ...quiet,
      'definitions/f.yaml': `${flow}  - step: nosuch\n`,
      'runsheet.config.yaml': 'severity: { RS1030: error, RS4007: "off" }\n',
    });
    const { code, out, err } = await project.runsheet(['validate', 'definitions/f.yaml']);
    expect(code).toBe(1);
    expect(out).toContain('error RS1030');
    expect(out).toContain('error RS4007');
    expect(err).toContain('note: RS4007 is an error, which runsheet.config.yaml cannot make any milder\n');
  });

  it('ignores warnings by code and by path', async () => {
    const files = { 'definitions/old/a.yaml': flow.replace(': f', ': a'), 'definitions/f.yaml': flow };
    const project = new Project({ ...files, 'runsheet.config.yaml': 'ignore:\n  - path: definitions/old/**\n' });
    const args = ['validate', 'definitions/old', 'definitions', '--no-handlers'];
    expect((await project.runsheet(args)).out).toMatch(/^definitions\/f\.yaml[^]*RS1030(?![^]*RS1030)/);
    project.write('runsheet.config.yaml', 'ignore:\n  - { code: RS1031, path: "**" }\n');
    expect((await project.runsheet(args)).out.match(/RS1030/g)).toHaveLength(2);
    project.write('runsheet.config.yaml', 'ignore:\n  - code: RS1030\n');
    expect((await project.runsheet(args)).out).toBe('');
  });

  it('limits the warnings of validate', async () => {
    const project = new Project({ ...quiet, 'runsheet.config.yaml': 'maxWarnings: 0\n' });
    const { code, err } = await project.runsheet(['validate']);
    expect(code).toBe(1);
    expect(err).toContain('error: 1 warning, and runsheet.config.yaml allows 0\n');
    expect((await project.runsheet(['validate', '--max-warnings', '1'])).code).toBe(0);
  });

  it('says where runs, handlers and flows are, seen from its own folder, for all commands anywhere below', async () => {
    const project = new Project({
      'package.json': '{}',
      'runsheet.config.yaml': 'db: data/runs.db\nhandlers: code\ndefinitions: flows\n',
      'flows/f.yaml': flow,
      'code/all.ts': notingHandlers,
      'deep/er/readme.txt': '',
    });
    const inside = project.in('deep/er');
    expect(await inside.runsheet(['run', 'f'])).toMatchObject({ code: 0, out: '{\n  "text": "no"\n}\n' });
    const list = await inside.runsheet(['list', '--json']);
    expect((JSON.parse(list.out) as { runs: unknown[] }).runs).toHaveLength(1);
    expect(project.exists('data/runs.db')).toBe(true);
    expect((await inside.runsheet(['handlers'])).out).toContain('note');
    expect((await inside.runsheet(['validate'])).out).toMatch(/^\.\.\/\.\.\/flows\/f\.yaml:/);
  });

  it('without a word for a thing has its usual place in the folder of the config', async () => {
    const project = new Project({ ...quiet, 'runsheet.config.yaml': '{}\n', '.git/HEAD': '', 'sub/a': '' });
    expect((await project.in('sub').runsheet(['run', 'f'])).code).toBe(0);
    expect(project.exists('.runsheet/runs.db')).toBe(true);
  });

  it.each(['package.json', '.git/HEAD'])('is looked for up to the folder with %s, and no further', async (mark) => {
    const project = new Project({
      'runsheet.config.yaml': 'nonsense: 1\n',
      [`project/${mark}`]: '{}',
      'project/deep/er/a.txt': '',
      'elsewhere/a.txt': '',
    });
    const code = async (folder: string): Promise<number> => (await project.in(folder).runsheet(['list'])).code;
    expect(await code(''), 'in the working directory itself').toBe(2);
    expect(await code('project/deep/er'), 'there is no database, and no config that says so wrongly').toBe(4);
    expect(await code('elsewhere'), 'in no project').toBe(4);
    project.write('project/runsheet.config.yaml', 'nonsense: 1\n');
    expect(await code('project/deep/er')).toBe(2);
  });

  it('gives way to the environment, that to an option', async () => {
    const project = new Project({
      'runsheet.config.yaml': 'db: config.db\nhandlers: nowhere\ndefinitions: nowhere\n',
      'flows/f.yaml': flow,
      'code/all.ts': notingHandlers,
    });
    const env = { RUNSHEET_DB: 'environment.db', RUNSHEET_HANDLERS: 'code', RUNSHEET_DEFINITIONS: 'flows' };
    const ran = await project.runsheet(['run', 'f'], { env });
    expect(ran).toMatchObject({ code: 0 });
    expect([project.exists('config.db'), project.exists('environment.db')]).toEqual([false, true]);
    const wrong = { RUNSHEET_DB: 'no.db', RUNSHEET_HANDLERS: 'no', RUNSHEET_DEFINITIONS: 'no' };
    const flags = ['--db', 'option.db', '--handlers', 'code', '--definitions', 'flows'];
    expect((await project.runsheet(['run', 'f', ...flags], { env: wrong })).code).toBe(0);
    expect([project.exists('no.db'), project.exists('option.db')]).toEqual([false, true]);
    const start = await project.runsheet(['start', 'f'], { env: { ...env, RUNSHEET_DB: '' } });
    expect(start.code, 'an empty variable says nothing').toBe(0);
    expect(project.exists('config.db')).toBe(true);
    expect(start.err, 'what is in the config need not be said again').toMatch(/\n {2}runsheet run f --continue \S+\n$/);
  });

  it('is what --config or the environment names', async () => {
    const project = new Project({ ...quiet, 'ci/strict.yaml': 'maxWarnings: 0\ndefinitions: ../definitions\n' });
    expect((await project.runsheet(['validate', '--no-handlers'])).code).toBe(0);
    expect((await project.runsheet(['validate', '--no-handlers', '--config', 'ci/strict.yaml'])).code).toBe(1);
    const env = { RUNSHEET_CONFIG: 'ci/strict.yaml' };
    expect((await project.runsheet(['validate', '--no-handlers'], { env })).code).toBe(1);
    expect(await project.runsheet(['validate', '--config', 'no.yaml'])).toMatchObject({
      code: 4,
      err: 'error: there is no config file no.yaml; leave it out to take runsheet.config.* of the project\n',
    });
  });

  it.each([
    ['databse: x\n', ':1:1: there is no setting `databse`; there are'],
    ['dbs: x\n', ':1:1: there is no setting `dbs`; did you mean db?'],
    ['\nconcurrency: many\n', ':2:1: `concurrency` must be a whole number from 1 on'],
    ['maxWarnings: -1\n', ':1:1: `maxWarnings` must be a whole number from 0 on'],
    ['severity:\n  RS1030: loud\n', ':2:3: `severity.RS1030` must be `off`, `warning` or `error`'],
    ['severity:\n  RS1300: off\n', ':2:3: `severity.RS1300`: there is no such code; did you mean RS1030?'],
    ['ignore: RS1030\n', ':1:1: `ignore` must be a list of rules `{ code, path }`'],
    ['ignore:\n  - {}\n', ':2:5: `ignore[0]` needs a `code`, a `path`, or both'],
    ['ignore:\n  - code: RS9999\n', ':2:5: `ignore[0].code`: there is no such code'],
    ['ignore:\n  - file: x\n', ':2:5: there is no setting `ignore[0].file`'],
    ['- db\n', ':1:1: a config is a map of settings'],
    ['db: "open\n', 'the quote that opens here is never closed'],
  ])('is refused with place and remedy: %j', async (text, message) => {
    const project = new Project({ ...quiet, 'runsheet.config.yaml': text });
    const { code, out, err } = await project.runsheet(['list']);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^error: /);
    expect(err).toContain(message.startsWith(':') ? `runsheet.config.yaml${message}` : message);
  });

  it('tells all that is wrong at once; a module that cannot be loaded; two configs', async () => {
    const project = new Project({ 'runsheet.config.yaml': 'db: 1\nhandlers: 2\n' });
    expect((await project.runsheet(['list'])).err).toMatch(/`db` must be [^]*\n.*`handlers` must be /);
    project.write('runsheet.config.mjs', 'throw new Error("not now");');
    const two = await project.runsheet(['list']);
    expect(two).toMatchObject({ code: 2 });
    expect(two.err).toMatch(/are both the config of the project; keep one\n$/);
    const broken = await project.runsheet(['list', '--config', 'runsheet.config.mjs']);
    expect(broken).toMatchObject({ code: 2, err: 'error: runsheet.config.mjs cannot be loaded: not now\n' });
  });

  it('does not matter to commands that have no use for it', async () => {
    const project = new Project({ 'runsheet.config.yaml': 'nonsense: 1\n', 'a.yaml': 'workflow: a\nsteps: []\n' });
    expect((await project.runsheet(['hash', 'a.yaml'])).code).toBe(0);
    expect((await project.runsheet(['explain', 'RS1030'])).code).toBe(0);
  });
});
