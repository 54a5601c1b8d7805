import { describe, expect, it } from 'vitest';
import { Project, timeless } from './project.js';
import { waitingFlows } from './waiting-flows.js';

/** What `show` says of a run of this flow that was let go as soon as it waited. */
async function shown(project: Project, workflow: string, ...options: string[]): Promise<string> {
  const { code } = await project.runsheet(['run', workflow, '--no-wait', '--key', workflow, ...options]);
  expect(code).toBe(6);
  return timeless((await project.runsheet(['show', workflow])).out);
}

describe('runsheet show', () => {
  it('of a run at a gate: the signal, since and until when, its payload, and how to send it', async () => {
    const project = new Project(waitingFlows);
    expect(await shown(project, 'gate')).toBe(
      `wf_1 gate revision 1 (key gate)
status     waiting
created    <time>
started    <time>
input      {}
waits for  the signal approval (decision), since <time>, until <time> (<time> left), payload { approved: boolean, by: string, note?: string }
next       runsheet signal wf_1 approval --data '{ "approved": <boolean>, "by": <string> }'
           runsheet run gate --continue wf_1

STEP      STATE    ATTEMPTS  STARTED
decision  waiting            <time>
  signal  approval
`,
    );
  });

  it('of a run whose signal has arrived, or was turned down', async () => {
    const project = new Project(waitingFlows);
    await shown(project, 'gate');
    await project.runsheet(['signal', 'gate', 'approval', '--data', '{"approved":true,"by":"nobody"}']);
    await project.runsheet(['run', 'gate', '--continue', 'gate', '--no-wait']);
    await project.runsheet(['signal', 'gate', 'approval', '--data', '{"approved":true,"by":"eva"}']);
    const { out } = await project.runsheet(['show', 'gate']);
    expect(timeless(out)).toContain(`
waits for  an engine that drives it
           the signal approval (decision), which has arrived, since <time>, until <time> (<time> left), payload { approved: boolean, by: string, note?: string }, 1 turned down by its filter
next       runsheet run gate --continue wf_1
`);
    await project.runsheet(['run', 'gate', '--continue', 'gate', '--no-wait']);
    expect(timeless((await project.runsheet(['show', 'gate'])).out)).toContain(`
waits for  the signal go (late), since <time>, without a deadline
next       runsheet signal wf_1 go
           runsheet run gate --continue wf_1

STEP      STATE     ATTEMPTS  STARTED
decision  received            <time>
  signal  approval
  output  {"approved":true,"by":"eva"}
late      waiting             <time>
  signal  go
`);
  });

  it('of a run that sleeps', async () => {
    expect(await shown(new Project(waitingFlows), 'nap')).toBe(
      `wf_1 nap revision 1 (key nap)
status     sleeping
created    <time>
started    <time>
input      {}
waits for  rest, which sleeps until <time>
next       runsheet run nap --continue wf_1

STEP  STATE     ATTEMPTS  STARTED
rest  sleeping            <time>
`,
    );
  });

  it('of a run that backs off', async () => {
    expect(await shown(new Project(waitingFlows), 'flaky')).toBe(
      `wf_1 flaky revision 1 (key flaky)
status     retrying
created    <time>
started    <time>
input      {}
waits for  attempt 2 of flaky at <time>
next       runsheet run flaky --continue wf_1

STEP   STATE     ATTEMPTS  STARTED
flaky  retrying  1         <time>
  error   Error: not yet
`,
    );
  });

  it('of a run that waits for a child: the child, and what would move that on', async () => {
    const project = new Project(waitingFlows);
    expect(await shown(project, 'parent')).toBe(
      `wf_1 parent revision 1 (key parent)
status     waiting
created    <time>
started    <time>
input      {}
waits for  the run wf_2 of kid (kid), which is waiting, until <time> (<time> left)
next       runsheet signal wf_2 answer
           runsheet run parent --continue wf_1

STEP  STATE    ATTEMPTS  STARTED
kid   waiting            <time>
  child   wf_2 kid, waiting
          runsheet show wf_2
`,
    );
    const { runs } = JSON.parse((await project.runsheet(['list', '--json'])).out) as { runs: { id: string }[] };
    expect(timeless((await project.runsheet(['show', runs[0]?.id ?? ''])).out)).toBe(
      `wf_1 kid revision 1
status     waiting
parent     wf_2
created    <time>
started    <time>
input      {"n":1}
waits for  the signal answer (ask), since <time>, without a deadline
next       runsheet signal wf_1 answer
           runsheet run parent --continue wf_2

STEP    STATE      ATTEMPTS  STARTED
note@0  completed  1         <time>
  input   {"text":"kid"}
  output  {"text":"kid"}
ask     waiting              <time>
  signal  answer
`,
    );
  });

  it('of a run whose undoing is stuck, and of one that was undone', async () => {
    const project = new Project(waitingFlows);
    expect(await shown(project, 'saga')).toBe(
      `wf_1 saga revision 1 (key saga)
error      Stop: on purpose (in fail@2)
             at line 12: fail: Stop
status     compensation-stuck, rollback stuck
created    <time>
started    <time>
input      {}
waits for  an operator: second could not be undone by unless-mended: Error: broken
next       runsheet compensation resume wf_1
           runsheet compensation abandon wf_1
           runsheet run saga --continue wf_1

STEP    STATE      ATTEMPTS  STARTED
first   completed  1         <time>
  input   {"text":"first"}
  output  {"text":"first"}
second  completed  1         <time>
  input   {"text":"second"}
  output  {"text":"second"}
fail@2  failed

UNDOING  STATE  ATTEMPTS  STARTED
second   stuck  1         <time>
  error   Error: broken
  by      unless-mended
first    owed
  by      note
`,
    );
    project.write('mended', '');
    await project.runsheet(['compensation', 'resume', 'saga']);
    await project.runsheet(['run', 'saga', '--continue', 'saga']);
    const { out } = await project.runsheet(['show', 'saga']);
    expect(timeless(out)).toContain(
      'error    Stop: on purpose (in fail@2)\n           at line 12: fail: Stop\nstatus   failed, rollback completed\n',
    );
    expect(timeless(out)).toContain(`
UNDOING  STATE   ATTEMPTS  STARTED
second   undone  2         <time>
  error   Error: broken
  by      unless-mended
  output  "mended"
first    undone  1         <time>
  by      note
  input   {"text":"undo first"}
  output  {"text":"undo first"}
`);
    expect(out).not.toContain('\nnext');
  });

  it('of a run that was told something nobody has obeyed yet: what, and no command that would tell it again', async () => {
    const project = new Project(waitingFlows);
    for (const [verdict, told] of [
      ['abandon', 'it is told to leave as it is what is not undone'],
      ['resume', 'it is told to try again to undo what failed'],
    ] as const) {
      await project.runsheet(['run', 'saga', '--no-wait', '--key', verdict]);
      await project.runsheet(['compensation', verdict, verdict]);
      expect(timeless((await project.runsheet(['show', verdict])).out)).toContain(
        `\nwaits for  an engine that drives it: ${told}\nnext       runsheet run saga --continue wf_1\n`,
      );
      // Nobody need decide about it any more.
      expect((await project.runsheet(['doctor'])).out).not.toContain('for a decision');
      await project.runsheet(['run', 'saga', '--continue', verdict, '--no-wait']);
    }
    // Undone again without success: the question is a new one.
    expect((await project.runsheet(['show', 'resume'])).out).toContain('\nwaits for  an operator: second could not');
    expect((await project.runsheet(['show', 'abandon'])).out).toContain('\nstatus   failed, rollback abandoned');

    await project.runsheet(['run', 'gate', '--no-wait', '--key', 'g']);
    await project.runsheet(['cancel', 'g']);
    expect(timeless((await project.runsheet(['show', 'g'])).out)).toContain(
      '\nwaits for  an engine that drives it: it is told to end\nnext       runsheet run gate --continue wf_1\n',
    );
  });

  it('of a failed run that can be resumed, and of the two once it was', async () => {
    const project = new Project(waitingFlows);
    await project.runsheet(['run', 'breaks', '--key', 'k']);
    const before = timeless((await project.runsheet(['show', 'k'])).out);
    expect(before).toContain('\nnext     runsheet resume wf_1\n');
    const id = (await project.runsheet(['resume', 'k'])).out.trim();
    const after = timeless((await project.runsheet(['show', id])).out);
    expect(after).toContain('wf_1 breaks revision 1 (key k)\nstatus     pending\ntook over  wf_2\n');
    expect(after).toContain('\nwaits for  an engine that drives it\nnext       runsheet run breaks --continue wf_1\n');
    const { runs } = JSON.parse((await project.runsheet(['list', '--json'])).out) as { runs: { id: string }[] };
    const old = timeless((await project.runsheet(['show', runs[1]?.id ?? ''])).out);
    expect(old).toContain('\nstatus      failed\ngoes on as  wf_2\n');
    expect(old).not.toContain('\nnext');
  });

  it('gives what it waits for, what is undone and the commands as JSON too', async () => {
    const project = new Project(waitingFlows);
    await shown(project, 'saga');
    const json = JSON.parse((await project.runsheet(['show', 'saga', '--json', '--db', '.runsheet/runs.db'])).out);
    expect(json).toMatchObject({
      version: 1,
      run: { status: 'compensation-stuck' },
      steps: [{ kind: 'step', step: 'first' }, { step: 'second' }],
      reversals: [
        { step: 'second', state: 'stuck', handler: 'unless-mended', run: null, error: { message: 'broken' } },
        { step: 'first', state: 'owed' },
      ],
      waitsFor: ['an operator: second could not be undone by unless-mended: Error: broken'],
    });
    expect(json.next[0]).toBe(`runsheet compensation resume ${json.run.id} --db .runsheet/runs.db`);
  });
});
