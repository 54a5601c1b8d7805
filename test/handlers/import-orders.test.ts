import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import orderFiles from '../../handlers/order-files.js';
import orderRows from '../../handlers/order-rows.js';
import { makeOrders } from '../../scripts/make-orders.js';
import { callerOf } from '../flows-support/call-handler.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

interface Row {
  line: number;
  cells: number;
  duplicateOf: number | null;
  fields: Record<string, string>;
}

const call = callerOf([...orderFiles, ...orderRows]);
const currencies = ['EUR', 'USD', 'GBP', 'CHF', 'SEK', 'DKK'];

const header = 'order_id,date,customer,email,quantity,unit_price,currency,note';

const read = async (text: string): Promise<Row[]> => {
  const file = join(temporaryFolder(), 'orders.csv');
  writeFileSync(file, text);
  return ((await call('orders.read', { file })) as { rows: Row[] }).rows;
};

const validate = (row: Row) => call('orders.validate', { row, currencies });

const goodRow = (fields: Record<string, string> = {}): Row => ({
  line: 2,
  cells: 8,
  duplicateOf: null,
  fields: {
    order_id: 'o-1',
    date: '2024-02-29',
    customer: 'Ana',
    email: 'a@example.test',
    quantity: '3',
    unit_price: '0.10',
    currency: 'EUR',
    note: '',
    ...fields,
  },
});

describe('orders.read', () => {
  test('gives each row with the line it begins on', async () => {
    const rows = await read(
      `\uFEFF${header}\r\n1,2025-01-01,"Smith, Jones",a@b,1,1,EUR,"two\r\nlines"\r\n\r\n2,2025-01-01,"He said ""no""",a@b,1,1,EUR,x\r\n3,short\r\n1,2025-01-01,x,a@b,1,1,EUR,x,extra\r\n`,
    );
    expect(rows.map(({ line, cells, duplicateOf }) => ({ line, cells, duplicateOf }))).toEqual([
      { line: 2, cells: 8, duplicateOf: null },
      { line: 5, cells: 8, duplicateOf: null },
      { line: 6, cells: 2, duplicateOf: null },
      { line: 7, cells: 9, duplicateOf: 2 },
    ]);
    expect(rows[0]?.fields).toMatchObject({ order_id: '1', customer: 'Smith, Jones', note: 'two\nlines' });
    expect(rows[1]?.fields).toMatchObject({ customer: 'He said "no"' });
    expect(rows[2]?.fields).toEqual({ order_id: '3', date: 'short' });
  });

  test.each([
    ['nothing', '', 'has no column order_id, date, customer, email, quantity, unit_price, currency, note'],
    ['a column missing', 'order_id,date\n', 'has no column customer, email, quantity'],
    [
      'a quote left open',
      `${header}\n1,"x\n`,
      'orders.csv is no CSV: Quote Not Closed: the parsing is finished with an opening quote at line 2',
    ],
  ])('a file with %s is refused', async (_, text, message) => {
    await expect(read(text)).rejects.toMatchObject({
      name: 'UnreadableFile',
      message: expect.stringContaining(message),
    });
  });

  test('a file that is not there is named', async () => {
    await expect(call('orders.read', { file: 'no/such.csv' })).rejects.toMatchObject({
      name: 'FileMissing',
      message: 'there is no file no/such.csv',
    });
  });
});

describe('orders.validate', () => {
  test('a good row becomes an order, in hundredths', async () => {
    expect(await validate(goodRow())).toMatchObject({
      orderId: 'o-1',
      date: '2024-02-29',
      quantity: 3,
      amountCents: 30,
    });
    expect(await validate(goodRow({ unit_price: '19.9', quantity: '7' }))).toMatchObject({ amountCents: 13_930 });
  });

  test.each([
    [{ date: '2023-02-29' }, '2023-02-29 is no date (year-month-day)'],
    [{ date: '1.2.2025' }, '1.2.2025 is no date (year-month-day)'],
    [{ quantity: '0' }, 'quantity 0 is no whole number from 1'],
    [{ quantity: '1.5' }, 'quantity 1.5 is no whole number from 1'],
    [{ unit_price: '12,50' }, 'unit price 12,50 is no amount such as 12.50'],
    [{ unit_price: '1e3' }, 'unit price 1e3 is no amount such as 12.50'],
    [{ currency: 'eur' }, 'currency eur is unknown'],
    [{ email: 'nobody' }, 'nobody is no e-mail address'],
    [{ customer: ' ', date: '' }, 'date, customer missing'],
    [{ customer: '', currency: 'XBT' }, 'customer missing; currency XBT is unknown'],
  ])('%j: %s', async (fields, reason) => {
    await expect(validate(goodRow(fields))).rejects.toMatchObject({
      name: 'InvalidOrder',
      message: reason,
      details: { line: 2, reasons: reason.split('; ') },
    });
  });

  test('a second row of the same order, and cells without a column', async () => {
    await expect(validate({ ...goodRow(), duplicateOf: 7, cells: 9 })).rejects.toMatchObject({
      message: 'order o-1 stands on line 7 already; more cells than columns',
    });
  });
});

describe('orders.store', () => {
  const order = {
    orderId: 'o-1',
    date: '2025-01-01',
    customer: 'Ana',
    email: 'a@b',
    quantity: 1,
    currency: 'USD',
    amountCents: 100,
    note: '',
  };
  const rows = (database: string): unknown[] => {
    const connection = new Database(database, { readonly: true });
    try {
      return connection.prepare('SELECT order_id, amount_cents, amount_eur_cents FROM orders').all();
    } finally {
      connection.close();
    }
  };

  test('the same key changes nothing and gets the same answer; another request under it is refused', async () => {
    const database = join(temporaryFolder(), 'orders.db');
    const input = { database, order, amountEurCents: 88 };
    const answer = { orderId: 'o-1', currency: 'USD', amountCents: 100, amountEurCents: 88, was: 'new' };
    expect(await call('orders.store', input, { key: 'k' })).toEqual(answer);
    expect(await call('orders.store', input, { key: 'k', attempt: 2 })).toEqual(answer);
    await expect(call('orders.store', { ...input, amountEurCents: 99 }, { key: 'k' })).rejects.toMatchObject({
      name: 'IdempotencyMismatch',
    });
    expect(rows(database)).toEqual([{ order_id: 'o-1', amount_cents: 100, amount_eur_cents: 88 }]);
  });

  test('a later import leaves an order as it is, and refuses one with another content', async () => {
    const database = join(temporaryFolder(), 'orders.db');
    await call('orders.store', { database, order, amountEurCents: 88 });
    expect(await call('orders.store', { database, order, amountEurCents: 90 })).toMatchObject({
      amountEurCents: 88,
      was: 'unchanged',
    });
    await expect(
      call('orders.store', { database, order: { ...order, amountCents: 1 }, amountEurCents: 1 }),
    ).rejects.toMatchObject({
      name: 'OrderConflict',
      message: 'order o-1 is in the database with another content',
    });
    expect(rows(database)).toHaveLength(1);
  });

  test('a database that was deleted meanwhile is made anew', async () => {
    const folder = temporaryFolder();
    const database = join(folder, 'orders.db');
    await call('orders.store', { database, order, amountEurCents: 88 });
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    expect(await call('orders.store', { database, order, amountEurCents: 88 })).toMatchObject({ was: 'new' });
    expect(rows(database)).toHaveLength(1);
  });
});

test('the thousand orders of the repository: exactly the bad rows are refused, exactly the good amounts come out', async () => {
  const truth = makeOrders();
  expect(readFileSync('definitions/import-orders.csv', 'utf8')).toBe(truth.csv);
  const { rows } = (await call('orders.read', { file: 'definitions/import-orders.csv' })) as { rows: Row[] };
  const accepted: { currency: string; amountCents: number; amountEurCents: number }[] = [];
  const rejected: { line: number; reason: string; fields: Record<string, string> }[] = [];
  for (const row of rows) {
    try {
      const order = (await validate(row)) as { orderId: string; currency: string; amountCents: number };
      accepted.push({ ...order, amountEurCents: 1 });
    } catch (error) {
      rejected.push({ line: row.line, reason: (error as Error).message, fields: row.fields });
    }
  }
  expect(rejected.map(({ line }) => line)).toEqual(truth.bad.map(({ line }) => line));
  expect(accepted).toMatchObject(
    truth.good.map(({ orderId, currency, cents }) => ({ orderId, currency, amountCents: cents })),
  );

  const folder = temporaryFolder();
  const { file: rejects } = (await call('orders.write-rejects', { folder, rejected })) as { file: string };
  const records: Record<string, string>[] = parse(readFileSync(rejects, 'utf8'), { columns: true });
  expect(records.map(({ line, reason }) => ({ line: Number(line), reason }))).toEqual(
    rejected.map(({ line, reason }) => ({ line, reason })),
  );

  const { file, totals } = (await call('orders.report', { folder, source: 'orders.csv', accepted, rejected })) as {
    file: string;
    totals: { currency: string; orders: number; amountCents: number }[];
  };
  for (const { currency, orders, amountCents } of totals) {
    const expected = truth.good.filter((order) => order.currency === currency);
    expect({ orders, amountCents }).toEqual({
      orders: expected.length,
      amountCents: expected.reduce((sum, { cents }) => sum + cents, 0),
    });
    expect(readFileSync(file, 'utf8')).toContain(`| ${currency} | ${orders} | ${(amountCents / 100).toFixed(2)} |`);
  }
  expect(totals.map(({ currency }) => currency)).toEqual([...currencies].sort());
  expect(existsSync(`${file}.tmp`)).toBe(false);
  expect(readdirSync(folder).sort()).toEqual(['rejected.csv', 'report.md']);
});
