import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import letters from '../../handlers/letters.js';
import shipping from '../../handlers/shipping.js';
import stock from '../../handlers/stock.js';
import { callerOf } from '../flows-support/call-handler.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const call = callerOf([...stock, ...shipping, ...letters]);

function stockOf(folder: string): Record<string, number> {
  const shop = new Database(join(folder, 'shop.db'), { readonly: true });
  try {
    const rows = shop.prepare('SELECT sku, quantity FROM stock ORDER BY sku').all() as {
      sku: string;
      quantity: number;
    }[];
    return Object.fromEntries(rows.map(({ sku, quantity }) => [sku, quantity]));
  } finally {
    shop.close();
  }
}

const reserveIn = async (folder: string, items: { sku: string; qty: number }[], key?: string): Promise<string> => {
  const input = { folder, orderId: 'o-1', items };
  return ((await call('stock.reserve', input, key === undefined ? {} : { key })) as { reservationId: string })
    .reservationId;
};

describe('stock', () => {
  test('is reserved as a whole or not at all', async () => {
    const folder = temporaryFolder();
    await call('stock.receive', {
      folder,
      items: [
        { sku: 'lamp', qty: 2 },
        { sku: 'bulb', qty: 1 },
        { sku: 'lamp', qty: 3 },
      ],
    });
    await expect(
      reserveIn(folder, [
        { sku: 'lamp', qty: 1 },
        { sku: 'bulb', qty: 2 },
      ]),
    ).rejects.toMatchObject({
      name: 'OutOfStock',
      details: { missing: ['bulb'] },
    });
    expect(stockOf(folder)).toEqual({ bulb: 1, lamp: 5 });
    await reserveIn(folder, [
      { sku: 'lamp', qty: 1 },
      { sku: 'bulb', qty: 1 },
    ]);
    expect(stockOf(folder)).toEqual({ bulb: 0, lamp: 4 });
  });

  test('no more can be picked than is reserved, and a repeated pick takes nothing more', async () => {
    const folder = temporaryFolder();
    await call('stock.receive', { folder, items: [{ sku: 'lamp', qty: 2 }] });
    const reservation = await reserveIn(folder, [{ sku: 'lamp', qty: 2 }]);
    const pick = (key: string) => call('stock.pick', { folder, reservation, sku: 'lamp', quantity: 1 }, { key });
    expect(await pick('a')).toEqual({ sku: 'lamp', picked: 1, left: 1 });
    expect(await pick('a')).toEqual({ sku: 'lamp', picked: 1, left: 1 });
    expect(await pick('b')).toMatchObject({ left: 0 });
    await expect(pick('c')).rejects.toMatchObject({ name: 'NotReserved' });
  });

  test('whatever is repeated, goods are neither made nor lost', async () => {
    const item = fc.record({ sku: fc.constantFrom('a', 'b', 'c'), qty: fc.integer({ min: 1, max: 4 }) });
    const orders = fc.array(
      fc.record({ items: fc.array(item, { minLength: 1, maxLength: 3 }), times: fc.integer({ min: 1, max: 3 }) }),
      { maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(orders, async (orders) => {
        const folder = temporaryFolder();
        await call('stock.receive', { folder, items: ['a', 'b', 'c'].map((sku) => ({ sku, qty: 10 })) });
        const reservations = new Set<string>();
        for (const [index, { items, times }] of orders.entries()) {
          for (let repeat = 0; repeat < times; repeat += 1) {
            const reservation = await reserveIn(folder, items, `order-${index}`).catch((error: Error) => {
              if (error.name !== 'OutOfStock') throw error;
            });
            if (reservation !== undefined) reservations.add(reservation);
          }
        }
        for (const [index, reservation] of [...reservations].entries()) {
          for (const _ of [1, 2]) await call('stock.release', { folder, reservation }, { key: `release-${index}` });
        }
        expect(stockOf(folder)).toEqual({ a: 10, b: 10, c: 10 });
      }),
      { seed: 7, numRuns: 10 },
    );
  });
});

test('what may or may not have happened is undone by the key under which it was to happen', async () => {
  const folder = temporaryFolder();
  const items = [{ sku: 'lamp', qty: 2 }];
  await call('stock.receive', { folder, items });
  const release = (key: string, undoes: string) =>
    call('stock.release', { folder, reservation: null }, { key, undoes });

  await reserveIn(folder, items, 'happened');
  expect(stockOf(folder)).toEqual({ lamp: 0 });
  expect(await release('r1', 'happened')).toEqual({ articles: 1 });
  expect(await release('r1', 'happened')).toEqual({ articles: 1 });
  expect(stockOf(folder)).toEqual({ lamp: 2 });

  expect(await release('r2', 'too late')).toEqual({ articles: 0 });
  await expect(reserveIn(folder, items, 'too late')).rejects.toMatchObject({ name: 'Withdrawn' });
  expect(stockOf(folder)).toEqual({ lamp: 2 });

  const booking = { folder, orderId: 'o-1', parcels: 1 };
  await call('shipping.book', booking, { key: 'b' });
  const cancel = () => call('shipping.cancel', { folder, tracking: null }, { key: 'c', undoes: 'b' });
  expect(await cancel()).toEqual({ cancelled: true });
  expect(await cancel()).toEqual({ cancelled: true });
});

test('a parcel gets on with every look at it, but not with a repeated one', async () => {
  const folder = temporaryFolder();
  const book = () =>
    call('shipping.book', { folder, orderId: 'o-1', parcels: 2 }, { key: 'book' }) as Promise<{
      trackingNumber: string;
    }>;
  const { trackingNumber: tracking } = await book();
  expect(await book()).toEqual({ trackingNumber: tracking });
  const look = (key: string) => call('shipping.status', { folder, tracking }, { key });
  expect(await look('1')).toEqual({ state: 'picked-up', scans: 1 });
  expect(await look('1')).toEqual({ state: 'picked-up', scans: 1 });
  expect(await look('2')).toMatchObject({ state: 'in-transit' });
  expect(await look('3')).toMatchObject({ state: 'delivered' });
  expect(await look('4')).toMatchObject({ state: 'delivered', scans: 4 });
  await expect(call('shipping.status', { folder, tracking: 'nowhere' })).rejects.toMatchObject({
    name: 'UnknownParcel',
  });
});

test('a letter that is sent twice lies in the outbox once', async () => {
  const folder = temporaryFolder();
  const letter = { folder, to: 'ana@example.test', template: 'delivered', about: 'ö-1\r\nBcc: eve@example.test' };
  const { file } = (await call('mail.send', letter, { key: 'k' })) as { file: string };
  await call('mail.send', letter, { key: 'k' });
  await call('mail.send', letter, { key: 'another' });
  expect(readdirSync(join(folder, 'mail'))).toHaveLength(2);
  expect(readFileSync(file, 'utf8')).toMatch(/^To: ana@example\.test\r\nSubject: Order =\?utf-8\?B\?\S+\?=\r\n/);
  expect(readFileSync(file, 'utf8')).not.toContain('Bcc');
  await expect(call('mail.send', { ...letter, about: 'o-2' }, { key: 'k' })).rejects.toMatchObject({
    name: 'IdempotencyMismatch',
  });
});

test('invoices have numbers without a gap, one an order', async () => {
  const folder = temporaryFolder();
  const create = (orderId: string) =>
    call(
      'invoices.create',
      {
        folder,
        orderId,
        customer: 'c',
        items: [{ sku: 'a|b', qty: 1 }],
        totalCents: 1_250,
        currency: 'EUR',
        payment: 'pay_1',
      },
      { key: orderId },
    ) as Promise<{ number: number; file: string }>;
  const first = await create('o-1');
  expect(await create('o-1')).toEqual(first);
  expect([first.number, (await create('o-2')).number]).toEqual([1, 2]);
  expect(existsSync(join(folder, 'invoices', '2.md'))).toBe(true);
  expect(readFileSync(first.file, 'utf8')).toBe(
    '# Invoice 1\n\nOrder o-1, customer c.\n\n| Article | Quantity |\n| --- | --- |\n| a\\|b | 1 |\n\nTotal: 12.50 EUR, paid by pay_1.\n',
  );
});
