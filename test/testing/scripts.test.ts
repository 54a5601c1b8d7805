import { defineHandler } from 'runsheet';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { passes, runTests } from './flow-test.js';

const call = (more = ''): string => `
steps:
  - id: charge
    step: payments.charge
    with: { amount: 10 }
${more}`;

describe('a scripted handler', () => {
  it('uses up one entry a call, and repeats the last one', async () => {
    await passes(
      `
steps:
  - id: each
    forEach: [a, b, c, d]
    do: [{ id: got, step: get }]
output: =$steps.each`,
      `
tests:
  - name: answers in turn
    handlers: { get: [{ returns: 1 }, { returns: 2 }] }
    expect: { output: [1, 2, 2, 2], calls: { get: 4 } }`,
    );
  });

  it('is asked by `when` first, and those entries are never used up', async () => {
    await passes(
      `
steps:
  - id: each
    forEach: [a, b, a, c]
    do: [{ id: got, step: get, with: { of: =$item } }]
output: =$steps.each`,
      `
tests:
  - name: by the input
    handlers:
      get: [{ returns: first }, { when: =$input.of = "a", returns: an a }, { returns: later }]
    expect: { output: [an a, first, an a, later] }`,
    );
  });

  it('takes virtual time, within the timeout of its step', async () => {
    await passes(
      call('    timeout: 5s\n    retry: { attempts: 2, delay: 1s, jitter: false }\noutput: =$steps.charge'),
      `
tests:
  - name: slow at first
    handlers: { payments.charge: [{ takes: 1h, returns: late }, { takes: 4s, returns: in time }] }
    expect: { output: in time, elapsed: 10s, calls: { payments.charge: 2 } }`,
    );
  });

  it('throws what retry and onError go by', async () => {
    await passes(
      call(`    retry: { attempts: 3, delay: 1s, errors: [Busy] }
    onError: [{ errors: [Declined], do: [{ set: =$error.details.code }] }]
output: =$steps.charge`),
      `
tests:
  - name: busy, then declined
    handlers:
      payments.charge: [{ throws: { name: Busy } }, { throws: { name: Declined, details: { code: 7 } } }, { returns: no }]
    expect: { output: 7, calls: { payments.charge: 2 } }`,
    );
  });

  it('throws what is never retried, and what proves that nothing was done', async () => {
    const flow = `
steps:
  - id: charge
    step: payments.charge
    compensate: { step: payments.refund }
`;
    const { results, text } = await runTests(
      flow,
      `
tests:
  - name: final
    handlers: { payments.charge: { throws: { name: Broken, nonRetryable: true } }, payments.refund: {} }
    expect: { status: failed, calls: { payments.charge: 1 }, compensated: [charge] }
  - name: final by its name
    handlers: { payments.charge: { throws: { name: NonRetryableError } }, payments.refund: {} }
    expect: { status: failed, calls: { payments.charge: 1 }, compensated: [charge] }
  - name: without effect
    handlers: { payments.charge: { throws: { name: Broken, noEffect: true } }, payments.refund: {} }
    expect: { status: failed, calls: { payments.charge: 3 }, compensated: [], rollback: not-applicable }
  - name: without effect by its name
    handlers: { payments.charge: { throws: { name: NoEffectError } }, payments.refund: {} }
    expect: { status: failed, compensated: [] }
  - name: both
    handlers: { payments.charge: { throws: { name: Broken, noEffect: true, nonRetryable: true } }, payments.refund: {} }
    expect: { status: failed, calls: { payments.charge: 1 }, compensated: [] }`,
    );
    expect(text).toBe('');
    expect(results).toHaveLength(5);
  });

  it('gives nothing as `{}`, and null as null', async () => {
    await passes(
      `
steps: [{ id: one, step: one }, { id: two, step: two }]
output: { one: =$steps.one ?? "nothing", two: =$steps.two }`,
      `
tests:
  - name: nothing and null
    handlers: { one: {}, two: { returns: null } }
    expect: { output: { one: nothing, two: null } }`,
    );
  });

  it('answers a call that a crash cut short with the same entry', async () => {
    await passes(
      `
steps: [{ id: one, step: get }, { id: two, step: get }]
output: [=$steps.one, =$steps.two]`,
      `
tests:
  - name: dies in the first call
    handlers: { get: [{ returns: 1 }, { returns: 2 }] }
    crash: [{ during: one }]
    expect: { output: [1, 2], calls: { get: 3 } }`,
    );
  });

  it('is an error where it is missing: it says who calls it and how to script it', async () => {
    const { text } = await runTests(call(), 'tests:\n  - name: nobody answers\n    handlers: {}\n').catch(
      (error: unknown) => ({ text: String(error) }),
    );
    expect(text).toContain('payments.charge');
  });

  it('that no entry fits is an error of the test', async () => {
    const { text } = await runTests(
      call(),
      `
tests:
  - name: another amount
    handlers: { payments.charge: [{ when: =$input.amount = 11, returns: 1 }] }`,
    );
    expect(text).toContain('no answer of payments.charge fits a call of charge with {"amount":10}');
  });
});

describe('the registered handler of a scripted one', () => {
  const handlers = [
    defineHandler({
      name: 'payments.charge',
      input: z.object({ amount: z.number().max(100) }),
      output: z.object({ paymentId: z.string() }),
      run: () => ({ paymentId: 'real' }),
    }),
  ];

  it('refuses input that does not fit its schema, as in earnest', async () => {
    await passes(
      `
steps:
  - id: charge
    step: payments.charge
    with: { amount: 1000 }`,
      `
tests:
  - name: too much
    handlers: { payments.charge: { returns: { paymentId: p } } }
    expect: { status: failed, error: { name: ValidationError }, calls: { payments.charge: 0 } }`,
      { handlers },
    );
  });

  it('makes an answer that it could never give a mistake of the test', async () => {
    const outcome = await runTests(
      call(),
      'tests:\n  - name: x\n    handlers: { payments.charge: { returns: { paymentId: 1 } } }\n',
      { handlers },
    ).catch((error: unknown) => ({ text: String(error) }));
    expect(outcome.text).toContain('paymentId');
  });

  it('runs itself where the test says `real`', async () => {
    const { text } = await runTests(
      call('output: =$steps.charge'),
      `
tests:
  - name: all
    handlers: real
    expect: { output: { paymentId: real }, calls: { payments.charge: 1 } }
  - name: this one
    handlers: { payments.charge: real }
    expect: { output: { paymentId: real } }`,
      { handlers },
    );
    expect(text).toBe('');
  });
});

describe('a flow that starts itself', () => {
  const countdown = `
input: { n: { type: integer, default: 3 } }
steps:
  - id: rest
    when: =$input.n > 0
    subWorkflow: flow
    with: { n: =$input.n - 1 }
output: =$input.n + ($steps.rest ?? 0)`;

  it('runs its children, or has them answered', async () => {
    const { text, results } = await runTests(
      countdown,
      `
tests:
  - name: all of them run
    expect: { output: 6 }
  - name: the first one is answered
    children: { flow: { returns: 40, takes: 2m } }
    crash: every
    expect: { output: 43, ran: [rest], inputs: { rest: { n: 2 } }, elapsed: 2m }
  - name: it fails
    children: { flow: { throws: { name: Down } } }
    expect: { status: failed, error: { name: ChildFailed, step: rest } }
  - name: it is given what the flow does not take
    input: { n: 1.5 }
    expect: { refused: ValidationError }`,
    );
    expect(text).toBe('');
    expect(results).toHaveLength(4);
  });
});
