import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Fault, PaymentSimulator } from '../../handlers/_payment-simulator.js';
import { fasterClock, runFlowFile } from '../flows-support/run-flow-file.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const items = [
  { sku: 'lamp', qty: 2 },
  { sku: 'bulb', qty: 6 },
];

async function fulfil({
  faults = [],
  ...changes
}: {
  faults?: readonly Fault[];
  delivery?: typeof items;
  totalCents?: number;
}) {
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
  };
  // Fast enough for the pauses between attempts, slow enough that no charge takes five seconds by itself.
  const { run, started } = await runFlowFile(
    'definitions/order-fulfilment.yaml',
    { trackEveryMs: 1_000, ...input },
    fasterClock(8),
  );
  const shop = new Database(join(folder, 'shop.db'), { readonly: true });
  onTestFinished(() => void shop.close());
  return {
    run,
    started,
    effects: simulator.effects(),
    stock: shop.prepare('SELECT sku, quantity FROM stock ORDER BY sku').all(),
    reservations: shop.prepare('SELECT sku, reserved, picked FROM reservation ORDER BY sku').all(),
    letters: readdirSync(join(folder, 'mail'))
      .map((name) => name.replace(/-[0-9a-f]+\.eml$/, ''))
      .sort(),
    attemptsOf: (step: string) => started.filter((line) => line.startsWith(`${step}#`)).length,
  };
}

describe('an order', () => {
  test('is charged, packed, shipped and followed until it is delivered', async () => {
    const { run, effects, stock, reservations, letters, attemptsOf } = await fulfil({});
    expect(run.error).toBeNull();
    expect(run.output).toEqual({
      orderId: 'o-1',
      payment: expect.stringMatching(/^pay_/),
      invoice: 1,
      tracking: expect.stringMatching(/^trk-/),
      state: 'delivered',
      scans: 3,
    });
    expect(effects).toMatchObject([
      { key: `${run.id}:charge#0:forward`, status: 201, calls: 1, request: { amountCents: 12_980, currency: 'EUR' } },
    ]);
    expect(stock).toEqual([
      { sku: 'bulb', quantity: 0 },
      { sku: 'lamp', quantity: 0 },
    ]);
    expect(reservations).toEqual([
      { sku: 'bulb', reserved: 6, picked: 6 },
      { sku: 'lamp', reserved: 2, picked: 2 },
    ]);
    expect(letters).toEqual(['delivered', 'on-its-way']);
    expect(attemptsOf('status')).toBe(3);
  });

  test('is charged once, though the provider falls over and loses its answer', async () => {
    const { run, effects, attemptsOf } = await fulfil({
      faults: [{ do: 'unavailable', times: 2 }, { do: 'lose-answer' }],
    });
    expect(run.status).toBe('completed');
    expect(attemptsOf('charge')).toBe(4);
    expect(effects).toMatchObject([{ status: 201, calls: 2 }]);
    expect(run.output).toMatchObject({ payment: (effects[0]?.answer as { paymentId: string }).paymentId });
  });

  test('is charged once, though the first answer never comes', async () => {
    const { run, effects, attemptsOf } = await fulfil({ faults: [{ do: 'hang' }] });
    expect(run.status).toBe('completed');
    expect(attemptsOf('charge')).toBe(2);
    expect(effects).toMatchObject([{ status: 201, calls: 1 }]);
  });

  test('whose card is declined goes back to the shelf, without another attempt', async () => {
    const { run, effects, stock, reservations, letters, attemptsOf } = await fulfil({ faults: [{ do: 'decline' }] });
    expect(run).toMatchObject({ status: 'failed', error: { name: 'CardDeclined', step: 'charge', attempt: 1 } });
    expect(attemptsOf('charge')).toBe(1);
    expect(effects).toMatchObject([{ status: 402 }]);
    expect(stock).toEqual([
      { sku: 'bulb', quantity: 6 },
      { sku: 'lamp', quantity: 2 },
    ]);
    expect(reservations).toEqual([]);
    expect(letters).toEqual(['card-declined']);
  });

  test('for which the provider has no answer at all is left to a person', async () => {
    const { run, letters, attemptsOf } = await fulfil({ faults: [{ do: 'unavailable', times: 99 }] });
    expect(run).toMatchObject({ status: 'failed', error: { name: 'GatewayUnavailable', attempt: 5 } });
    expect(attemptsOf('charge')).toBe(5);
    expect(letters).toEqual(['payment-unknown']);
  });

  test('of goods that are not there is not charged', async () => {
    const { run, effects, stock, letters } = await fulfil({ delivery: items.slice(0, 1) });
    expect(run).toMatchObject({ status: 'failed', error: { name: 'OutOfStock', details: { missing: ['bulb'] } } });
    expect(effects).toEqual([]);
    expect(stock).toEqual([{ sku: 'lamp', quantity: 2 }]);
    expect(letters).toEqual(['out-of-stock']);
  });

  test('that is large is told to the manager', async () => {
    const { letters } = await fulfil({ totalCents: 100_001 });
    expect(letters).toEqual(['delivered', 'large-order', 'on-its-way']);
  });
});
