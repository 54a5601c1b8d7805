import { describe, expect, it } from 'vitest';
import { Project, timeless } from './project.js';
import { waitingFlows } from './waiting-flows.js';

const flows = {
  ...waitingFlows,
  'definitions/all.yaml': `
workflow: all
timeout: 1d
steps:
  - id: each
    forEach: ["a", "b"]
    do:
      - id: note
        step: note
        with: { text: =$item }
  - id: which
    branch:
      - name: one
        when: $count($steps.each) = 1
        do: []
      - else:
          - id: bad
            step: fail
            retry: { attempts: 2, delay: 1ms, jitter: false }
            onError:
              - errors: [Error]
                do:
                  - id: saved
                    set: { ok: true }
  - when: false
    id: never
    step: note
  - id: kid
    subWorkflow: quick
  - id: nap
    sleep: 1ms
output: done
`,
  'definitions/quick.yaml': 'workflow: quick\nsteps: [{ set: 7 }]\n',
};

/** Without times, ids and what else is new each time. */
const said = (out: string): string =>
  timeless(out)
    .replace(/^\d{4}-\d\d-\d\d$/gm, '<day>')
    .replace(/in \d+ms, at <time>/g, 'in <time>');

describe('runsheet logs', () => {
  it('tells what happened, a line for each entry of the journal', async () => {
    const project = new Project(flows);
    await project.runsheet(['run', 'all', '--key', 'k']);
    const { code, out, err } = await project.runsheet(['logs', 'k']);
    expect([code, err]).toEqual([0, '']);
    expect(said(out)).toBe(`<day>
all      the run starts
each     2 turns to come
note     attempt 1 starts
note     completed: {"text":"a"}
each     turn 0 has ended
note#1   attempt 1 starts
note#1   completed: {"text":"b"}
each     turn 1 has ended
which    takes the arm else
bad      attempt 1 starts
bad      attempt 1 failed: Error: not yet
bad      tries again in <time>
bad      it is time to try again
bad      attempt 2 starts
bad      attempt 2 failed: Error: not yet
bad      handles the error by onError Error
saved    its value is settled: {"ok":true}
never    is not to run
never    skipped
kid      its run is to be of revision 1
kid      starts wf_1 of quick
kid      its run has completed: 7
nap      sleeps until <time>
nap      wakes up
all      the output is settled: "done"
all      the run completes
all      the run has ended
`);
  });

  it('calls loops, and what is in them, as `show` does', async () => {
    const project = new Project({
      'definitions/nested.yaml': `
workflow: nested
steps:
  - id: outer
    forEach: =["a","b"]
    as: letter
    do:
      - id: while
        doWhile: =$iteration < 1
        do: [{ id: nap, sleep: 1ms }]
      - id: until
        doUntil: =$iteration = 1
        do: [{ id: doze, sleep: 1ms }]
`,
    });
    await project.runsheet(['run', 'nested', '--key', 'k']);
    const { out } = await project.runsheet(['logs', 'k']);
    const of = (name: RegExp): string[] =>
      said(out)
        .split('\n')
        .filter((line) => name.test(line))
        .map((line) => line.replace(/ {2,}/, '  '));
    expect(of(/^(outer|while|until)/)).toEqual([
      'outer  2 turns to come',
      'while  turn 0 is to come',
      'while  no further turn',
      'until  no further turn',
      'outer  turn 0 has ended',
      'while#1  turn 0 is to come',
      'while#1  no further turn',
      'until#1  no further turn',
      'outer  turn 1 has ended',
    ]);
    const shown = (await project.runsheet(['show', 'k'])).out;
    for (const place of ['nap#0.0', 'nap#1.0', 'doze#1.0']) {
      expect(shown).toContain(place);
      expect(out).toContain(`  ${place} `);
    }
  });

  it('tells an unwind, and why it is stuck', async () => {
    const project = new Project(flows);
    await project.runsheet(['run', 'saga', '--key', 'k', '--no-wait']);
    project.write('mended', '');
    await project.runsheet(['compensation', 'resume', 'k']);
    await project.runsheet(['run', 'saga', '--continue', 'k']);
    const lines = said((await project.runsheet(['logs', 'k'])).out).split('\n');
    expect(lines.slice(lines.indexOf('saga    the run fails: Stop: on purpose'))).toEqual([
      'saga    the run fails: Stop: on purpose',
      'second  undoing, attempt 1',
      'second  undoing, attempt 1 failed: Error: broken',
      'second  cannot be undone: Error: broken; waits for an operator',
      'second  an operator says: resume',
      'second  undoing, attempt 2',
      'second  undone: "mended"',
      'first   undoing, attempt 1',
      'first   undone: {"text":"undo first"}',
      'saga    undoing is over: completed',
      'saga    the run has ended',
      '',
    ]);
  });

  it('gives an object per line as JSON, with what the journal holds', async () => {
    const project = new Project(flows);
    await project.runsheet(['run', 'nap', '--key', 'k', '--no-wait']);
    const { out } = await project.runsheet(['logs', 'k', '--json']);
    const entries = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(entries).toMatchObject([
      { version: 1, seq: 1, kind: 'run-started', step: null, text: 'the run starts' },
      {
        seq: 2,
        kind: 'decision',
        step: 'rest',
        occurrence: '0',
        aspect: 'until',
        payload: { value: expect.any(Number) },
      },
    ]);
  });

  it('tells only what happened since', async () => {
    const project = new Project(flows);
    await project.runsheet(['run', 'nap', '--key', 'k', '--no-wait']);
    expect((await project.runsheet(['logs', 'k', '--since', '1h'])).out).not.toBe('');
    expect(await project.runsheet(['logs', 'k', '--since', '2100-01-01'])).toMatchObject({ code: 0, out: '' });
    expect((await project.runsheet(['logs', 'k', '--since', 'yesterday'])).code).toBe(2);
  });

  it('follows a run that another process drives, to its end', async () => {
    const project = new Project(flows);
    await project.runsheet(['run', 'parent', '--key', 'k', '--no-wait']);
    const { runs } = JSON.parse((await project.runsheet(['list', '--json'])).out) as { runs: { id: string }[] };
    const following = project.runsheet(['logs', 'k', '-f']);
    const driven = await project.runsheet(['run', 'parent', '--continue', 'k', '--no-wait']);
    expect(driven.code).toBe(6);
    await project.runsheet(['signal', runs[0]?.id ?? '', 'answer', '--data', '"yes"']);
    expect((await project.runsheet(['run', 'parent', '--continue', 'k'])).code).toBe(0);
    const { code, out } = await following;
    expect(code).toBe(0);
    expect(said(out).split('\n').slice(-5)).toEqual([
      'kid     its run has completed: "yes"',
      'parent  the output is settled: "yes"',
      'parent  the run completes',
      'parent  the run has ended',
      '',
    ]);
  });

  it('ends with 0 where the run has ended already, with 4 where there is none', async () => {
    const project = new Project(flows);
    await project.runsheet(['run', 'breaks', '--key', 'k']);
    const followed = await project.runsheet(['logs', 'k', '--follow']);
    expect(followed).toEqual(await project.runsheet(['logs', 'k']));
    expect(followed.code).toBe(0);
    expect((await project.runsheet(['logs', 'nosuch'])).code).toBe(4);
  });
});

describe('runsheet run, not on a terminal', () => {
  it('tells the first turns of a loop one by one, and counts the others', async () => {
    const project = new Project({
      ...flows,
      'definitions/many.yaml': `
workflow: many
steps:
  - id: each
    forEach: =[1..200]
    do:
      - id: turn
        step: note
        with: { text: x }
        when: $index != 30
  - id: after
    step: note
    with: { text: x }
`,
    });
    const { code, err } = await project.runsheet(['run', 'many']);
    expect(code).toBe(0);
    const lines = err.split('\n').map((line) => line.slice(14));
    expect(lines.filter((line) => /^started +turn/.test(line))).toHaveLength(20);
    expect(lines.filter((line) => /^completed +turn/.test(line))).toHaveLength(20);
    const turns = lines.filter((line) => line.startsWith('turns'));
    expect(turns.at(-1)).toBe('turns      turn  199 completed, 1 skipped so far');
    expect(lines.indexOf(turns.at(-1) ?? '') + 1).toBe(lines.findIndex((line) => /^started +after/.test(line)));
    expect(lines.length).toBeLessThan(60);
  });
});
