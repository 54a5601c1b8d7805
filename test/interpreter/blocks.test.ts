import { describe, expect, it } from 'vitest';
import { gate, runFlow } from '../support/flow.js';

const fails = (name: string) => (): never => {
  throw Object.assign(new Error(`${name} happened`), { name });
};

describe('onError', () => {
  it('takes the first entry that fits, whose last output becomes that of the item', async () => {
    const { run } = await runFlow(
      `
steps:
  - id: charge
    step: charge
    retry: { attempts: 1 }
    onError:
      - { errors: [Busy], do: [{ set: wrong }] }
      - { errors: [CardDeclined], when: $error.details.code = 7, do: [{ set: ="handled " & $error.name }] }
      - do: [{ set: wrong }]
output: =$steps.charge
`,
      {
        handlers: {
          charge: () => {
            throw Object.assign(new Error('x'), { name: 'CardDeclined', details: { code: 7 } });
          },
        },
      },
    );
    expect(run.error).toBeNull();
    expect(run.output).toBe('handled CardDeclined');
  });

  it('lets the error go on as it was', async () => {
    const { run, calls } = await runFlow(
      `
steps:
  - { id: a, step: a, retry: { attempts: 1 }, onError: [{ do: [{ step: note }, { rethrow: on it goes }] }] }
`,
      { handlers: { a: fails('Broken'), note: () => null } },
    );
    expect(run.error).toEqual({ name: 'Broken', message: 'Broken happened', step: 'a', attempt: 1, details: null });
    expect(calls.map(({ name }) => name)).toEqual(['a', 'note']);
  });

  it('keeps the first error as the cause of one in its own body', async () => {
    const { run } = await runFlow(
      `
steps:
  - { id: a, step: a, retry: { attempts: 1 }, onError: [{ do: [{ id: b, step: b, retry: { attempts: 1 } }] }] }
`,
      { handlers: { a: fails('First'), b: fails('Second') } },
    );
    expect(run.error).toMatchObject({ name: 'Second', step: 'b', details: { cause: { name: 'First', step: 'a' } } });
  });

  it('does not catch a failing condition of its own item', async () => {
    const { run } = await runFlow(`steps: [{ when: "$input.x", set: 1, onError: [{ do: [] }] }]
inputSchema: {}`);
    expect(run.error?.name).toBe('ExpressionError');
  });
});

describe('branch', () => {
  it.each([
    [5, 'small'],
    [50, 'middle'],
    [500, 'large'],
  ])('%d is %s', async (amount, expected) => {
    const { run } = await runFlow(
      `
input: { amount: { type: number } }
steps:
  - id: size
    branch:
      - { when: $input.amount < 10, do: [{ set: small }] }
      - { when: $input.amount < 100, do: [{ set: middle }] }
      - else: [{ set: large }]
output: =$steps.size
`,
      { input: { amount } },
    );
    expect(run.output).toBe(expected);
  });
});

describe('parallel', () => {
  it('runs its branches side by side and gives their outputs by name', async () => {
    const first = gate();
    const second = gate();
    const { run } = await runFlow(
      `
steps:
  - id: both
    parallel:
      a: [{ id: waits, step: waits }]
      b: [{ step: opens }, { when: false, set: 1 }]
      none: []
  - set: { both: =$steps.both, waits: =$steps.waits }
`,
      {
        handlers: {
          waits: async () => {
            first.open();
            await second.promise;
            return 1;
          },
          opens: async () => {
            await first.promise;
            second.open();
            return 2;
          },
        },
      },
    );
    expect(run.output).toEqual({ both: { a: 1, b: 2 }, waits: 1 });
  });

  it('hides the steps of one branch from another', async () => {
    const { run } = await runFlow(`
steps:
  - parallel:
      a: [{ id: x, set: 1 }]
      b: [{ sleep: 1s }, { id: y, set: '=$steps.x ?? "unseen"' }]
output: =$steps.y
`);
    expect(run.output).toBe('unseen');
  });

  it('ends the others at the first failure, tells their handlers, and names the first as the cause', async () => {
    const reasons: string[] = [];
    const { run, calls, elapsedMs } = await runFlow(
      `
steps:
  - parallel:
      bad: [{ sleep: 1s }, { id: bad, step: bad, retry: { attempts: 1 } }]
      sleeper: [{ sleep: 30d }, { step: after }]
      worker: [{ step: work }, { step: after }]
`,
      {
        handlers: {
          bad: fails('Broken'),
          after: () => null,
          work: (_, { signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                reasons.push(String(signal.reason));
                reject(new Error('gave up'));
              });
            }),
        },
      },
    );
    expect(run.error).toMatchObject({ name: 'Broken', step: 'bad' });
    expect(reasons).toHaveLength(1);
    expect(calls.map(({ name }) => name)).not.toContain('after');
    expect(elapsedMs).toBeLessThan(60_000);
  });

  it('waits for a handler that ignores its signal for the grace period alone', async () => {
    const { run, elapsedMs, journal } = await runFlow(
      `
steps:
  - parallel:
      bad: [{ sleep: 1s }, { fail: Broken }]
      deaf: [{ id: deaf, step: deaf, timeout: never }]
`,
      { handlers: { deaf: () => new Promise(() => {}) }, abortGraceMs: 7000 },
    );
    expect(run.error?.name).toBe('Broken');
    expect(elapsedMs).toBeGreaterThanOrEqual(8000);
    expect(elapsedMs).toBeLessThan(20_000);
    const failed = journal.find(({ kind, step }) => kind === 'step-failed' && step === 'deaf');
    expect(JSON.parse(failed?.payload ?? '')).toMatchObject({ error: { name: 'Cancelled' }, effect: 'unknown' });
  });

  it('with wait lets all end and reports the other failures beside the first', async () => {
    const { run, calls } = await runFlow(
      `
steps:
  - onBranchError: wait
    parallel:
      a: [{ sleep: 2s }, { fail: Late }]
      b: [{ fail: Early }]
      c: [{ sleep: 3s }, { step: work }]
`,
      { handlers: { work: () => 1 } },
    );
    expect(run.error).toMatchObject({ name: 'Early', details: { others: [{ name: 'Late' }] } });
    expect(calls.map(({ name }) => name)).toEqual(['work']);
  });

  it('starts its branches in the code-point order of their names', async () => {
    const { calls } = await runFlow(
      `steps: [{ parallel: { b: [{ step: h, with: { n: b } }], a: [{ step: h, with: { n: a } }], B: [{ step: h, with: { n: B } }] } }]`,
      { handlers: { h: () => null } },
    );
    expect(calls.map(({ input }) => (input as { n: string }).n)).toEqual(['B', 'a', 'b']);
  });

  it('of a thousand branches works', async () => {
    const branches = Array.from({ length: 1000 }, (_, n) => `      b${n}: [{ step: h, with: { n: ${n} } }]`);
    const { run, calls } = await runFlow(`steps:\n  - parallel:\n${branches.join('\n')}`, {
      handlers: { h: (input) => (input as { n: number }).n },
    });
    expect(calls).toHaveLength(1000);
    expect((run.output as Record<string, number>).b999).toBe(999);
  });
});

describe('forEach', () => {
  it('gives one entry per item in the order of the input, whatever ends first', async () => {
    const { run } = await runFlow(
      `
input: { waits: { type: array } }
steps:
  - id: each
    forEach: $input.waits
    as: seconds
    concurrency: 3
    do:
      - sleep: { until: =$millis() + $seconds * 1000 }
      - when: $seconds != 2
        set: { index: =$index, seconds: =$seconds }
output: =$steps.each
`,
      { input: { waits: [3, 2, 1] } },
    );
    expect(run.output).toEqual([{ index: 0, seconds: 3 }, null, { index: 2, seconds: 1 }]);
  });

  it('never runs more at once than it may', async () => {
    let running = 0;
    let most = 0;
    const { calls } = await runFlow(
      `steps: [{ forEach: '[1..20]', concurrency: 4, do: [{ step: h, with: { n: =$item } }] }]`,
      {
        handlers: {
          h: async () => {
            running += 1;
            most = Math.max(most, running);
            await new Promise((resolve) => setImmediate(resolve));
            running -= 1;
          },
        },
      },
    );
    expect(calls).toHaveLength(20);
    expect(most).toBe(4);
  });

  it('with continue puts the error in the place of the failed item', async () => {
    const { run } = await runFlow(`
steps:
  - id: each
    forEach: [1, 2]
    onItemError: continue
    do: [{ when: $item = 1, fail: Odd }, { set: =$item }]
output: =$steps.each
`);
    expect(run.output).toMatchObject([{ error: { name: 'Odd' } }, 2]);
  });

  it('with stop begins no more', async () => {
    const { run, calls } = await runFlow(
      `steps: [{ forEach: [1, 2, 3], do: [{ step: h, with: { n: =$item }, retry: { attempts: 1 } }] }]`,
      {
        handlers: {
          h: (input) => {
            if ((input as { n: number }).n === 2) throw new Error('two');
          },
        },
      },
    );
    expect(run.error).toMatchObject({ message: 'two' });
    expect(calls).toHaveLength(2);
  });

  it.each([
    ['an empty list', '$input.list', { list: [] }, []],
    ['a single match of a filter', '$input.list[$ > 2]', { list: [1, 2, 3] }, [3]],
    ['no match', '$input.list[$ > 5]', { list: [1, 2, 3] }, []],
  ])('takes %s', async (_, list, input, expected) => {
    const { run } = await runFlow(
      `inputSchema: {}
steps: [{ id: e, forEach: '${list}', do: [{ set: =$item }] }]
output: =$steps.e`,
      { input },
    );
    expect(run.output).toEqual(expected);
  });

  it.each([
    ['a text', { list: 'abc' }],
    ['a number', { list: 3 }],
  ])('refuses %s', async (_, input) => {
    const { run } = await runFlow(`inputSchema: {}\nsteps: [{ forEach: $input.list, do: [] }]`, { input });
    expect(run.error?.name).toBe('ExpressionError');
  });

  it('refuses a longer list than maxIterations before the first turn', async () => {
    const { run, calls } = await runFlow(`steps: [{ forEach: [1, 2, 3], maxIterations: 2, do: [{ step: h }] }]`, {
      handlers: { h: () => null },
    });
    expect(run.error?.name).toBe('LoopLimitExceeded');
    expect(calls).toEqual([]);
  });
});

describe('doWhile and doUntil', () => {
  it('count with the last turn’s output', async () => {
    const { run } = await runFlow(`
steps:
  - id: loop
    doUntil: $steps.n = 5
    do: [{ id: n, set: =($steps.n ?? 0) + 1 }]
  - id: other
    doWhile: $iteration < 3
    do: [{ set: =$iteration }]
output: { until: =$steps.loop, while: =$steps.other }
`);
    expect(run.output).toEqual({ until: 5, while: 2 });
  });

  it('start anew when they are entered again', async () => {
    const { run } = await runFlow(`
steps:
  - id: outer
    forEach: [1, 2]
    do:
      - id: inner
        doUntil: $steps.n = 2
        do: [{ id: n, set: =($steps.n ?? 0) + 1 }]
output: =$steps.outer
`);
    expect(run.output).toEqual([2, 2]);
  });

  it.each(['doWhile: true', 'doUntil: false'])('%s ends with an error at its cap', async (condition) => {
    const { run, calls } = await runFlow(`steps: [{ ${condition}, maxIterations: 3, do: [{ step: h }] }]`, {
      handlers: { h: () => null },
    });
    expect(run.error?.name).toBe('LoopLimitExceeded');
    expect(calls).toHaveLength(3);
  });

  it('that is never entered gives nothing', async () => {
    const { run } = await runFlow(`steps: [{ id: l, doWhile: false, do: [{ set: 1 }] }]
output: =$steps.l ?? "nothing"`);
    expect(run.output).toBe('nothing');
  });
});

describe('time', () => {
  it('passes in a sleep without a slot being held', async () => {
    const { run, elapsedMs, events } = await runFlow(`steps: [{ sleep: 14d }, { set: awake }]`);
    expect(run.output).toBe('awake');
    expect(elapsedMs).toBeGreaterThanOrEqual(14 * 24 * 3600 * 1000);
    expect(events.map(({ type }) => type)).toContain('workflow:sleeping');
  });

  it.each([
    ['a time stamp', '"2030-01-01T03:00:00+01:00"'],
    ['milliseconds', '$millis() + 7200000'],
  ])('is slept until %s', async (_, until) => {
    const { elapsedMs } = await runFlow(`steps: [{ sleep: { until: '=${until}' } }]`);
    expect(elapsedMs).toBeGreaterThanOrEqual(2 * 3600 * 1000);
    expect(elapsedMs).toBeLessThan(3 * 3600 * 1000);
  });

  it.each(['"tomorrow"', '"2030-01-01T03:00:00"', 'true', '{}'])('until %s is a named failure', async (until) => {
    const { run } = await runFlow(`steps: [{ sleep: { until: '=${until}' } }]`);
    expect(run.error).toMatchObject({ name: 'ExpressionError', step: 'sleep@0' });
  });

  it('limits a block, ends what is open in it, and can be handled', async () => {
    const { run, elapsedMs } = await runFlow(`
steps:
  - id: block
    group: [{ sleep: 30d }, { set: too late }]
    timeout: 1h
    onError: [{ errors: [Timeout], do: [{ set: '="gave up on " & $error.step' }] }]
`);
    expect(run.output).toBe('gave up on block');
    expect(elapsedMs).toBeGreaterThanOrEqual(3600_000);
    expect(elapsedMs).toBeLessThan(3601_000);
  });

  it('does not end a block that is done in time', async () => {
    const { run } = await runFlow(
      `steps: [{ group: [{ sleep: 1m }, { set: done }], timeout: 1h }, { sleep: 2h }, { set: after }]`,
    );
    expect(run).toMatchObject({ status: 'completed', output: 'after' });
  });

  it('limits the run as a whole, which no onError catches', async () => {
    const { run } = await runFlow(`
timeout: 2d
steps: [{ group: [{ sleep: 30d }], onError: [{ do: [{ set: caught }] }] }]
`);
    expect(run).toMatchObject({ status: 'failed', error: { name: 'RunTimeout', step: null } });
  });
});
