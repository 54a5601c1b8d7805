import { describe, expect, it } from 'vitest';
import { passes, runTests } from './flow-test.js';

const gate = `
steps:
  - id: ask
    step: ask
    compensate: { step: unask }
  - id: decision
    waitFor: answer
    schema: { type: object, properties: { yes: { type: boolean } }, required: [yes] }
    timeout: 48h
    onTimeout: { yes: false }
  - when: =$steps.decision.yes = false
    fail: Refused
output: =$steps.decision`;
const handlers = '{ ask: {}, unask: {} }';

describe('signals', () => {
  it('come at their time, or after an item', async () => {
    const { text } = await runTests(
      gate,
      `
defaults: { handlers: ${handlers} }
tests:
  - name: in time
    signals: [{ at: 47h, name: answer, payload: { yes: true } }]
    expect: { output: { yes: true }, elapsed: 47h }
  - name: after the question
    signals: [{ after: ask, name: answer, payload: { yes: true } }]
    expect: { output: { yes: true } }
  - name: at the last moment
    signals: [{ at: 48h, name: answer, payload: { yes: true } }]
    expect: { output: { yes: true } }
  - name: too late
    signals: [{ at: 49h, name: answer, payload: { yes: true }, refused: RunEnded }]
    expect: { status: failed, error: { name: Refused }, compensated: [ask], elapsed: 48h }
  - name: twice
    handlers: { ask: { takes: 2m } }
    signals:
      - { at: 1m, name: answer, payload: { yes: true } }
      - { at: 1m, name: answer, payload: { yes: true }, refused: SignalAlreadyDelivered }`,
    );
    expect(text).toBe('');
  });

  it('go to a child', async () => {
    await passes(
      `
steps: [{ id: child, subWorkflow: child, with: {} }]
output: =$steps.child`,
      `
tests:
  - name: the child is told
    signals: [{ at: 1h, name: go, payload: 5, to: child }]
    expect: { output: 5, elapsed: 1h }`,
      { others: { 'child.yaml': 'workflow: child\nsteps: [{ waitFor: go, timeout: never }]\n' } },
    );
  });

  it('that are refused unexpectedly, or never sent, fail the test at their line', async () => {
    const { text } = await runTests(
      gate,
      `
defaults: { handlers: ${handlers} }
tests:
  - name: never sent
    signals: [{ at: 72h, name: answer, payload: { yes: true } }]
    expect: { status: failed }
  - name: not refused
    signals: [{ at: 1h, name: answer, payload: { yes: true }, refused: SignalTooLate }]`,
    );
    expect(text).toContain('the signal answer was to come at 72h, but by then the run was failed (after 2d)');
    expect(text).toContain('the signal answer was to be refused with SignalTooLate, but it was not');
  });
});

describe('children', () => {
  it('are answered, with the time that they take, or run', async () => {
    const { text } = await runTests(
      `
steps:
  - id: child
    subWorkflow: child
    with: { n: 1 }
    timeout: 2h
    onError: [{ errors: [ChildFailed], do: [{ set: =$error.details.error.name }] }]
output: =$steps.child`,
      `
tests:
  - name: answered
    children: { child: { returns: 7, takes: 1h } }
    expect: { output: 7, elapsed: 1h, inputs: { child: { n: 1 } } }
  - name: fails
    children: { child: { throws: { name: NoVan } } }
    expect: { output: NoVan }
  - name: takes too long
    children: { child: { returns: 7, takes: 3h } }
    expect: { status: failed, error: { name: Timeout } }
  - name: run
    expect: { output: 2 }`,
      {
        others: { 'child.yaml': 'workflow: child\ninput: { n: { type: integer } }\nsteps: [{ set: =$input.n * 2 }]\n' },
      },
    );
    expect(text).toBe('');
  });
});

describe('crashes', () => {
  it('after and during items, and every one of them, come to the same end', async () => {
    const { text } = await runTests(
      gate,
      `
defaults:
  handlers: ${handlers}
  signals: [{ at: 14h, name: answer, payload: { yes: false } }]
tests:
  - name: after the question
    crash: [{ after: ask }, { during: "ask:compensate" }]
    expect: { status: failed, compensated: [ask], calls: { ask: 1, unask: 2 } }
  - name: every
    crash: every
    expect: { status: failed, compensated: [ask], elapsed: 14h }
  - name: never there
    crash: [{ after: "ask:compensate" }]
    signals: [{ at: 1h, name: answer, payload: { yes: true } }]`,
    );
    expect(text.split('\n')[0]).toContain('the process was to die after ask:compensate, which was never over');
    expect(text.match(/failed:/g)).toHaveLength(1);
  });

  it('tell after which entry a run ends otherwise', async () => {
    let calls = 0;
    const { text } = await runTests(
      'steps: [{ id: count, step: count }]\noutput: =$steps.count',
      `
tests:
  - name: counts its calls
    handlers: real
    crash: every
    expect: { outputMatches: =$output > 0 }`,
      { handlers: [{ name: 'count', run: () => (calls += 1) }] },
    );
    expect(text).toMatch(
      /the run ends otherwise where the process dies before `step-started` of count was written \(crash 1 of \d\)/,
    );
    expect(text).toMatch(/- output: 1\n {2}\+ output: \d/);
  });
});

describe('downtime after a death', () => {
  it('lets deadlines pass, signals wait, and sleeps end late', async () => {
    const { text } = await runTests(
      `
timeout: 3d
steps:
  - id: first
    step: do
    compensate: { step: undo }
  - id: gate
    waitFor: go
    timeout: 1d
    onTimeout: nobody
  - id: nap
    sleep: 1h
output: =$steps.gate`,
      `
defaults: { handlers: { do: {}, undo: {} } }
tests:
  - name: at once where nothing is said
    signals: [{ at: 0s, name: go, payload: 1 }]
    crash: [{ after: first }]
    expect: { output: 1, elapsed: 1h }
  - name: a signal that comes meanwhile is not lost
    signals: [{ at: 2h, name: go, payload: 1 }]
    crash: [{ after: first, down: 5h }]
    expect: { output: 1, elapsed: 6h }
  - name: the clock of the gate begins when somebody comes to it
    crash: [{ during: first, down: 1d }]
    expect: { output: nobody, calls: { do: 2 }, elapsed: 49h }
  - name: the gate is overdue
    signals: [{ at: 30h, name: go, refused: SignalTooLate }]
    crash: [{ after: first, down: 2d }]
    expect: { output: nobody }
  - name: the time of the run is up
    signals: [{ at: 0s, name: go }]
    crash: [{ after: first, down: 3d }]
    expect: { status: failed, error: { name: RunTimeout }, compensated: [first], elapsed: 3d }`,
    );
    expect(text).toBe('');
  });
});

describe('cancelling, resuming, secrets, time', () => {
  it('cancels and undoes, or leaves what was done', async () => {
    const { text } = await runTests(
      gate,
      `
defaults: { handlers: ${handlers} }
tests:
  - name: undone
    cancel: { at: 1h }
    expect: { status: cancelled, compensated: [ask], rollback: completed, elapsed: 1h }
  - name: left
    cancel: { after: ask, compensate: false }
    expect: { status: cancelled, compensated: [], rollback: abandoned }
  - name: too late
    cancel: { at: 50h, refused: RunEnded }
    expect: { status: failed }`,
    );
    expect(text).toBe('');
  });

  it('cancels what is at work at once, not when it is over', async () => {
    const { text } = await runTests(
      `
steps:
  - id: book
    step: book
    compensate: { step: unbook }
  - pivot: booked for good
  - step: print`,
      `
defaults: { handlers: { book: { takes: 30s }, unbook: {} } }
tests:
  - name: before the pivot
    cancel: { at: 10s }
    expect: { status: cancelled, compensated: [book], calls: { book: 1, print: 0 } }
  - name: before the pivot, through a crash
    cancel: { at: 10s }
    crash: [{ during: book }]
    expect: { status: cancelled, compensated: [book], calls: { print: 0 } }`,
    );
    expect(text).toBe('');
  });

  it('resumes: state and output are the new run’s, all else counts both', async () => {
    await passes(
      `
steps:
  - id: one
    step: one
  - id: two
    step: two
    retry: { attempts: 1 }
output: =$steps.two`,
      `
tests:
  - name: goes on
    handlers: { one: { returns: 1 }, two: [{ throws: { name: Down } }, { returns: 2 }] }
    resume: { at: 2h }
    expect: { output: 2, calls: { one: 1, two: 2 }, ran: [one, two], elapsed: 2h }`,
    );
  });

  it('decides about an undoing that is stuck', async () => {
    const flow = `
steps:
  - id: one
    step: do
    compensate: { step: undo.one }
  - id: two
    step: do
    compensate: { step: undo.two, retry: { attempts: 1 } }
  - fail: No`;
    const { text } = await runTests(
      flow,
      `
defaults:
  handlers: { do: {}, undo.one: {}, undo.two: [{ throws: { name: Down } }, {}] }
  compensation: [{ at: 2h, decide: resume }]
tests:
  - name: tried again
    expect: { status: failed, rollback: completed, compensated: [two, one], calls: { undo.two: 2 }, elapsed: 2h }
  - name: given up
    compensation: [{ at: 1h, decide: abandon }]
    expect: { status: failed, rollback: abandoned, compensated: [], calls: { undo.two: 1 } }
  - name: tried again in vain, then given up
    handlers: { undo.two: { throws: { name: Down } } }
    compensation: [{ at: 1h, decide: resume }, { at: 2h, decide: abandon }]
    crash: every
    expect: { status: failed, rollback: abandoned, compensated: [], calls: { undo.two: 2 }, elapsed: 2h }
  - name: nothing to decide
    handlers: { undo.two: {} }
    compensation: [{ at: 1h, decide: resume, refused: RunEnded }]
    expect: { status: failed, rollback: completed }
  - name: too early
    handlers: { do: { takes: 1m } }
    compensation: [{ at: 1s, decide: abandon, refused: RunNotStuck }, { at: 1h, decide: resume }]
    expect: { status: failed, rollback: completed }
  - name: of no use
    handlers: { do: { takes: 1m } }
    compensation: [{ at: 1s, decide: abandon }]
    expect: { status: failed }`,
    );
    expect(text.match(/failed: .*/g)).toEqual([
      'failed: the run was to be failed, but it is stuck in its undoing: No in fail@2: No',
      'failed: the decision to abandon was refused with RunNotStuck: the run is running; its unwind is not stuck',
    ]);
    expect(text).toContain(
      'help: what an operator decides about it stands in `compensation: [{ at: …, decide: resume }]`',
    );
  });

  it('passes a decision on to a child that is stuck', async () => {
    await passes(
      'steps: [{ id: kid, subWorkflow: child, with: {} }]',
      `
tests:
  - name: the child is undone in the end
    handlers: { do: {}, undo: [{ throws: { name: Down } }, {}] }
    compensation: [{ at: 1h, decide: resume }]
    expect: { status: failed, rollback: completed, compensated: [kid], elapsed: 1h }`,
      {
        others: {
          'child.yaml': `
workflow: child
steps: [{ step: do, compensate: { step: undo, retry: { attempts: 1 } } }, { fail: No }]
`,
        },
      },
    );
  });

  it('gives secrets to handlers and shows them as references', async () => {
    const seen: unknown[] = [];
    await passes(
      `
steps:
  - id: call
    step: call
    with: { token: { $secret: TOKEN } }`,
      `
tests:
  - name: secret
    secrets: { TOKEN: hush }
    handlers: real
    expect: { inputs: { call: { token: { $secret: TOKEN } } } }`,
      { handlers: [{ name: 'call', run: ({ input }) => void seen.push(input) }] },
    );
    expect(seen).toEqual([{ token: 'hush' }]);
  });

  it('begins at `now`', async () => {
    await passes(
      'steps: [{ set: =$now() }]',
      `
now: 2031-05-06T07:08:09Z
tests: [{ name: time, expect: { output: "2031-05-06T07:08:09.000Z" } }]`,
    );
  });
});

describe('a test never hangs', () => {
  it('a run that nothing will move on is waiting, and says for what', async () => {
    const { text } = await runTests(
      'steps: [{ id: gate, waitFor: go, timeout: never }]',
      'tests:\n  - name: waits\n    expect: { status: waiting, ran: [gate] }\n  - name: wrong\n',
    );
    expect(text).toContain('it waits for the signal go (gate), since 0ms, without a limit');
    expect(text.match(/failed:/g)).toHaveLength(1);
  });

  it('a run that is stuck in its undoing is so', async () => {
    await passes(
      gate,
      `
tests:
  - name: stuck
    handlers: { ask: {}, unask: { throws: { name: Down } } }
    expect: { status: compensation-stuck, rollback: stuck, error: { name: Refused } }`,
    );
  });

  it('a loop without an end is told', async () => {
    const { text } = await runTests(
      'steps: [{ doWhile: =$iteration >= 0, maxIterations: 1000000, do: [{ sleep: 300d }] }]',
      'tests: [{ name: for ever }]',
    );
    expect(text).toContain('the run does not come to an end: a hundred years have gone by');
  });
});
