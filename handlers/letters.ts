import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { once } from './_database.js';
import { shortHash, writeWhole } from './_files.js';
import { money, table } from './_markdown.js';
import { itemSchema, openShop } from './_shop.js';

/** What a letter is about, and what it says. */
const templates = {
  'out-of-stock': ['Order', 'We are sorry: some of what you ordered is not in stock. Nothing was charged.'],
  'card-declined': ['Order', 'Your card was declined, so your order was not placed. Nothing was charged.'],
  'please-decide': ['Order', 'A large order has been paid for. Please say whether it is to be shipped.'],
  'still-waiting': ['Order', 'A large order still waits for your decision.'],
  'order-rejected': ['Order', 'We are sorry: we cannot fulfil your order. What you paid is on its way back to you.'],
  'order-cancelled': ['Order', 'Your order was cancelled. What you paid is on its way back to you.'],
  'order-failed': ['Order', 'An order came to nothing and needs somebody to look at it.'],
  'on-its-way': ['Order', 'Your order is on its way.'],
  delivered: ['Order', 'Your order was delivered. Enjoy!'],
  'please-approve': ['Expense', 'A colleague asks for money back. Please approve or decline.'],
  'still-to-approve': ['Expense', 'An expense still waits for your approval.'],
  escalated: ['Expense', 'Two of three approvers did not answer in time. Please decide.'],
  'expense-approved': ['Expense', 'Your expense was approved and will be paid with your next salary.'],
  'expense-rejected': ['Expense', 'Your expense was not approved.'],
  'please-confirm': ['Trip', 'Your trip is booked. Please confirm that it may cost so much.'],
  'still-to-confirm': ['Trip', 'Your trip is booked, and will be cancelled again unless you confirm it.'],
  'trip-booked': ['Trip', 'Flight, hotel and car are booked. Have a good journey!'],
  'trip-failed': ['Trip', 'Your trip could not be booked. Nothing of it is left to pay.'],
  'payment-failed': ['Subscription', 'Your card was declined. Please give us another one.'],
  'subscription-unpaid': ['Subscription', 'Your subscription has ended, since it was not paid.'],
  'subscription-ended': ['Subscription', 'Your subscription has ended. We hope to see you again.'],
} as const;

const templateNames = Object.keys(templates) as [keyof typeof templates, ...(keyof typeof templates)[]];

const send = defineHandler({
  name: 'mail.send',
  description: 'Puts a letter into the outbox, the subfolder "mail" of a folder, from where a mail program takes it.',
  input: z.strictObject({
    folder: z.string(),
    to: z.email(),
    template: z.enum(templateNames),
    about: z.string().describe('which order, expense, trip …'),
    note: z.string().optional(),
    run: z.string().optional().describe('the run that an answer has to be sent to'),
  }),
  output: z.object({ file: z.string() }),
  async run({ input: { folder, to, template, about, note, run }, idempotencyKey }) {
    // The key is in the name, so that a letter that is sent twice lies there once.
    const file = join(folder, 'mail', `${template}-${shortHash(idempotencyKey)}.eml`);
    const [kind, text] = templates[template];
    const letter = [
      `To: ${to}`,
      `Subject: ${kind} ${encodeHeader(about)}`,
      `Message-ID: <${shortHash(idempotencyKey)}@shop.example.test>`,
      'Content-Type: text/plain; charset=utf-8',
      '',
      text,
      ...(note === undefined ? [] : [note]),
      ...(run === undefined ? [] : [`Run: ${run}`]),
      '',
    ].join('\r\n');
    const earlier = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (earlier !== undefined && earlier !== letter) {
      throw new NonRetryableError(`idempotency key ${idempotencyKey} was used for another letter`, {
        name: 'IdempotencyMismatch',
      });
    }
    if (earlier === undefined) await writeWhole(file, letter, idempotencyKey);
    return { file };
  },
});

/** A line break in a header would begin another header. */
const encodeHeader = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;

const createInvoice = defineHandler({
  name: 'invoices.create',
  description: 'Writes the invoice of an order under the next free number.',
  input: z.strictObject({
    folder: z.string(),
    orderId: z.string(),
    customer: z.string(),
    items: z.array(itemSchema),
    totalCents: z.int(),
    currency: z.string(),
    payment: z.string(),
  }),
  output: z.object({ number: z.int(), file: z.string() }),
  async run({ input: { folder, ...invoice }, idempotencyKey }) {
    const shop = openShop(folder);
    const number = await once(shop, idempotencyKey, invoice, () =>
      Number(shop.prepare('INSERT INTO invoice (order_id) VALUES (?)').run(invoice.orderId).lastInsertRowid),
    );
    const text = [
      `# Invoice ${number}`,
      `Order ${invoice.orderId}, customer ${invoice.customer}.`,
      table(
        ['Article', 'Quantity'],
        invoice.items.map(({ sku, qty }) => [sku, qty]),
      ),
      `Total: ${money(invoice.totalCents)} ${invoice.currency}, paid by ${invoice.payment}.`,
    ].join('\n\n');
    const file = join(folder, 'invoices', `${number}.md`);
    await writeWhole(file, `${text}\n`, idempotencyKey);
    return { number, file };
  },
});

export default [send, createInvoice];
