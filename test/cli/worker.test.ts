import { copyFileSync, renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { builtCommand } from './built-command.js';
import { Project, notingHandlers } from './project.js';
import { type Running, startCommand } from './running-command.js';

function worker(project: Project, ...args: string[]): Running {
  return startCommand(builtCommand(), project, ['worker', ...args]);
}

/** A worker that drives something is told to stop by the first signal, and stops by itself. */
async function stopped(running: Running, signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM') {
  running.child.kill(signal);
  return running.ended;
}

const held = `
workflow: held
steps:
  - id: a
    step: note
    with: { text: a }
  - id: b
    step: hold
  - id: c
    step: note
    with: { text: c }
output: =$steps.b
`;

/** Each call waits until calls of two processes are under way. */
const meeting = {
  'definitions/meet.yaml': 'workflow: meet\nsteps:\n  - id: meet\n    step: meet\n',
  'handlers/meet.js': `
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
export default {
  name: 'meet',
  async run() {
    writeFileSync('here-' + process.pid, '');
    while (readdirSync('.').filter((name) => name.startsWith('here-')).length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return process.pid;
  },
};`,
};

function heldProject(): Project {
  return new Project({ 'definitions/held.yaml': held, 'handlers/all.ts': notingHandlers });
}

function eventsOf({ out }: { out: string }): { type: string; run?: string; step?: string }[] {
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
}

describe('runsheet worker', () => {
  it('drives what was started, tells it line by line, and ends by SIGTERM with 0', async () => {
    const project = heldProject();
    project.write('go', '');
    const { out: id } = await project.runsheet(['start', 'held']);
    const running = worker(project);
    await running.told(`completed  held  ${id}`);
    const { code, out, err } = await stopped(running);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    const lines = err.replaceAll(id.trimEnd(), 'wf_1').replace(/^[\d:.]{12} {2}/gm, '');
    expect(lines.replace(/ {2}[\d.]+m?s$/gm, '')).toBe(
      [
        'taken over: 0 running, 0 compensating; waiting: 0',
        'driving held@1; at most 5 at once; Ctrl-C stops',
        'started    held  wf_1',
        'started    held/a  wf_1',
        'completed  held/a  wf_1',
        'started    held/b  wf_1',
        'holding',
        'completed  held/b  wf_1',
        'started    held/c  wf_1',
        'completed  held/c  wf_1',
        'completed  held  wf_1',
        'stopping once the running steps have ended; the same again stops at once',
        'stopped; what was not finished another worker goes on with',
        '',
      ].join('\n'),
    );
  });

  it('lets a running step end at SIGTERM and hands its run back, for another worker to go on with', async () => {
    const project = heldProject();
    const { out } = await project.runsheet(['start', 'held']);
    const id = out.trimEnd();
    const first = worker(project);
    await first.told('holding');
    first.child.kill('SIGTERM');
    await first.told('stopping once');
    project.write('go', '');
    expect(await first.ended).toMatchObject({ code: 0 });
    const shown = await project.runsheet(['show', id]);
    expect(shown.out).toMatch(/waits for +an engine that drives it\n/);

    const second = worker(project);
    await second.told(`completed  held  ${id}`);
    expect(await stopped(second)).toMatchObject({ code: 0 });
    const calls = project.read('calls.txt').trimEnd().split('\n');
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['a', 'hold', 'c']);
  });

  it('ends by Ctrl-C with 130, at once by the second', async () => {
    const idle = worker(heldProject());
    await idle.told('driving held@1');
    expect(await stopped(idle, 'SIGINT')).toMatchObject({ code: 130 });

    const project = heldProject();
    await project.runsheet(['start', 'held']);
    const busy = worker(project);
    await busy.told('holding');
    busy.child.kill('SIGINT');
    await busy.told('stopping once');
    expect(await stopped(busy, 'SIGINT')).toMatchObject({ code: 130 });
    expect(busy.err()).not.toContain('handed back');
  });

  it('shares the runs with another worker: each is driven by one, and both have some', async () => {
    const project = new Project(meeting);
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push((await project.runsheet(['start', 'meet'])).out.trimEnd());
    const workers = [worker(project, '--concurrency', '1'), worker(project, '--concurrency', '1')];
    await Promise.all(ids.map((id) => Promise.any(workers.map(({ told }) => told(`completed  meet  ${id}\n`)))));
    const driven = (await Promise.all(workers.map((running) => stopped(running)))).map(({ err }) =>
      [...err.matchAll(/completed {2}meet {2}(wf_\w+)$/gm)].map(([, id = '']) => id),
    );
    expect(driven.flat().sort()).toEqual([...ids].sort());
    expect(driven.map((runs) => runs.length > 0)).toEqual([true, true]);
  });

  it('takes over what a killed worker was at, with --json as data', async () => {
    const project = heldProject();
    const { out } = await project.runsheet(['start', 'held']);
    const id = out.trimEnd();
    const killed = worker(project);
    await killed.told('holding');
    killed.child.kill('SIGKILL');
    await killed.ended;
    project.write('go', '');
    const running = worker(project, '--json');
    await running.printed('"workflow:completed"');
    const events = eventsOf(await stopped(running));
    expect(events[0]).toMatchObject({ version: 1, type: 'worker:recovered', running: 1, total: 1 });
    expect(events[1]).toMatchObject({ type: 'worker:started', workflows: ['held@1'], concurrency: 5 });
    expect(events.filter(({ run }) => run === id).map(({ type, step }) => [type, step])).toEqual([
      ['step:started', 'b'],
      ['step:completed', 'b'],
      ['step:started', 'c'],
      ['step:completed', 'c'],
      ['workflow:completed', null],
    ]);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['worker:stopping', 'worker:stopped']);
  });

  it('drives only the workflows that it is told, and the children that they start', async () => {
    const project = new Project({
      'handlers/all.ts': notingHandlers,
      'definitions/kid.yaml': 'workflow: kid\nsteps:\n  - step: note\n    with: { text: kid }\n',
      'definitions/parent.yaml': 'workflow: parent\nsteps:\n  - id: kid\n    subWorkflow: kid\n',
      'definitions/other.yaml': 'workflow: other\nsteps:\n  - step: note\n    with: { text: other }\n',
      'definitions/wrong.yaml': 'workflow: wrong\nsteps: 1\n',
    });
    await project.runsheet(['start', 'other']);
    const { out: id } = await project.runsheet(['start', 'parent']);
    const running = worker(project, '--workflows', 'parent');
    await running.told(`completed  parent  ${id}`);
    await stopped(running);
    expect(running.err()).toContain('driving parent@1, kid@1; ');
    expect(project.read('calls.txt')).not.toContain('other');
    expect((await project.runsheet(['list', '--status', 'pending'])).out).toContain('other@1');
  });

  it('fires schedules', async () => {
    const project = new Project({
      'handlers/all.ts': notingHandlers,
      'definitions/s.yaml':
        'workflow: s\nschedule: [{ id: often, every: 1s }]\nsteps:\n  - step: note\n    with: { text: often }\n',
    });
    const running = worker(project);
    await running.told('completed  s  wf_');
    await stopped(running);
    const { out } = await project.runsheet(['list', '--json']);
    expect((JSON.parse(out) as { runs: { key: string }[] }).runs[0]?.key).toMatch(/^schedule:often:\d+$/);
  });

  it('goes on with runs of a flow that is gone from what is stored with them, if asked to', async () => {
    const flow = 'workflow: gate\nsteps:\n  - id: go\n    waitFor: go\n    timeout: never\noutput: =$steps.go\n';
    const project = new Project({ 'definitions/gate.yaml': flow, 'handlers/all.ts': notingHandlers });
    const first = await project.runsheet(['run', 'gate', '--no-wait', '--json']);
    const { id } = (JSON.parse(first.out) as { run: { id: string } }).run;
    await project.runsheet(['signal', id, 'go', '--data', '7']);
    project.write('definitions/gate.yaml', `revision: 2\n${flow}`);

    const without = worker(project);
    await without.told('driving gate@2');
    expect((await stopped(without)).err).toContain(
      '1 run without definition: gate revision 1, hash ' +
        `${(JSON.parse(first.out) as { run: { definitionHash: string } }).run.definitionHash.slice(0, 12)}:\n  ${id}\n` +
        'put the flows with that content back among the definitions, or drive these runs from what is stored with them:\n' +
        '  runsheet worker --adopt-stored\n',
    );
    const adopting = worker(project, '--adopt-stored');
    await adopting.told(`completed  gate  ${id}`);
    await stopped(adopting);
  });

  it('reports a fault and tries again', async () => {
    const project = heldProject();
    project.write('go', '');
    await project.runsheet(['list']);
    const running = worker(project);
    await running.told('driving held@1');
    const database = new Database(project.path('.runsheet/runs.db'));
    database.exec('alter table run rename to elsewhere');
    await running.told('the engine could not go on with its work and will try again');
    database.exec('alter table elsewhere rename to run');
    database.close();
    const { out: id } = await project.runsheet(['start', 'held']);
    await running.told(`completed  held  ${id}`);
    expect(await stopped(running)).toMatchObject({ code: 0 });
  });

  it.each([
    ['removed', (path: string) => rmSync(path)],
    ['replaced', (path: string) => renameSync(`${path}.new`, path)],
  ])('ends with 7, at once, where its database is %s while it waits for work', async (_, harm) => {
    const project = heldProject();
    await project.runsheet(['list']);
    const running = worker(project);
    await running.told('driving held@1');
    const path = project.path('.runsheet/runs.db');
    copyFileSync(path, `${path}.new`);
    harm(path);
    const { code, err } = await running.ended;
    expect(code).toBe(7);
    expect(err).toContain('the engine has lost its storage and drives nothing any more');
    expect(err).toMatch(/\nerror: .*runs\.db was removed or replaced while it was in use, .*\n$/);
  });

  it('ends with one line where nobody caught an error', async () => {
    const project = new Project({
      'definitions/w.yaml': 'workflow: w\nsteps:\n  - step: stray\n',
      'handlers/stray.js': `
        export default { name: 'stray', run: () => new Promise(() => void Promise.reject(new Error('nobody waits'))) };`,
    });
    await project.runsheet(['start', 'w']);
    const { code, err } = await worker(project).ended;
    expect(code).toBe(1);
    expect(err).toMatch(/\nerror: nobody waits\n {2}This should not happen; --verbose shows where it did\.\n$/);
    const verbose = await worker(project, '--verbose').ended;
    expect(verbose.err).toContain('stray.js:');
  });
});

describe('runsheet worker, before it drives anything,', () => {
  it('shows the mistakes of all flows', async () => {
    const project = new Project({
      'handlers/all.ts': notingHandlers,
      'definitions/a.yaml': 'workflow: a\nsteps: 1\n',
      'definitions/b.yaml': 'workflow: b\nsteps:\n  - step: nosuch\n',
    });
    const { code, err } = await project.runsheet(['worker']);
    expect(code).toBe(3);
    expect(err).toMatch(/^definitions\/a\.yaml:2:8: error RS2/m);
    expect(err).toMatch(/^definitions\/b\.yaml:3:11: error RS4/m);
    expect(err).toContain('error: definitions/a.yaml, definitions/b.yaml have mistakes, so nothing was done\n');
  });

  it.each([
    [['--workflows', 'heldd'], 4, 'there is no workflow heldd in definitions; did you mean held?'],
    [['--definitions', 'nosuch'], 4, 'there is no folder nosuch of flows, which --definitions names'],
    [['--concurrency', '0'], 2, 'it must be a whole number from 1 on'],
    [['--workflows', ','], 2, 'give at least one name'],
  ])('refuses %j with %d', async (args, code, message) => {
    const result = await heldProject().runsheet(['worker', ...args]);
    expect(result.code).toBe(code);
    expect(result.err).toContain(message);
  });

  it('refuses two flows that are the same revision of the same workflow', async () => {
    const project = heldProject();
    project.write('definitions/other.yaml', held.replace('text: c', 'text: d'));
    const { code, err } = await project.runsheet(['worker']);
    expect({ code, err }).toEqual({
      code: 3,
      err:
        'error: definitions/held.yaml and definitions/other.yaml are both held revision 1, with other content; ' +
        'give the newer one a higher revision\n',
    });
  });

  it('names the runs that are on another content of the same revision, and the command that lists them', async () => {
    const project = heldProject();
    const { out } = await project.runsheet(['start', 'held']);
    project.write('definitions/held.yaml', held.replace('text: c', 'text: d'));
    const { code, err } = await project.runsheet(['worker']);
    expect(code).toBe(5);
    expect(err).toContain(`(${out.trimEnd()}; \`runsheet list --workflow held\` shows all)`);
    expect(err).toContain('give the changed flow a higher revision');
  });
});
