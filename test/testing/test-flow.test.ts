import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidDefinitionsError } from 'runsheet';
import { type FlowInTest, type TestFlowOptions, runFlowTests, testFlow } from 'runsheet/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../flows-support/temporary-folder.js';
import { definitionOf } from '../support/flow.js';

const order = definitionOf(`
workflow: order
input: { total: { type: number } }
steps:
  - id: charge
    step: payments.charge
    with: { amount: =$input.total }
    retry: { attempts: 3, delay: 10s, jitter: false }
    compensate: { step: payments.refund, with: { payment: =$result.paymentId } }
  - id: approval
    waitFor: approve
    timeout: 48h
    onTimeout: { approved: false }
  - when: =$steps.approval.approved = false
    fail: Rejected
output: =$steps.charge.paymentId
`);

async function start(options: Partial<TestFlowOptions> = {}): Promise<FlowInTest> {
  const flow = await testFlow({
    definitions: [order],
    input: { total: 10 },
    handlers: { 'payments.charge': { returns: { paymentId: 'p-1' } }, 'payments.refund': {} },
    ...options,
  });
  onTestFinished(() => flow.close());
  return flow;
}

describe('testFlow', () => {
  it('lets time go by only where the test does', async () => {
    const flow = await start();
    expect((await flow.run()).status).toBe('waiting');
    await flow.pass('47h');
    expect(flow.elapsedMs).toBe(47 * 3_600_000);
    await flow.signal('approve', { approved: true });
    expect(await flow.result()).toMatchObject({ status: 'completed', output: 'p-1' });
    expect(await flow.ran()).toEqual(['charge', 'approval']);
  });

  it('moves on to the end by itself: a deadline of two days takes no time', async () => {
    const flow = await start();
    expect(await flow.result()).toMatchObject({ status: 'failed', error: { name: 'Rejected' } });
    expect(await flow.compensated()).toEqual(['charge']);
    expect(flow.elapsedMs).toBe(48 * 3_600_000);
  });

  it('takes functions as handlers, and tells their calls', async () => {
    let busy = 2;
    const flow = await start({
      handlers: {
        'payments.charge': ({ input, attempt }) => {
          if ((busy -= 1) >= 0) throw new Error(`busy at ${JSON.stringify(input)}`);
          return { paymentId: `after ${attempt}` };
        },
        'payments.refund': {},
      },
    });
    await flow.pass(60_000);
    await flow.signal('approve', { approved: true });
    expect((await flow.result()).output).toBe('after 3');
    expect(flow.calls.map(({ handler, attempt, atMs }) => [handler, attempt, atMs])).toEqual([
      ['payments.charge', 1, 0],
      ['payments.charge', 2, 10_000],
      ['payments.charge', 3, 30_000],
    ]);
    expect(new Set(flow.calls.map(({ idempotencyKey }) => idempotencyKey))).toHaveProperty('size', 1);
  });

  it('lets processes die at any moment, and at places', async () => {
    const flow = await start({ crashes: [{ during: 'charge' }, { during: 'charge:compensate' }] });
    await flow.pass('1h');
    await flow.crash();
    expect(await flow.result()).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(flow.calls.map(({ handler }) => handler)).toEqual([
      'payments.charge',
      'payments.charge',
      'payments.refund',
      'payments.refund',
    ]);
  });

  it('cancels, resumes, and decides about an unwind that is stuck', async () => {
    const cancelled = await start();
    await cancelled.cancel();
    expect(await cancelled.result()).toMatchObject({ status: 'cancelled' });

    const failing = await start({
      handlers: {
        'payments.charge': [
          { throws: { name: 'Down', nonRetryable: true, noEffect: true } },
          { returns: { paymentId: 'p-2' } },
        ],
        'payments.refund': {},
      },
    });
    expect((await failing.result()).status).toBe('failed');
    await failing.resume();
    await failing.signal('approve', { approved: true });
    expect(await failing.result()).toMatchObject({ status: 'completed', output: 'p-2' });

    const stuck = await start({
      handlers: {
        'payments.charge': { returns: { paymentId: 'p-1' } },
        'payments.refund': { throws: { name: 'Down' } },
      },
    });
    await expect(stuck.result()).rejects.toThrow('the run is compensation-stuck and does not end');
    await stuck.compensation('abandon');
    expect(await stuck.result()).toMatchObject({ status: 'failed', rollbackStatus: 'abandoned' });
  });

  it('refuses input that does not fit, and flows whose handlers have no answer', async () => {
    await expect(start({ input: { total: 'ten' } })).rejects.toMatchObject({ code: 'RS_INPUT_INVALID' });
    await expect(start({ handlers: {} })).rejects.toMatchObject({ code: 'RS_HANDLER_UNKNOWN' });
  });

  it('calls real handlers while time stands still', async () => {
    const flow = await start({
      handlers: { 'payments.refund': {} },
      realHandlers: [
        {
          name: 'payments.charge',
          run: async () => {
            await new Promise((resolve) => setTimeout(resolve, 20));
            return { paymentId: 'real' };
          },
        },
      ],
    });
    await flow.signal('approve', { approved: true });
    expect((await flow.result()).output).toBe('real');
    expect(flow.elapsedMs).toBe(0);
  });
});

describe('runFlowTests', () => {
  const newFolder = temporaryFolderWith({
    'flow.yaml': 'workflow: flow\nsteps: [{ set: 1 }]\n',
    'flow.test.yaml':
      'workflow: ./flow.yaml\ntests:\n  - { name: one, expect: { output: 1 } }\n  - { name: two, expect: { output: 2 } }\n',
  });

  it('runs a file or a folder, and says what `runsheet test` says', async () => {
    const folder = newFolder();
    const outcomes = await runFlowTests(folder);
    expect(outcomes.map(({ name, ok }) => [name, ok])).toEqual([
      ['one', true],
      ['two', false],
    ]);
    expect(outcomes[0]?.message).toBe('');
    expect(outcomes[1]?.message).toContain('flow.test.yaml:4:36: failed: the output is another one');
    expect(await runFlowTests(join(folder, 'flow.test.yaml'), { filter: 'ONE' })).toHaveLength(1);
  });

  it('throws the mistakes of all files, and where there is nothing to run', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'flow.test.yaml'), 'workflow: ./flow.yaml\ntests: [{ nam: one }]\n');
    await expect(runFlowTests(folder)).rejects.toThrow(InvalidDefinitionsError);
    await expect(runFlowTests(join(folder, 'none'))).rejects.toThrow('flow tests cannot be read from');
  });
});

function temporaryFolderWith(files: Readonly<Record<string, string>>): () => string {
  return () => {
    const folder = temporaryFolder();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return folder;
  };
}
