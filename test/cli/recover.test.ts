import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { builtCommand } from './built-command.js';
import { Project, notingHandlers } from './project.js';
import { startCommand } from './running-command.js';

const files = {
  'handlers/all.ts': notingHandlers,
  'definitions/hold.yaml': 'workflow: hold\nsteps:\n  - step: hold\n',
  'definitions/gate.yaml': 'workflow: gate\nsteps:\n  - waitFor: go\n    timeout: never\n',
};

describe('runsheet recover', () => {
  it('takes over at once what a killed worker was at, and counts what waits', async () => {
    const project = new Project(files);
    await project.runsheet(['run', 'gate', '--no-wait']);
    await project.runsheet(['start', 'hold']);
    await project.runsheet(['start', 'hold']);
    const worker = startCommand(builtCommand(), project, ['worker']);
    await worker.told('holding\n', 2);
    worker.child.kill('SIGKILL');
    await worker.ended;

    const { code, out } = await project.runsheet(['recover', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      version: 1,
      running: 2,
      compensating: 0,
      waiting: 1,
      total: 3,
      orphans: [],
      definitionMissing: [],
      suspects: [],
    });
    const again = await project.runsheet(['recover']);
    expect(again).toEqual({ code: 0, out: 'taken over: 0 running, 0 compensating; waiting: 1\n', err: '' });

    project.write('go', '');
    const next = startCommand(builtCommand(), project, ['worker']);
    await next.told('completed  hold  wf_');
    next.child.kill('SIGTERM');
    await next.ended;
  });

  it('leaves alone what a living worker drives', async () => {
    const project = new Project(files);
    await project.runsheet(['start', 'hold']);
    const worker = startCommand(builtCommand(), project, ['worker']);
    await worker.told('holding');
    const { out } = await project.runsheet(['recover', '--json']);
    expect(JSON.parse(out)).toMatchObject({ running: 0, total: 0 });
    project.write('go', '');
    await worker.told('completed  hold  wf_');
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0 });
    expect(project.read('calls.txt').trimEnd().split('\n')).toHaveLength(1);
  });

  it('names the runs whose flow is gone, or has other content, and the command that drives them all the same', async () => {
    const project = new Project(files);
    const { out } = await project.runsheet(['run', 'gate', '--no-wait', '--json']);
    const { id, definitionHash } = (JSON.parse(out) as { run: { id: string; definitionHash: string } }).run;
    project.write('definitions/gate.yaml', files['definitions/gate.yaml'].replace('never', '1d'));
    const recovered = await project.runsheet(['recover', '--db', '.runsheet/runs.db']);
    expect(recovered).toEqual({
      code: 0,
      out: [
        'taken over: 0 running, 0 compensating; waiting: 0',
        `1 run without definition: gate revision 1, hash ${definitionHash.slice(0, 12)}:`,
        `  ${id}`,
        'put the flows with that content back among the definitions, or drive these runs from what is stored with them:',
        '  runsheet worker --adopt-stored --db .runsheet/runs.db',
        '',
      ].join('\n'),
      err:
        'note: unfinished runs of gate revision 1 have another content than definitions/gate.yaml, which is left out; ' +
        'give it a higher revision\n',
    });
    rmSync(project.path('definitions'), { recursive: true });
    const without = await project.runsheet(['recover', '--json']);
    expect(JSON.parse(without.out)).toMatchObject({
      definitionMissing: [{ run: id, workflow: 'gate', revision: 1, hash: definitionHash }],
    });
    expect(without.err).toContain('there is no folder `definitions` here');
  });

  it('needs a database that is there', async () => {
    const { code, err } = await new Project(files).runsheet(['recover']);
    expect(code).toBe(4);
    expect(err).toContain('there is no database');
  });
});
