import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { makeOrders } from '../../scripts/make-orders.js';
import { runFlowFile } from '../flows-support/run-flow-file.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const flow = 'definitions/import-orders.yaml';
const rates: Record<string, number> = { EUR: 1, USD: 0.8813, GBP: 1.1682, CHF: 1.0671, SEK: 0.0911, DKK: 0.134 };

/** Orders of the database, by id. */
function storedOrders(folder: string): { orderId: string; currency: string; cents: number; euroCents: number }[] {
  const database = new Database(join(folder, 'orders.db'), { readonly: true });
  try {
    const query =
      'SELECT order_id AS orderId, currency, amount_cents AS cents, amount_eur_cents AS euroCents FROM orders ORDER BY order_id';
    return database.prepare(query).all() as ReturnType<typeof storedOrders>;
  } finally {
    database.close();
  }
}

test('a thousand orders: the good ones in the database, the bad ones in a file, totals to the cent', async () => {
  const { good, bad } = makeOrders();
  const folder = temporaryFolder();
  const { run } = await runFlowFile(flow, { file: 'definitions/import-orders.csv', folder });
  expect(run.error).toBeNull();
  expect(run.output).toMatchObject({ rows: 1_000, imported: good.length, alreadyThere: 0, rejected: bad.length });

  const stored = storedOrders(folder);
  expect(stored).toMatchObject(good.map(({ orderId, currency, cents }) => ({ orderId, currency, cents })));
  for (const { currency, cents, euroCents } of stored) {
    expect(Math.abs(euroCents - cents * (rates[currency] ?? NaN))).toBeLessThanOrEqual(0.5);
  }

  const totals = Object.keys(rates)
    .sort()
    .map((currency) => {
      const orders = stored.filter((order) => order.currency === currency);
      const sum = (of: 'cents' | 'euroCents'): number => orders.reduce((total, order) => total + order[of], 0);
      return { currency, orders: orders.length, amountCents: sum('cents'), amountEurCents: sum('euroCents') };
    });
  expect(run.output).toMatchObject({ totals });

  const rejected: Record<string, string>[] = parse(readFileSync(join(folder, 'rejected.csv'), 'utf8'), {
    columns: true,
  });
  expect(rejected.map(({ line }) => Number(line))).toEqual(bad.map(({ line }) => line));
  expect(readFileSync(join(folder, 'report.md'), 'utf8')).toContain(
    `${good.length} orders imported, ${bad.length} rows rejected.`,
  );
});

test('imported again, nothing is there twice', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'orders.csv');
  const { csv, good } = makeOrders({ count: 30, badCount: 0 });
  writeFileSync(file, csv);
  const first = await runFlowFile(flow, { file, folder });
  expect(first.run.output).toMatchObject({ imported: 30, alreadyThere: 0, rejected: 0, rejects: null });
  expect(existsSync(join(folder, 'rejected.csv'))).toBe(false);
  const stored = storedOrders(folder);
  const second = await runFlowFile(flow, { file, folder });
  expect(second.run.output).toMatchObject({ imported: 30, alreadyThere: 30 });
  expect(storedOrders(folder)).toEqual(stored);
  expect(stored).toHaveLength(good.length);
});

test('a file that is mostly bad is taken for the wrong file', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'orders.csv');
  writeFileSync(file, makeOrders({ count: 10, badCount: 5 }).csv);
  const { run } = await runFlowFile(flow, { file, folder });
  expect(run).toMatchObject({
    status: 'failed',
    error: {
      name: 'TooManyRejects',
      message: `5 of 10 rows were rejected, see ${join(folder, 'rejected.csv')}`,
      details: { rejected: 5, rows: 10 },
    },
  });
});

test('a file without rows imports nothing; one that is not there fails the run', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'orders.csv');
  writeFileSync(file, makeOrders({ count: 1, badCount: 0 }).csv.split('\n')[0] ?? '');
  expect((await runFlowFile(flow, { file, folder })).run.output).toMatchObject({
    rows: 0,
    imported: 0,
    totals: [],
    totalEurCents: 0,
  });
  expect((await runFlowFile(flow, { file: join(folder, 'nowhere.csv'), folder })).run.error).toMatchObject({
    name: 'FileMissing',
    attempt: 1,
  });
});
