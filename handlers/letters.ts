import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { once } from './_database.js';
import { shortHash, writeWhole } from './_files.js';
import { money, table } from './_markdown.js';
import { itemSchema, openShop } from './_shop.js';

const templates = {
  'out-of-stock': 'We are sorry: some of what you ordered is not in stock. Nothing was charged.',
  'card-declined': 'Your card was declined, so your order was not placed. Nothing was charged.',
  'payment-unknown': 'The payment provider did not answer. Please find out whether the order was paid.',
  'large-order': 'A large order has been paid for.',
  'on-its-way': 'Your order is on its way.',
  delivered: 'Your order was delivered. Enjoy!',
} as const;

const templateNames = Object.keys(templates) as [keyof typeof templates, ...(keyof typeof templates)[]];

const send = defineHandler({
  name: 'mail.send',
  description: 'Puts a letter into the outbox, the folder "mail" of the shop, from where a mail program takes it.',
  input: z.strictObject({ folder: z.string(), to: z.email(), template: z.enum(templateNames), orderId: z.string() }),
  output: z.object({ file: z.string() }),
  async run({ input: { folder, to, template, orderId }, idempotencyKey }) {
    // The key is in the name, so that a letter that is sent twice lies there once.
    const file = join(folder, 'mail', `${template}-${shortHash(idempotencyKey)}.eml`);
    const letter = [
      `To: ${to}`,
      `Subject: Order ${encodeHeader(orderId)}`,
      `Message-ID: <${shortHash(idempotencyKey)}@shop.example.test>`,
      'Content-Type: text/plain; charset=utf-8',
      '',
      templates[template],
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
