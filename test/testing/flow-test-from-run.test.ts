import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { JsonObject, MemoryStorage } from 'runsheet';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PaymentSimulator, type Fault } from '../../handlers/_payment-simulator.js';
import { HandlerRegistry, loadHandlers } from '../../src/handlers/index.js';
import { renderDiagnostics } from '../../src/syntax/index.js';
import { loadFlowTest } from '../../src/testing/flow-tests/index.js';
import { runLoadedTests } from '../../src/testing/flow-runner/index.js';
import { flowTestFromRun } from '../../src/testing/from-run/flow-test-from-run.js';
import { FlowWorld } from '../flows-support/flow-world.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const hour = 3_600_000;
const handlers = new HandlerRegistry(await loadHandlers('handlers'));

/** Makes a test of a run, and runs it: what is written has no mistake, and the flow does the same once more. */
async function repeated(storage: MemoryStorage, id: string): Promise<string> {
  const { workflow = '' } = (await storage.getRun(id)) ?? {};
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-from-run-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const text = await flowTestFromRun(storage, id, { workflow: resolve(`definitions/${workflow}.yaml`) });
  const file = join(folder, 'recorded.test.yaml');
  writeFileSync(file, text);
  const loaded = await loadFlowTest(file, { definitions: 'definitions', handlers: handlers.catalogue() });
  expect(renderDiagnostics(loaded.diagnostics, loaded.source, { color: false }), text).toBe('');
  const results = await runLoadedTests(loaded, { handlers });
  expect(
    results.flatMap(({ failures }) => failures),
    text,
  ).toEqual([]);
  return text;
}

const trip = {
  traveller: { name: 'Ana', email: 'ana@example.test' },
  from: 'Hamburg',
  to: 'Lisbon',
  leave: '2030-05-02',
  nights: 3,
};

async function order({ faults = [], ...changes }: { faults?: readonly Fault[]; [field: string]: unknown } = {}) {
  const simulator = new PaymentSimulator();
  onTestFinished(() => simulator.close());
  simulator.plan(faults);
  const items = [
    { sku: 'lamp', qty: 2 },
    { sku: 'bulb', qty: 6 },
  ];
  return {
    orderId: 'o-1',
    customer: { id: 'c-1', email: 'ana@example.test' },
    items,
    totalCents: 12_980,
    delivery: items,
    payments: await simulator.listen(),
    folder: temporaryFolder(),
    ...changes,
  } as JsonObject;
}

const orderFlows = ['order-fulfilment', 'book-shipment'];

describe('a test made of a run repeats', () => {
  test('an order with retries, a child and a loop', async () => {
    const world = await FlowWorld.of(orderFlows);
    const id = await world.begin(await order({ faults: [{ do: 'unavailable', times: 2 }] }));
    await world.end(id);
    const text = await repeated(world.storage, id);
    expect(text).toContain('name: GatewayUnavailable');
    expect(text).toContain('book-shipment:');
  });

  test('a signal at its time, a rejection and what it undoes', async () => {
    const world = await FlowWorld.of(orderFlows);
    const id = await world.begin(await order({ totalCents: 100_001 }));
    await world.pass(25 * hour);
    await world.engine.signal(id, 'manager-approval', { approved: false, by: 'mia' });
    await world.end(id);
    const text = await repeated(world.storage, id);
    expect(text).toMatch(/signals:\n +- at: 1d1h1ms\n +name: manager-approval/);
    expect(text).toMatch(/compensated: +\[ charge, reserve \]/);
  });

  test('a cancellation', async () => {
    const world = await FlowWorld.of(orderFlows);
    const id = await world.begin(await order({ totalCents: 100_001 }));
    await world.pass(hour);
    await world.engine.cancel(id);
    await world.end(id);
    expect(await repeated(world.storage, id)).toContain('status: cancelled');
  });

  test('a failure that nobody tries again', async () => {
    const world = await FlowWorld.of(orderFlows);
    const id = await world.begin(await order({ faults: [{ do: 'decline' }] }));
    await world.end(id);
    expect(await repeated(world.storage, id)).toContain('nonRetryable: true');
  });

  test('an unwind that is stuck', async () => {
    const world = await FlowWorld.of(orderFlows);
    const id = await world.begin(await order({ faults: [{ do: 'unavailable', times: 13 }] }));
    await world.pass(24 * hour);
    expect(await repeated(world.storage, id)).toContain('status: compensation-stuck');
  });

  test('the child of an order', async () => {
    const world = await FlowWorld.of(orderFlows);
    const id = await world.begin(await order());
    await world.end(id);
    const [child] = await world.storage.listChildren(id);
    expect(await repeated(world.storage, child?.id ?? '')).toContain('shipping.label');
  });

  test('a trip that is taken back, with an agency that has to be asked again', async () => {
    const world = await FlowWorld.of(['travel-booking']);
    const faults = [
      { call: 'cars.book', do: 'sold-out' },
      { call: 'hotels.cancel', do: 'unavailable', times: 2 },
    ];
    const id = await world.begin({ ...trip, faults, folder: temporaryFolder() });
    await world.end(id);
    await repeated(world.storage, id);
  });

  test('a vote with reminders', async () => {
    const world = await FlowWorld.of(['expense-approval']);
    const id = await world.begin({
      expenseId: 'e-1',
      employee: 'ana@example.test',
      amountCents: 48_000,
      purpose: 'Train',
      approvers: ['bea@example.test', 'carl@example.test', 'dora@example.test'],
      folder: temporaryFolder(),
    });
    await world.pass(30 * hour);
    await world.engine.signal(id, 'vote-of-first', { approved: true });
    await world.pass(30 * hour);
    await world.engine.signal(id, 'vote-of-third', { approved: true });
    await world.end(id);
    await repeated(world.storage, id);
  });

  test('a subscription of three months', async () => {
    const simulator = new PaymentSimulator();
    onTestFinished(() => simulator.close());
    const world = await FlowWorld.of(['subscription'], { startAt: Date.parse('2031-01-31T09:00:00Z') });
    const id = await world.begin({
      customer: { id: 'c-1', email: 'ana@example.test' },
      plan: 'newspaper',
      priceCents: 1_490,
      payments: await simulator.listen(),
      folder: temporaryFolder(),
    });
    await world.pass(70 * 24 * hour);
    await world.engine.signal(id, 'cancel', { reason: 'moving away' });
    await world.end(id);
    await repeated(world.storage, id);
  });

  test('an import with rows that are refused, many at a time', async () => {
    const world = await FlowWorld.of(['import-orders']);
    const folder = temporaryFolder();
    const file = join(folder, 'orders.csv');
    const rows = ['a,1,2', 'b,x,2', 'c,3,4'].map((row) => `${row},EUR`);
    writeFileSync(file, `order_id,quantity,unit_price,currency\n${rows.join('\n')}\n`);
    const id = await world.begin({ file, folder, maxRejectedShare: 1 });
    await world.end(id);
    await repeated(world.storage, id);
  });

  test.each(['resume', 'abandon'] as const)('a run whose undoing an operator told to %s', async (verdict) => {
    const world = await FlowWorld.of(orderFlows);
    const id = await world.begin(await order({ faults: [{ do: 'unavailable', times: 13 }] }));
    await world.pass(24 * hour);
    await (verdict === 'resume' ? world.engine.resumeCompensation(id) : world.engine.abandonCompensation(id));
    await world.end(id);
    const text = await repeated(world.storage, id);
    expect(text).toMatch(new RegExp(`compensation: \\[ \\{ at: 1d\\w*, decide: ${verdict} \\} \\]`));
  });
});

describe('no test is made', () => {
  test('of a run that goes on', async () => {
    const world = await FlowWorld.of(orderFlows);
    const id = await world.begin(await order({ totalCents: 100_001 }));
    await expect(flowTestFromRun(world.storage, id)).rejects.toThrow(`${id}: it is waiting; wait until it has ended`);
  });

  test('of a run that does not exist', async () => {
    const world = await FlowWorld.of(orderFlows);
    await world.engine.start();
    await expect(flowTestFromRun(world.storage, 'wf_0')).rejects.toThrow('there is no run wf_0');
  });
});
