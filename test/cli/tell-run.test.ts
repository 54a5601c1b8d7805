import { describe, expect, it } from 'vitest';
import { type CommandResult, Project, timeless } from './project.js';
import { waitingFlows } from './waiting-flows.js';

async function letGo(
  workflow: string,
): Promise<{ project: Project; on: (...args: string[]) => Promise<CommandResult> }> {
  const project = new Project(waitingFlows);
  expect((await project.runsheet(['run', workflow, '--key', 'k', '--no-wait'])).code).toBe(6);
  return { project, on: (...args) => project.runsheet(args) };
}

const approval = '{"approved":true,"by":"eva"}';

describe('runsheet signal', () => {
  it('delivers to a run by key or id, and says how it would be driven', async () => {
    const { on } = await letGo('gate');
    const sent = await on('signal', 'k', 'approval', '--data', approval);
    expect({ ...sent, err: timeless(sent.err) }).toEqual({
      code: 0,
      out: '',
      err: 'approval was sent to wf_1; the filter of its gate decides whether it is taken: `runsheet show wf_1` says so\nno engine is running, so that nothing happens until one is; go on by\n  runsheet run gate --continue wf_1\n',
    });
    const [, id = ''] = /(wf_\w+)/.exec(sent.err) ?? [];
    expect((await on('signal', id, 'go')).code).toBe(0);
    expect(await on('run', 'gate', '--continue', id)).toMatchObject({ code: 0, out: 'true\n' });
  });

  it('needs neither handlers nor definitions', async () => {
    const { project } = await letGo('gate');
    const elsewhere = new Project();
    const db = project.path('.runsheet/runs.db');
    const { code, err } = await elsewhere.runsheet(['signal', 'k', 'go', '--db', db]);
    expect(code).toBe(0);
    expect(err).toContain(`  runsheet run gate --continue`);
    expect(err).toContain(`--db ${db}\n`);
  });

  it('takes its payload from a file or stdin, and gives the run as JSON', async () => {
    const { project, on } = await letGo('gate');
    project.write('go.json', '{"now":true}');
    expect((await on('signal', 'k', 'go', '--data', '@go.json')).code).toBe(0);
    const { out } = await project.runsheet(['signal', 'k', 'approval', '--data', '-', '--json'], { stdin: approval });
    expect(JSON.parse(out)).toMatchObject({ version: 1, run: { workflow: 'gate', key: 'k', status: 'waiting' } });
  });

  it.each([
    [['k', 'aproval'], 4, 'did you mean approval?'],
    [['nosuch', 'approval'], 4, 'there is no run with the id or key nosuch'],
    [['k', 'approval', '--data', '{'], 2, '--data is not JSON'],
    [['k', 'approval', '--data', '@nosuch.json'], 2, 'cannot be read'],
    [['k'], 2, 'missing required argument'],
  ])('refuses %j with %d', async (args, code, message) => {
    const { on } = await letGo('gate');
    const result = await on('signal', ...args);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.err).toContain(message);
  });

  it('says what a payload must be, and the command with a place for it', async () => {
    const { on } = await letGo('gate');
    const missing = await on('signal', 'k', 'approval');
    expect({ ...missing, err: timeless(missing.err) }).toEqual({
      code: 2,
      out: '',
      err:
        'error: approval needs a payload: { approved: boolean, by: string, note?: string }; give it by --data\n' +
        `  runsheet signal wf_1 approval --data '{ "approved": <boolean>, "by": <string> }'\n`,
    });
    const wrong = await on('signal', 'k', 'approval', '--data', '{"approved":"yes","by":"eva"}');
    expect(wrong.code).toBe(2);
    expect(timeless(wrong.err)).toContain(
      '; it takes { approved: boolean, by: string, note?: string }\n  runsheet signal wf_1 approval --data ',
    );
    for (const start of [
      ['run', 'gate'],
      ['run', 'gate', '--continue', 'k'],
    ]) {
      const atStart = await on(...start, '--no-wait', '--signal', 'approval');
      expect(atStart).toMatchObject({ code: 2, out: '' });
      expect(atStart.err).toContain('give it by --signal approval=<json>\n');
      expect(atStart.err).toContain(`\n  --signal 'approval={ "approved": <boolean>, "by": <string> }'\n`);
    }
  });

  it('refuses a second delivery, and one to a run that has ended, with 5', async () => {
    const { on } = await letGo('gate');
    await on('signal', 'k', 'go');
    const twice = await on('signal', 'k', 'go');
    expect(twice).toMatchObject({ code: 5, out: '' });
    expect(twice.err).toContain('the first delivery counts');
    await on('cancel', 'k');
    await on('run', 'gate', '--continue', 'k');
    expect(await on('signal', 'k', 'approval', '--data', approval)).toMatchObject({ code: 5, out: '' });
  });

  it('answers 2 for a key of several workflows, unless it is said whose', async () => {
    const { on } = await letGo('gate');
    await on('run', 'nap', '--key', 'k', '--no-wait');
    expect((await on('signal', 'k', 'go')).code).toBe(2);
    expect((await on('signal', 'k', 'go', '--workflow', 'gate')).code).toBe(0);
  });
});

describe('runsheet cancel', () => {
  it('has a run undone by whoever drives it next, for a reason', async () => {
    const { on } = await letGo('gate');
    const { code, out, err } = await on('cancel', 'k', '--reason', 'not wanted any more');
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(timeless(err)).toBe(
      'wf_1 is told to end and to undo what it has done\nno engine is running, so that nothing happens until one is; go on by\n  runsheet run gate --continue wf_1\n',
    );
    const ended = await on('run', 'gate', '--continue', 'k');
    expect(ended.code).toBe(1);
    expect(timeless(ended.err)).toBe(
      'cancelled  gate  Cancelled: not wanted any more\nwf_1 cancelled: Cancelled: not wanted any more\n  runsheet show wf_1\n',
    );
    expect(await on('cancel', 'k')).toMatchObject({ code: 5, out: '' });
  });

  it('leaves what was done with --no-compensate', async () => {
    const project = new Project({
      ...waitingFlows,
      'definitions/done.yaml': `
workflow: done
steps:
  - step: note
    with: { text: done }
    compensate: { step: note, with: { text: undone } }
  - sleep: 1h
`,
    });
    for (const [key, option, calls] of [
      ['a', [], ['done', 'undone']],
      ['b', ['--no-compensate'], ['done']],
    ] as const) {
      project.write('calls.txt', '');
      await project.runsheet(['run', 'done', '--key', key, '--no-wait']);
      const { out } = await project.runsheet(['cancel', key, '--json', ...option]);
      expect(JSON.parse(out)).toMatchObject({ version: 1, run: { key, status: 'sleeping' } });
      expect((await project.runsheet(['run', 'done', '--key', key])).code).toBe(1);
      const told = project.read('calls.txt').trimEnd().split('\n');
      expect(told.map((call) => call.split(' ')[0])).toEqual(calls);
    }
  });

  it('answers 4 for a run that is not there', async () => {
    const { on } = await letGo('nap');
    expect(await on('cancel', 'nosuch')).toMatchObject({ code: 4, out: '' });
    expect((await new Project().runsheet(['cancel', 'x'])).code).toBe(4);
  });
});

describe('runsheet resume', () => {
  it('prints the id of the new run, which keeps what had succeeded, and drives nothing', async () => {
    const project = new Project(waitingFlows);
    expect((await project.runsheet(['run', 'breaks', '--key', 'k'])).code).toBe(1);
    const { code, out, err } = await project.runsheet(['resume', 'k']);
    expect(code).toBe(0);
    expect(out).toMatch(/^wf_[0-9a-f]{32}\n$/);
    expect(timeless(err)).toBe(
      'wf_1 goes on as wf_2\nno engine is running, so that nothing happens until one is; go on by\n  runsheet run breaks --continue wf_2\n',
    );
    project.write('mended', '');
    const again = await project.runsheet(['run', 'breaks', '--continue', out.trim()]);
    expect(again).toMatchObject({ code: 0, out: '"mended"\n' });
    const calls = project.read('calls.txt').trimEnd().split('\n');
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['good', 'mended']);
  });

  it('gives the new run as JSON', async () => {
    const project = new Project(waitingFlows);
    await project.runsheet(['run', 'breaks', '--key', 'k']);
    const { out } = await project.runsheet(['resume', 'k', '--json']);
    expect(JSON.parse(out)).toMatchObject({ version: 1, run: { workflow: 'breaks', key: 'k', status: 'pending' } });
  });

  it('refuses a run that has not failed, or was undone, with 5', async () => {
    const { on } = await letGo('nap');
    const asleep = await on('resume', 'k');
    expect(asleep).toMatchObject({ code: 5, out: '' });
    expect(asleep.err).toContain('cannot be resumed: it is sleeping');
    expect((await on('resume', 'nosuch')).code).toBe(4);
  });
});

describe('runsheet compensation', () => {
  it('resume tries again what failed, then undoes the rest', async () => {
    const { project, on } = await letGo('saga');
    project.write('mended', '');
    const { code, out, err } = await on('compensation', 'resume', 'k');
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(timeless(err)).toContain('wf_1 is told to try again to undo what failed\n');
    const ended = await on('run', 'saga', '--continue', 'k');
    expect(ended.code).toBe(1);
    expect(timeless(ended.err)).toBe(
      [
        'undoing    second  attempt 2',
        'undone     second',
        'undoing    first',
        'undone     first',
        'wf_1 failed: Stop: on purpose',
        '  runsheet show wf_1\n',
      ].join('\n'),
    );
  });

  it('abandon ends the run with the rest not undone', async () => {
    const { project, on } = await letGo('saga');
    const { out } = await on('compensation', 'abandon', 'k', '--json');
    expect(JSON.parse(out)).toMatchObject({ version: 1, run: { status: 'compensation-stuck' } });
    const ended = await on('run', 'saga', '--continue', 'k', '--json');
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.out)).toMatchObject({ run: { status: 'failed', rollbackStatus: 'abandoned' } });
    expect(project.read('calls.txt')).not.toContain('undo');
  });

  it('refuses a run that is not stuck with 5, and wrong usage with 2', async () => {
    const { on } = await letGo('nap');
    for (const verdict of ['resume', 'abandon']) {
      const refused = await on('compensation', verdict, 'k');
      expect(refused).toMatchObject({ code: 5, out: '' });
      expect(refused.err).toContain('its unwind is not stuck');
      expect((await on('compensation', verdict, 'nosuch')).code).toBe(4);
    }
    expect((await on('compensation')).code).toBe(2);
    expect((await on('compensation', 'retry', 'k')).code).toBe(2);
  });
});
