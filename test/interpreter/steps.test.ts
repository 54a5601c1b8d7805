import { describe, expect, it } from 'vitest';
import { NonRetryableError } from 'runsheet';
import { gate, runFlow } from '../support/flow.js';

describe('a list of steps', () => {
  it('runs in file order, and each step sees the outputs of those before it', async () => {
    const { run, calls } = await runFlow(
      `
input: { amount: { type: integer } }
steps:
  - id: double
    step: multiply
    with: { value: =$input.amount, by: 2 }
  - id: again
    step: multiply
    with: { value: =$steps.double, by: 10 }
output: { result: =$steps.again, text: ="got " & $string($steps.double) }
`,
      {
        input: { amount: 21 },
        handlers: {
          multiply: (input) => (input as { value: number; by: number }).value * (input as { by: number }).by,
        },
      },
    );
    expect(run).toMatchObject({ status: 'completed', output: { result: 420, text: 'got 42' } });
    expect(calls.map(({ input }) => input)).toEqual([
      { value: 21, by: 2 },
      { value: 42, by: 10 },
    ]);
  });

  it('gives the last output where the flow states none', async () => {
    const { run } = await runFlow(`steps: [{ set: 1 }, { set: { a: =1 + 1 } }]`);
    expect(run.output).toEqual({ a: 2 });
  });

  it('completes at once where it is empty', async () => {
    const { run, journal } = await runFlow(`steps: []`);
    expect(run).toMatchObject({ status: 'completed', output: null });
    expect(journal.map(({ kind }) => kind)).toEqual(['run-started', 'decision', 'run-outcome', 'run-ended']);
  });

  it('skips an item whose condition is false, and records it', async () => {
    const { run, journal } = await runFlow(`
steps:
  - id: skipped
    when: false
    set: 1
output: =$steps.skipped ?? "none"
`);
    expect(run.output).toBe('none');
    expect(journal.map(({ kind, step }) => [kind, step])).toContainEqual(['step-skipped', 'skipped']);
  });

  it('knows a step without id by its handler where that is a plain name', async () => {
    const { run } = await runFlow(`steps: [{ step: greet }, { set: =$steps.greet & "!" }]`, {
      handlers: { greet: () => 'hello' },
    });
    expect(run.output).toBe('hello!');
  });

  it('ends early as completed', async () => {
    const { run, calls } = await runFlow(
      `
steps:
  - group:
      - complete: { early: true }
    timeout: 1h
  - step: never
`,
      { handlers: { never: () => null } },
    );
    expect(run).toMatchObject({ status: 'completed', output: { early: true } });
    expect(calls).toEqual([]);
  });

  it('fails by name, with message and details', async () => {
    const { run } = await runFlow(`
input: { by: { type: string, default: eva } }
steps:
  - id: reject
    fail: OrderRejected
    message: ="Rejected by " & $input.by
    details: { by: =$input.by }
`);
    expect(run.status).toBe('failed');
    expect(run.error).toEqual({
      name: 'OrderRejected',
      message: 'Rejected by eva',
      step: 'reject',
      attempt: null,
      details: { by: 'eva' },
    });
  });
});

describe('formulas at run time', () => {
  it.each([
    ['an absent value', '- set: =$input.missing'],
    ['a condition that is no boolean', '- { when: =$input.text, set: 1 }'],
    ['an absent operand of a condition', '- { when: =$input.missing > 1, set: 1 }'],
  ])('%s fails the item, naming the place in the file', async (_, item) => {
    const { run } = await runFlow(
      `inputSchema: { type: object }
steps:
  ${item}
`,
      { input: { text: 'yes' } },
    );
    expect(run).toMatchObject({ status: 'failed', error: { name: 'ExpressionError' } });
    expect(run.error?.message).toMatch(/flow\.yaml:4:\d+/);
  });
});

describe('retries', () => {
  const flow = (retry: string): string => `
steps:
  - id: flaky
    step: flaky
    retry: ${retry}
`;

  it('tries again after a growing delay, with the same key and input', async () => {
    let failures = 2;
    const { run, calls, elapsedMs, events } = await runFlow(flow('{ attempts: 3, delay: 2s, jitter: false }'), {
      handlers: {
        flaky: () => {
          if (failures-- > 0) throw new Error('busy');
          return 'done';
        },
      },
    });
    expect(run.output).toBe('done');
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ key }) => key))).toEqual(new Set([`${run.id}:flaky#0:forward`]));
    expect(elapsedMs).toBeGreaterThanOrEqual(2000 + 4000);
    expect(elapsedMs).toBeLessThan(6100);
    expect(events.map(({ type }) => type)).toEqual([
      'workflow:started',
      'step:started',
      'step:retry',
      'workflow:sleeping',
      'step:started',
      'step:retry',
      'workflow:sleeping',
      'step:started',
      'step:completed',
      'workflow:completed',
    ]);
  });

  it('keeps jitter between half and the whole of the delay, and under the cap', async () => {
    const { elapsedMs } = await runFlow(flow('{ attempts: 2, delay: 10s, maxDelay: 4s }'), {
      handlers: {
        flaky: () => {
          throw new Error('busy');
        },
      },
    });
    expect(elapsedMs).toBeGreaterThanOrEqual(2000);
    expect(elapsedMs).toBeLessThanOrEqual(4100);
  });

  it('gives up after its attempts and keeps what was thrown', async () => {
    const cause = new Error('socket closed');
    const { run, calls } = await runFlow(flow('{ attempts: 2, delay: 1ms }'), {
      handlers: {
        flaky: () => {
          throw Object.assign(new Error('no answer', { cause }), { code: 'ECONNRESET', details: { host: 'a' } });
        },
      },
    });
    expect(calls).toHaveLength(2);
    expect(run.error).toMatchObject({
      name: 'ECONNRESET',
      message: 'no answer',
      step: 'flaky',
      attempt: 2,
      details: { host: 'a' },
      cause: { name: 'Error', message: 'socket closed' },
    });
  });

  it.each([
    ['a text', 'out of stock', { name: 'Error', message: 'out of stock' }],
    ['an object', { code: 'E42', at: 3 }, { name: 'E42', details: { code: 'E42', at: 3 } }],
    ['nothing', undefined, { name: 'Error', message: 'undefined' }],
  ])('keeps %s that was thrown', async (_, thrown, expected) => {
    const { run } = await runFlow(flow('{ attempts: 1 }'), {
      handlers: {
        flaky: () => {
          throw thrown;
        },
      },
    });
    expect(run.error).toMatchObject(expected);
  });

  it.each([
    ['errors', '{ attempts: 5, errors: [Busy] }'],
    ['exceptErrors', '{ attempts: 5, exceptErrors: [Broken] }'],
    ['when', '{ attempts: 5, when: $error.name = "Busy" }'],
  ])('obeys %s', async (_, retry) => {
    const { calls } = await runFlow(flow(retry), {
      handlers: {
        flaky: () => {
          throw Object.assign(new Error('x'), { name: 'Broken' });
        },
      },
    });
    expect(calls).toHaveLength(1);
  });

  it('stops at maxDuration, counted from the first start', async () => {
    const { calls, elapsedMs } = await runFlow(
      flow('{ attempts: 100, delay: 10s, backoff: constant, jitter: false, maxDuration: 35s }'),
      {
        handlers: {
          flaky: () => {
            throw new Error('busy');
          },
        },
      },
    );
    expect(calls).toHaveLength(4);
    expect(elapsedMs).toBe(30_000);
  });

  it.each([
    ['output that JSON cannot hold', () => new Map(), 'SerializationError'],
    ['output that is too large', () => 'x'.repeat(2000), 'PayloadTooLarge'],
    [
      'an error that says so',
      () => {
        throw new NonRetryableError('no such customer');
      },
      'NonRetryableError',
    ],
  ])('never repeats %s', async (_, script, name) => {
    const { run, calls } = await runFlow(flow('{ attempts: 5 }'), {
      handlers: { flaky: script },
      maxPayloadBytes: 1000,
    });
    expect(calls).toHaveLength(1);
    expect(run.error?.name).toBe(name);
  });

  it('takes a named policy, and the defaults of the file', async () => {
    const { calls } = await runFlow(
      `
retryPolicies: { once: { attempts: 1 } }
defaults: { retry: { attempts: 4, delay: 1ms } }
steps:
  - { step: fails, retry: once, onError: [{ do: [] }] }
  - { id: other, step: fails, onError: [{ do: [] }] }
`,
      {
        handlers: {
          fails: () => {
            throw new Error('x');
          },
        },
      },
    );
    expect(calls).toHaveLength(1 + 4);
  });
});

describe('time-outs of attempts', () => {
  it('abort the handler, count as a failed attempt, and refuse its late result', async () => {
    const reasons: unknown[] = [];
    const late = gate<string>();
    let calls = 0;
    const { run, elapsedMs } = await runFlow(
      `
steps:
  - { id: slow, step: slow, timeout: 20s, retry: { attempts: 2, delay: 1s, jitter: false } }
`,
      {
        handlers: {
          slow: async (_, { signal }) => {
            calls += 1;
            if (calls === 2) return 'second';
            signal.addEventListener('abort', () => {
              reasons.push((signal.reason as Error).name);
              late.open('first, too late');
            });
            return late.promise;
          },
        },
      },
    );
    expect(run.output).toBe('second');
    expect(reasons).toEqual(['Timeout']);
    expect(elapsedMs).toBeGreaterThanOrEqual(21_000);
  });

  it('apply after five minutes where nothing is said', async () => {
    const { run, elapsedMs } = await runFlow(`steps: [{ id: hangs, step: hangs, retry: { attempts: 1 } }]`, {
      handlers: { hangs: () => new Promise(() => {}) },
    });
    expect(run.error).toMatchObject({ name: 'Timeout', step: 'hangs', attempt: 1 });
    expect(elapsedMs).toBeGreaterThanOrEqual(300_000);
  });
});

describe('secrets', () => {
  const flow = `
steps:
  - step: login
    with: { user: eva, password: { $secret: DB_PASSWORD } }
`;

  it('reach the handler and never the journal', async () => {
    const { run, calls, journal } = await runFlow(flow, {
      handlers: { login: () => true },
      secrets: (name) => (name === 'DB_PASSWORD' ? 'hunter2' : undefined),
    });
    expect(run.status).toBe('completed');
    expect(calls[0]?.input).toEqual({ user: 'eva', password: 'hunter2' });
    expect(JSON.stringify(journal)).not.toContain('hunter2');
    expect(JSON.stringify(journal)).toContain('DB_PASSWORD');
  });

  it('that are missing fail the step before any attempt', async () => {
    const { run, calls } = await runFlow(flow, { handlers: { login: () => true }, secrets: () => undefined });
    expect(run.error).toMatchObject({ name: 'SecretMissing', step: 'login@0' });
    expect(run.error?.message).toContain('RUNSHEET_SECRET_DB_PASSWORD');
    expect(calls).toEqual([]);
  });
});
