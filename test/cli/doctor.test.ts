import { chmodSync, closeSync, openSync, rmSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { checkInstallation } from '../../src/cli/doctor/installation.js';
import { asOrdinaryUser } from '../support/ordinary-user.js';
import { Project, notingHandlers } from './project.js';

const flow = `
workflow: greeting
steps:
  - step: note
    with: { text: hello }
`;

async function doctor(project: Project): Promise<{ code: number; lines: string[] }> {
  const { code, out } = await project.runsheet(['doctor']);
  return { code, lines: out.trimEnd().split('\n') };
}

describe('runsheet doctor', () => {
  it('finds nothing wrong with a sound project', async () => {
    const project = new Project({ 'definitions/greeting.yaml': flow, 'handlers/all.ts': notingHandlers });
    await project.runsheet(['run', 'greeting']);
    const { code, lines } = await doctor(project);
    expect(code).toBe(0);
    expect(lines).toEqual([
      'ok       Runsheet: 0.1.0',
      `ok       Node: ${process.version}`,
      expect.stringMatching(/^ok {7}SQLite: 3\./),
      'ok       handlers: 5 handlers',
      'ok       flows: 1 flow without mistakes',
      expect.stringMatching(/^ok {7}database: .*runs\.db, version 4, [\d.]+ KB, sound$/),
      expect.stringMatching(/^ok {7}clock: /),
      'ok       runs: none is stuck',
    ]);
  });

  it('says what to do in an empty folder, and fails nothing', async () => {
    const { code, lines } = await doctor(new Project());
    expect(code).toBe(0);
    expect(lines).toContain('warning  handlers: there is no folder `handlers` here');
    expect(lines).toContain('         name the folder by --definitions, or make a project by `runsheet init`');
  });

  it('names a place that somebody gave and that is not there, and who gave it', async () => {
    const project = new Project({ 'definitions/greeting.yaml': flow, 'handlers/all.ts': notingHandlers });
    const problems = async (args: readonly string[], env: Record<string, string> = {}): Promise<string[]> => {
      const { code, out } = await project.runsheet(['doctor', ...args], { env });
      expect(code).toBe(1);
      return out.split('\n').filter((line) => line.startsWith('problem'));
    };
    expect(await problems(['--handlers', 'nosuch'])).toEqual([
      'problem  handlers: there are no handlers at nosuch, which --handlers names',
    ]);
    expect(await problems([], { RUNSHEET_DEFINITIONS: 'nosuch' })).toEqual([
      'problem  flows: there is no folder nosuch of flows, which RUNSHEET_DEFINITIONS names',
    ]);
    project.write('runsheet.config.yaml', 'handlers: nosuch\ndefinitions: nowhere\ndb: definitions');
    expect(await problems([])).toEqual([
      'problem  handlers: there are no handlers at nosuch, which `handlers` in runsheet.config.yaml names',
      'problem  flows: there is no folder nowhere of flows, which `definitions` in runsheet.config.yaml names',
      expect.stringMatching(/^problem {2}database: .*definitions is a folder; give the path of a file/),
    ]);
  });

  it('takes a folder without flows for what it is', async () => {
    const { code, lines } = await doctor(new Project({ 'definitions/readme.md': '' }));
    expect(code).toBe(0);
    expect(lines).toContain('warning  flows: there is no flow (*.yaml, *.yml, *.json) in the folder definitions');
  });

  it('does not call a database sound that cannot be written', async () => {
    const project = new Project({ 'definitions/greeting.yaml': flow, 'handlers/all.ts': notingHandlers });
    await project.runsheet(['run', 'greeting']);
    chmodSync(project.folder, 0o755);
    chmodSync(project.path('.runsheet'), 0o777);
    chmodSync(project.path('.runsheet/runs.db'), 0o444);
    await asOrdinaryUser(async () => {
      const { code, lines } = await doctor(project);
      expect(code).toBe(1);
      expect(lines).toContainEqual(
        expect.stringMatching(/^problem {2}database: .*runs\.db cannot be written; give this user write permission/),
      );
    });
    // One that is still to be made cannot be made here.
    chmodSync(project.path('.runsheet'), 0o555);
    await asOrdinaryUser(async () => {
      const { code, out } = await project.runsheet(['doctor', '--db', '.runsheet/deep/new.db']);
      expect(code).toBe(1);
      expect(out).toMatch(/problem {2}database: .*new\.db cannot be written/);
    });
    chmodSync(project.path('.runsheet'), 0o755);
  });

  it('sends one with broken handlers or flows to the commands that show more', async () => {
    const project = new Project({ 'definitions/greeting.yaml': 'workflow: x', 'handlers/all.ts': 'export default 7;' });
    const { code, lines } = await doctor(project);
    expect(code).toBe(1);
    expect(lines).toContain('problem  flows: mistakes in definitions/greeting.yaml');
    expect(lines).toContain('         `runsheet handlers` shows all that is wrong with them');
  });

  it('tells which runs have lost their flow, and what would drive them', async () => {
    const project = new Project({
      'definitions/greeting.yaml': `${flow}  - waitFor: go\n    timeout: never\n`,
      'handlers/all.ts': notingHandlers,
    });
    await project.runsheet(['run', 'greeting', '--no-wait']);
    project.write('definitions/greeting.yaml', flow.replace('hello', 'goodbye'));
    const adoptable = await doctor(project);
    expect(adoptable.code).toBe(1);
    expect(adoptable.lines.join('\n')).toMatch(
      /problem {2}runs: 1 run of greeting revision 1 without its flow \(hash [0-9a-f]{12}\)\n.*`runsheet worker --adopt-stored`/,
    );
    rmSync(project.path('handlers/all.ts'));
    project.write('handlers/others.ts', notingHandlers.replace("name: 'note'", "name: 'jot'"));
    expect((await doctor(project)).lines.join('\n')).toContain('and the handlers note with it');
  });

  it('tells a run that is stuck in its undoing, with the command that shows it', async () => {
    const project = new Project({
      'definitions/stuck.yaml': `
workflow: stuck
steps:
  - id: a
    step: note
    with: { text: a }
    compensate: { step: unless-mended, retry: { attempts: 1 } }
  - fail: Nope
`,
      'handlers/all.ts': notingHandlers,
    });
    await project.runsheet(['run', 'stuck', '--no-wait']);
    const { code, lines } = await doctor(project);
    expect(code).toBe(1);
    expect(lines.join('\n')).toMatch(
      /problem {2}runs: 1 run could not undo a step and waits for a decision\n +`runsheet show wf_[0-9a-f]{32}`/,
    );
  });

  it('tells runs that are due while no worker is there', async () => {
    const project = new Project({ 'definitions/greeting.yaml': flow, 'handlers/all.ts': notingHandlers });
    await project.runsheet(['start', 'greeting']);
    const db = new Database(project.path('.runsheet/runs.db'));
    db.exec('update run set due_at = due_at - 3600000');
    db.close();
    const { code, lines } = await doctor(project);
    expect(code).toBe(0);
    expect(lines.join('\n')).toMatch(/warning {2}runs: there are runs due since .*\n +drive them by `runsheet worker`/);
  });

  it('tells a clock that was set back', async () => {
    const project = new Project({ 'definitions/greeting.yaml': flow, 'handlers/all.ts': notingHandlers });
    await project.runsheet(['run', 'greeting']);
    const db = new Database(project.path('.runsheet/runs.db'));
    db.exec('update run set created_at = created_at + 86400000');
    db.close();
    expect((await doctor(project)).lines.join('\n')).toContain('set the clock right');
  });

  it('tells a damaged database, one of another program, and one that is none', async () => {
    const project = new Project({ 'definitions/greeting.yaml': flow, 'handlers/all.ts': notingHandlers });
    await project.runsheet(['run', 'greeting']);
    const file = openSync(project.path('.runsheet/runs.db'), 'r+');
    writeSync(file, Buffer.alloc(512, 0xaa), 0, 512, 3 * 4096);
    closeSync(file);
    const damaged = await doctor(project);
    expect(damaged.code).toBe(1);
    expect(damaged.lines.join('\n')).toMatch(/problem {2}database: .*damaged|problem {2}database: .*SQLITE_CORRUPT/);

    const other = new Database(project.path('other.db'));
    other.exec('create table invoice (id)');
    other.close();
    project.write('text.db', 'id;amount\n'.repeat(1000));
    for (const [name, message] of [
      ['other.db', 'of another program'],
      ['text.db', 'is not a SQLite database'],
    ] as const) {
      const { code, out } = await project.runsheet(['doctor', '--db', name]);
      expect(code).toBe(1);
      expect(out).toContain(message);
    }
  });

  it('prints JSON', async () => {
    const { out } = await new Project().runsheet(['doctor', '--json']);
    expect(JSON.parse(out)).toMatchObject({
      version: 1,
      findings: expect.arrayContaining([{ subject: 'Runsheet', state: 'fine', message: '0.1.0' }]),
    });
  });

  it.each([
    ['v18.20.4', 'problem'],
    ['v20.18.9', 'problem'],
    ['v20.19.0', 'fine'],
    ['v24.1.0', 'fine'],
  ])('judges Node %s as a %s', async (version, state) => {
    const [, node] = await checkInstallation(version);
    expect(node).toMatchObject({ subject: 'Node', state });
  });
});

describe('runsheet migrate', () => {
  it('says what it does, and by --check what it would do', async () => {
    const project = new Project();
    expect(await project.runsheet(['migrate'])).toMatchObject({ code: 4 });
    project.write('runs.db', '');
    expect(await project.runsheet(['migrate', '--check', '--db', 'runs.db'])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/would go from version 0 to 4\n$/),
    });
    expect(await project.runsheet(['migrate', '--db', 'runs.db', '--json'])).toMatchObject({
      code: 0,
      out: '{"version":1,"from":0,"to":4,"migrated":true}\n',
    });
    expect(await project.runsheet(['migrate', '--check', '--db', 'runs.db'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/has version 4, which is the newest\n$/),
    });
  });
});
