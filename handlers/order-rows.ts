import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { once, openDatabase } from './_database.js';
import { rowSchema } from './_order-row.js';

const orderSchema = z.object({
  orderId: z.string(),
  date: z.string(),
  customer: z.string(),
  email: z.string(),
  quantity: z.int(),
  currency: z.string(),
  amountCents: z.int().describe('quantity × unit price, in hundredths of the currency'),
  note: z.string(),
});

const validate = defineHandler({
  name: 'orders.validate',
  description: 'Turns a row into an order, or says everything that is wrong with it.',
  input: z.strictObject({ row: rowSchema, currencies: z.array(z.string()) }),
  output: orderSchema,
  errors: ['InvalidOrder'],
  run({ input: { row, currencies } }) {
    const field = (name: string): string => row.fields[name]?.trim() ?? '';
    const price = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(field('unit_price'));
    const quantity = /^[1-9]\d{0,5}$/.test(field('quantity')) ? Number(field('quantity')) : undefined;
    const unitCents = price && Number(price[1]) * 100 + Number((price[2] ?? '').padEnd(2, '0'));

    const missing = required.filter((name) => field(name) === '');
    const reasons: string[] = [];
    const check = (name: (typeof required)[number], holds: boolean, reason: string): void => {
      if (!holds && !missing.includes(name)) reasons.push(reason);
    };
    if (missing.length > 0) reasons.push(`${missing.join(', ')} missing`);
    check('order_id', row.duplicateOf === null, `order ${field('order_id')} stands on line ${row.duplicateOf} already`);
    check('date', isDate(field('date')), `${field('date')} is no date (year-month-day)`);
    check('email', /^[^\s@]+@[^\s@]+$/.test(field('email')), `${field('email')} is no e-mail address`);
    check('quantity', quantity !== undefined, `quantity ${field('quantity')} is no whole number from 1`);
    check('unit_price', unitCents !== null, `unit price ${field('unit_price')} is no amount such as 12.50`);
    check('currency', currencies.includes(field('currency')), `currency ${field('currency')} is unknown`);
    if (row.cells > Object.keys(row.fields).length) reasons.push('more cells than columns');
    if (reasons.length > 0 || quantity === undefined || unitCents === null) {
      throw new NonRetryableError(reasons.join('; '), { name: 'InvalidOrder', details: { line: row.line, reasons } });
    }
    return {
      orderId: field('order_id'),
      date: field('date'),
      customer: field('customer'),
      email: field('email'),
      quantity,
      currency: field('currency'),
      amountCents: quantity * unitCents,
      note: field('note'),
    };
  },
});

const required = ['order_id', 'date', 'customer', 'email', 'quantity', 'unit_price', 'currency'] as const;

/** A day of the calendar: 2025-02-30 is none. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const schema = `
  CREATE TABLE IF NOT EXISTS orders (
    order_id TEXT PRIMARY KEY,
    content TEXT NOT NULL,
    date TEXT NOT NULL,
    customer TEXT NOT NULL,
    email TEXT NOT NULL,
    quantity INTEGER NOT NULL,
    currency TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    amount_eur_cents INTEGER NOT NULL,
    note TEXT NOT NULL
  );`;

const store = defineHandler({
  name: 'orders.store',
  description: 'Writes an order to the database. One that an earlier import has written alike is left as it is.',
  input: z.strictObject({ database: z.string(), order: orderSchema, amountEurCents: z.int() }),
  output: z.object({
    orderId: z.string(),
    currency: z.string(),
    amountCents: z.int(),
    amountEurCents: z.int(),
    was: z.enum(['new', 'unchanged']),
  }),
  errors: ['OrderConflict'],
  run({ input: { database: path, order, amountEurCents }, idempotencyKey }) {
    const database = openDatabase(path, schema);
    return once(database, idempotencyKey, { order, amountEurCents }, () => {
      const content = JSON.stringify(order);
      const earlier = database
        .prepare('SELECT content, amount_eur_cents AS amountEurCents FROM orders WHERE order_id = ?')
        .get(order.orderId) as { content: string; amountEurCents: number } | undefined;
      if (earlier !== undefined && earlier.content !== content) {
        throw new NonRetryableError(`order ${order.orderId} is in the database with another content`, {
          name: 'OrderConflict',
        });
      }
      if (earlier === undefined) {
        database
          .prepare(
            `INSERT INTO orders (order_id, content, date, customer, email, quantity, currency, amount_cents, amount_eur_cents, note)
             VALUES (@orderId, @content, @date, @customer, @email, @quantity, @currency, @amountCents, @amountEurCents, @note)`,
          )
          .run({ ...order, content, amountEurCents });
      }
      const { orderId, currency, amountCents } = order;
      // An order keeps the rate of its first import: that is what the books say.
      return earlier === undefined
        ? { orderId, currency, amountCents, amountEurCents, was: 'new' as const }
        : { orderId, currency, amountCents, amountEurCents: earlier.amountEurCents, was: 'unchanged' as const };
    });
  },
});

export default [validate, store];
