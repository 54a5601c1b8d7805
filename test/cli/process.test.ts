import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { builtCommand } from './built-command.js';
import { Project, notingHandlers } from './project.js';
import { type Running, startCommand } from './running-command.js';
import { waitingFlows } from './waiting-flows.js';

function start(project: Project, ...args: string[]): Running {
  return startCommand(builtCommand(), project, args);
}

const holder = `
workflow: holder
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

describe('the installed command', () => {
  it('takes a killed run over at once: no step is repeated but the one cut short, that one with its old key', async () => {
    const project = new Project({ 'h.yaml': holder, 'handlers/all.ts': notingHandlers });
    const killed = start(project, 'run', 'h.yaml', '--key', 'k');
    await killed.told('holding');
    killed.child.kill('SIGKILL');
    expect((await killed.ended).signal).toBe('SIGKILL');

    project.write('go', '');
    const again = await start(project, 'run', 'h.yaml', '--key', 'k').ended;
    expect(again).toMatchObject({ code: 0, out: '"held"\n' });
    expect(again.err).not.toMatch(/started {4}a\n/);
    const calls = project.read('calls.txt').trimEnd().split('\n');
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['a', 'hold', 'hold', 'c']);
    expect(calls[1]).toBe(calls[2]);
  });

  it('waits for a run that another process drives, and gives its output too', async () => {
    const project = new Project({ 'h.yaml': holder, 'handlers/all.ts': notingHandlers });
    const driving = start(project, 'run', 'h.yaml', '--key', 'k');
    await driving.told('holding');
    const waiting = start(project, 'run', 'h.yaml', '--key', 'k');
    await waiting.told('is driven by another process; waiting for its end\n');
    project.write('go', '');
    for (const { ended } of [driving, waiting]) expect(await ended).toMatchObject({ code: 0, out: '"held"\n' });
    expect(project.read('calls.txt').trimEnd().split('\n')).toHaveLength(3);
  });

  it('tells of a killed run that nobody is driving it any more, long before its lease is over', async () => {
    const project = new Project({ 'h.yaml': holder, 'handlers/all.ts': notingHandlers });
    const killed = start(project, 'run', 'h.yaml', '--key', 'k');
    await killed.told('holding');
    expect((await project.runsheet(['show', 'k'])).out).toContain('\nwaits for  the engine that is driving it\n');
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect((await project.runsheet(['show', 'k'])).out).toContain(
      '\nwaits for  an engine that takes it over: the one that drove it is gone\n',
    );
  });

  it('drives a run on though nobody reads what it tells, and fails where its output cannot be written', async () => {
    const project = new Project({ 'h.yaml': holder, 'handlers/all.ts': notingHandlers });
    const unread = start(project, 'run', 'h.yaml', '--key', 'k');
    await unread.told('started    a');
    unread.child.stderr?.destroy();
    project.write('go', '');
    expect(await unread.ended).toMatchObject({ code: 0, out: '"held"\n' });

    if (!existsSync('/dev/full')) return;
    const { status, stderr } = spawnSync('sh', ['-c', `"$0" "$1" list > /dev/full`, process.execPath, builtCommand()], {
      cwd: project.folder,
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toContain('error: the output cannot be written: ENOSPC');
  });

  it('leaves a run at Ctrl-C, to go on by the command that it prints', async () => {
    const project = new Project({ 'h.yaml': holder, 'handlers/all.ts': notingHandlers });
    const left = start(project, 'run', 'h.yaml');
    await left.told('holding');
    left.child.kill('SIGINT');
    await left.told('stopping once the running steps have ended');
    project.write('go', '');
    const { code, out, err } = await left.ended;
    expect({ code, out }).toEqual({ code: 130, out: '' });
    const [, command = ''] = /\n {2}runsheet (run h\.yaml --continue \S+)\n/.exec(err) ?? [];
    expect(await start(project, ...command.split(' ')).ended).toMatchObject({ code: 0, out: '"held"\n' });
  });

  it('goes on at once with what another process sends', async () => {
    const project = new Project(waitingFlows);
    const driving = start(project, 'run', 'gate', '--key', 'k');
    await driving.told('runsheet signal');
    const [, id = ''] = /runsheet signal (\S+) approval/.exec(driving.err()) ?? [];
    expect(await start(project, 'signal', id, 'go').ended).toMatchObject({ code: 0 });
    const data = '{"approved":true,"by":"eva"}';
    const sent = await start(project, 'signal', 'k', 'approval', '--data', data).ended;
    expect(sent.err).toContain(`approval was sent to ${id}; the filter of its gate decides`);
    expect(await driving.ended).toMatchObject({ code: 0, out: 'true\n' });
  });

  it('ends at once when another process cancels its run, also while that waits for a child', async () => {
    const project = new Project(waitingFlows);
    const driving = start(project, 'run', 'parent', '--key', 'k');
    await driving.told('runsheet signal');
    expect(await start(project, 'cancel', 'k', '--reason', 'enough').ended).toMatchObject({ code: 0, out: '' });
    const { code, out, err } = await driving.ended;
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/cancelled {2}kid {2}wf_[0-9a-f]{8} {2}Cancelled: Cancelled\n/);
    expect(err).toMatch(/\nwf_\w+ cancelled: Cancelled: enough\n {2}runsheet show wf_\w+\n$/);
  });

  it('takes a child over whose process was killed, with the parent’s', async () => {
    const project = new Project({
      'handlers/all.ts': notingHandlers,
      'flows/parent.yaml': 'workflow: parent\nsteps:\n  - id: kid\n    subWorkflow: holder\noutput: =$steps.kid\n',
      'flows/holder.yaml': holder,
    });
    const killed = start(project, 'run', 'flows/parent.yaml', '--key', 'k');
    await killed.told('holding');
    killed.child.kill('SIGKILL');
    expect((await killed.ended).signal).toBe('SIGKILL');

    project.write('go', '');
    const again = await start(project, 'run', 'flows/parent.yaml', '--key', 'k').ended;
    expect(again).toMatchObject({ code: 0, out: '"held"\n' });
    const calls = project.read('calls.txt').trimEnd().split('\n');
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['a', 'hold', 'hold', 'c']);
    expect(calls[1]).toBe(calls[2]);
    const { runs } = JSON.parse((await start(project, 'list', '--json').ended).out) as { runs: unknown[] };
    expect(runs, 'it was adopted, not started again').toHaveLength(2);
  });

  it('is refused at once for a database where no folder can be made', async () => {
    const project = new Project({ 'handlers/all.ts': notingHandlers, 'h.yaml': holder });
    const { code, err } = await start(project, 'run', 'h.yaml', '--db', '/proc/runsheet/runs.db').ended;
    expect(code).toBe(7);
    expect(err).toContain('/proc/runsheet/runs.db');
  });

  it('ends although a handler has left something open, with all of its output out', async () => {
    const project = new Project({
      'w.yaml': 'workflow: w\nsteps:\n  - step: open\n',
      'handlers/open.js': `
        export default {
          name: 'open',
          run() { setInterval(() => {}, 1000); return 'x'.repeat(300_000); },
        };`,
    });
    const { code, out } = await start(project, 'run', 'w.yaml').ended;
    expect(code).toBe(0);
    expect(out.length).toBe(300_003);
  });

  it('is content when the reader of its output goes away', async () => {
    const project = new Project({ 'handlers/all.ts': notingHandlers });
    const reading = start(project, 'handlers', '--json');
    reading.child.stdout?.destroy();
    const { code, err } = await reading.ended;
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});
