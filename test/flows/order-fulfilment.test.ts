import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { JsonObject } from 'runsheet';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Fault, PaymentSimulator } from '../../handlers/_payment-simulator.js';
import { FlowWorld } from '../flows-support/flow-world.js';
import { fasterClock, runFlowFile } from '../flows-support/run-flow-file.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const hour = 3_600_000;
const items = [
  { sku: 'lamp', qty: 2 },
  { sku: 'bulb', qty: 6 },
];
const onTheShelf = [
  { sku: 'bulb', quantity: 6 },
  { sku: 'lamp', quantity: 2 },
];
const large = { totalCents: 100_001 };

/** A shop, a payment provider that fails as it is told, and an order. */
async function shop({ faults = [], ...changes }: { faults?: readonly Fault[]; [field: string]: unknown } = {}) {
  const folder = temporaryFolder();
  const simulator = new PaymentSimulator();
  onTestFinished(() => simulator.close());
  simulator.plan(faults);
  const input = {
    orderId: 'o-1',
    customer: { id: 'c-1', email: 'ana@example.test' },
    items,
    totalCents: 12_980,
    delivery: items,
    payments: await simulator.listen(),
    folder,
    ...changes,
  } as JsonObject;
  const rows = (sql: string): unknown[] => {
    const database = new Database(join(folder, 'shop.db'), { readonly: true });
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  };
  return {
    input,
    effects: () => simulator.effects(),
    /** What the provider did for good. */
    payments: () => simulator.effects().map(({ path, status }) => `${path} ${status}`),
    letters: () =>
      readdirSync(join(folder, 'mail'))
        .map((name) => name.replace(/-[0-9a-f]+\.eml$/, ''))
        .sort(),
    stock: () => rows('SELECT sku, quantity FROM stock ORDER BY sku'),
    reservations: () => rows('SELECT sku, reserved, picked FROM reservation ORDER BY sku'),
    parcels: () => rows('SELECT order_id AS orderId, parcels FROM parcel'),
  };
}

const flows = ['order-fulfilment', 'book-shipment'] as const;

/** One order from its start to its end, with nobody looking after it. */
async function fulfil(options: Parameters<typeof shop>[0] = {}) {
  const { input, ...its } = await shop(options);
  const world = await FlowWorld.of(flows);
  const run = await world.end(await world.begin(input));
  const attemptsOf = (step: string): number => world.started.filter((line) => line.startsWith(`${step}#`)).length;
  return { run, world, attemptsOf, ...its };
}

describe('an order', () => {
  test('is charged, packed, shipped and followed until it is delivered', async () => {
    const { run, world, effects, stock, reservations, parcels, letters } = await fulfil();
    expect(run.error).toBeNull();
    expect(run.output).toEqual({
      orderId: 'o-1',
      payment: expect.stringMatching(/^pay_/),
      approvedBy: 'not needed',
      invoice: 1,
      tracking: expect.stringMatching(/^trk-/),
      state: 'delivered',
      scans: 3,
    });
    expect(FlowWorld.duration(run)).toBe(3 * 6 * hour);
    expect(effects()).toMatchObject([
      { key: `${run.id}:charge#0:forward`, status: 201, calls: 1, request: { amountCents: 12_980, currency: 'EUR' } },
    ]);
    expect(stock()).toEqual(onTheShelf.map(({ sku }) => ({ sku, quantity: 0 })));
    expect(reservations()).toEqual([
      { sku: 'bulb', reserved: 6, picked: 6 },
      { sku: 'lamp', reserved: 2, picked: 2 },
    ]);
    expect(parcels()).toEqual([{ orderId: 'o-1', parcels: 2 }]);
    expect(letters()).toEqual(['delivered', 'on-its-way']);
    expect(world.done.filter((step) => step.startsWith('undo'))).toEqual([]);
  });

  test('is shipped by a run of its own, which belongs to it', async () => {
    const { run, world } = await fulfil();
    const children = await world.storage.listChildren(run.id);
    expect(children).toMatchObject([{ workflow: 'book-shipment', status: 'completed', parentStep: 'shipment' }]);
    expect(JSON.parse(children[0]?.input ?? '')).toMatchObject({ orderId: 'o-1', parcels: 2 });
  });

  test('is charged once, though the provider falls over and loses its answer', async () => {
    const { run, effects, attemptsOf } = await fulfil({
      faults: [{ do: 'unavailable', times: 2 }, { do: 'lose-answer' }],
    });
    expect(run.status).toBe('completed');
    expect(attemptsOf('charge')).toBe(4);
    expect(effects()).toMatchObject([{ status: 201, calls: 2 }]);
    expect(run.output).toMatchObject({ payment: (effects()[0]?.answer as { paymentId: string }).paymentId });
  });

  test('is charged once, though the first answer never comes', async () => {
    const { input, effects } = await shop({ faults: [{ do: 'hang' }], trackEveryMs: 1_000 });
    // Only real time can run out on a socket: fast enough for the pauses between attempts, slow
    // enough that no charge takes five seconds by itself.
    const { run, started } = await runFlowFile(
      ['definitions/order-fulfilment.yaml', 'definitions/book-shipment.yaml'],
      input,
      fasterClock(8),
    );
    expect(run.status).toBe('completed');
    expect(started.filter((line) => line.startsWith('charge#'))).toHaveLength(2);
    expect(effects()).toMatchObject([{ status: 201, calls: 1 }]);
  });

  test('of goods that are not there is not charged', async () => {
    const { run, payments, stock, letters } = await fulfil({ delivery: items.slice(0, 1) });
    expect(run).toMatchObject({
      status: 'failed',
      rollbackStatus: 'not-applicable',
      error: { name: 'OutOfStock', details: { missing: ['bulb'] } },
    });
    expect(payments()).toEqual([]);
    expect(stock()).toEqual([{ sku: 'lamp', quantity: 2 }]);
    expect(letters()).toEqual(['out-of-stock']);
  });
});

describe('a payment that fails', () => {
  test('because the card is declined puts the goods back on the shelf, and refunds nothing', async () => {
    const { run, world, payments, stock, reservations, letters, attemptsOf } = await fulfil({
      faults: [{ do: 'decline' }],
    });
    expect(run).toMatchObject({ status: 'failed', error: { name: 'CardDeclined', step: 'charge', attempt: 1 } });
    expect(run.rollbackStatus).toBe('completed');
    expect(attemptsOf('charge')).toBe(1);
    expect(world.done.filter((step) => step.startsWith('undo'))).toEqual(['undo reserve#0']);
    expect(payments()).toEqual(['/charges 402']);
    expect(stock()).toEqual(onTheShelf);
    expect(reservations()).toEqual([]);
    expect(letters()).toEqual(['card-declined']);
  });

  test('without an answer, though the money was taken, is given back', async () => {
    const { run, payments, stock, letters } = await fulfil({
      faults: [{ do: 'lose-answer', on: '/charges', times: 5 }],
    });
    expect(run).toMatchObject({
      status: 'failed',
      rollbackStatus: 'completed',
      error: { name: 'GatewayUnavailable', attempt: 5 },
    });
    expect(payments()).toEqual(['/charges 201', '/cancellations 201', '/refunds 201']);
    expect(stock()).toEqual(onTheShelf);
    expect(letters()).toEqual(['order-failed']);
  });

  test('without an answer, where nothing was taken, gives nothing back', async () => {
    const { run, effects, stock } = await fulfil({ faults: [{ do: 'unavailable', on: '/charges', times: 5 }] });
    expect(run).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(effects()).toMatchObject([{ path: '/cancellations', answer: { paymentId: null } }]);
    expect(stock()).toEqual(onTheShelf);
  });

  test('with a provider that stays away is stuck, until somebody has it tried again', async () => {
    const { input, payments, stock, letters } = await shop({ faults: [{ do: 'unavailable', times: 13 }] });
    const world = await FlowWorld.of(flows);
    const id = await world.begin(input);
    await world.pass(24 * hour);
    const stuck = await world.engine.getRun(id);
    expect(stuck).toMatchObject({ status: 'compensation-stuck', rollbackStatus: 'stuck' });
    expect(stock()).toEqual(onTheShelf.map(({ sku }) => ({ sku, quantity: 0 })));
    await world.engine.resumeCompensation(id);
    expect(await world.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(payments()).toEqual(['/cancellations 201']);
    expect(stock()).toEqual(onTheShelf);
    expect(letters()).toEqual(['order-failed']);
  });
});

describe('a large order', () => {
  test('waits for its manager, who is reminded every twelve hours, and goes on when she agrees', async () => {
    const { input, letters } = await shop(large);
    const world = await FlowWorld.of(flows);
    const id = await world.begin(input);
    await world.pass(25 * hour);
    expect(await world.engine.getRun(id)).toMatchObject({ status: 'waiting' });
    expect(letters()).toEqual(['please-decide', 'still-waiting', 'still-waiting']);
    await world.engine.signal(id, 'manager-approval', { approved: true, by: 'mia' });
    const run = await world.end(id);
    expect(run).toMatchObject({ status: 'completed', output: { approvedBy: 'mia', state: 'delivered' } });
    expect(letters().filter((letter) => letter === 'still-waiting')).toHaveLength(2);
  });

  test.each([
    ['she declines', { approved: false, by: 'mia' }, 'Rejected by mia', 0],
    ['nobody answers for two days', undefined, 'Rejected by nobody', 3],
  ])('is paid back when %s', async (_, answer, message, reminders) => {
    const { input, payments, stock, letters } = await shop(large);
    const world = await FlowWorld.of(flows);
    const id = await world.begin(input);
    if (answer !== undefined) await world.engine.signal(id, 'manager-approval', answer);
    const run = await world.end(id);
    expect(run).toMatchObject({
      status: 'failed',
      rollbackStatus: 'completed',
      error: { name: 'OrderRejected', message },
    });
    expect(FlowWorld.duration(run)).toBe(answer === undefined ? 48 * hour : 1);
    expect(world.done.filter((step) => step.startsWith('undo'))).toEqual(['undo charge#0', 'undo reserve#0']);
    expect(payments()).toEqual(['/charges 201', '/refunds 201']);
    expect(stock()).toEqual(onTheShelf);
    expect(letters()).toEqual(['order-rejected', 'please-decide', ...Array<string>(reminders).fill('still-waiting')]);
  });

  test('that is cancelled meanwhile is paid back, and the customer is told', async () => {
    const { input, payments, stock, letters } = await shop(large);
    const world = await FlowWorld.of(flows);
    const id = await world.begin(input);
    await world.engine.cancel(id, { reason: 'changed her mind' });
    expect(await world.end(id)).toMatchObject({ status: 'cancelled', rollbackStatus: 'completed' });
    expect(payments()).toEqual(['/charges 201', '/refunds 201']);
    expect(stock()).toEqual(onTheShelf);
    expect(letters()).toEqual(['order-cancelled', 'please-decide']);
  });
});

describe('a shipment', () => {
  const many = Array.from({ length: 21 }, (_, index) => ({ sku: `article-${index}`, qty: 1 }));

  test('that cannot be had takes its own booking back; the order is past its pivot and keeps what it did', async () => {
    const { run, world, payments, parcels, letters } = await fulfil({ items: many, delivery: many });
    expect(run).toMatchObject({
      status: 'failed',
      rollbackStatus: 'not-applicable',
      error: { name: 'ChildFailed', step: 'shipment', details: { error: { name: 'TooManyParcels' } } },
    });
    const children = await world.storage.listChildren(run.id);
    expect(children).toMatchObject([{ status: 'failed', rollbackStatus: 'completed' }]);
    expect(world.done.filter((step) => step.startsWith('undo'))).toEqual(['undo booking#0']);
    expect(parcels()).toEqual([]);
    expect(payments()).toEqual(['/charges 201']);
    expect(letters()).toEqual(['order-failed']);
  });

  test('can be booked alone', async () => {
    const folder = temporaryFolder();
    const world = await FlowWorld.of(['book-shipment']);
    const run = await world.end(await world.begin({ orderId: 'o-9', parcels: 3, folder }));
    expect(run.output).toEqual({
      trackingNumber: expect.stringMatching(/^trk-/),
      labels: [1, 2, 3].map((parcel) => expect.stringMatching(new RegExp(`-${parcel}\\.txt$`))),
      van: expect.stringMatching(/^van-/),
    });
    expect(readdirSync(join(folder, 'labels'))).toHaveLength(3);
  });
});
