import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { readText, writeWhole } from './_files.js';
import { money, table } from './_markdown.js';
import { rowSchema } from './_order-row.js';

const columns = ['order_id', 'date', 'customer', 'email', 'quantity', 'unit_price', 'currency', 'note'] as const;

const read = defineHandler({
  name: 'orders.read',
  description: 'Reads a CSV of orders into rows, each with the line it begins on.',
  input: z.strictObject({ file: z.string() }),
  output: z.object({ rows: z.array(rowSchema) }),
  errors: ['FileMissing', 'UnreadableFile'],
  async run({ input, signal }) {
    const [head, ...body] = parseCsv(input.file, await readText(input.file, signal));
    const missing = columns.filter((name) => !head?.cells.includes(name));
    if (head === undefined || missing.length > 0) {
      throw unreadable(`${input.file} has no column ${missing.join(', ')}; its first line must name them`);
    }
    const firstLines = new Map<string, number>();
    const rows = body.map(({ line, cells }) => {
      const fields = Object.fromEntries(
        head.cells.flatMap((name, place) => (place < cells.length ? [[name, cells[place] ?? '']] : [])),
      );
      const id = fields['order_id'] ?? '';
      const duplicateOf = firstLines.get(id) ?? null;
      if (id !== '' && duplicateOf === null) firstLines.set(id, line);
      return { line, cells: cells.length, duplicateOf, fields };
    });
    return { rows };
  },
});

function parseCsv(file: string, text: string): { line: number; cells: string[] }[] {
  try {
    const options = { bom: true, info: true, raw: true, relax_column_count: true, skip_empty_lines: true } as const;
    // The typings of the parser know nothing of `info` and `raw`.
    // With CRLF inside quotes it miscounts the lines.
    const records = parse(text.replaceAll('\r\n', '\n'), options) as unknown as {
      record: string[];
      raw: string;
      info: { lines: number };
    }[];
    return records.map(({ record, raw, info }) => ({
      // `info.lines` is the line on which the record ends.
      line: info.lines - (raw.trim().split('\n').length - 1),
      cells: record,
    }));
  } catch (error) {
    throw unreadable(`${file} is no CSV: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

const unreadable = (message: string, cause?: unknown): NonRetryableError =>
  new NonRetryableError(message, { name: 'UnreadableFile', cause });

const writeRejects = defineHandler({
  name: 'orders.write-rejects',
  description:
    'Writes the rows that could not be imported as CSV, each with the reason, ready to be corrected and sent again.',
  input: z.strictObject({
    folder: z.string(),
    rejected: z.array(z.object({ line: z.int(), reason: z.string(), fields: z.record(z.string(), z.string()) })),
  }),
  output: z.object({ file: z.string() }),
  async run({ input, idempotencyKey }) {
    const file = join(input.folder, 'rejected.csv');
    const rows = input.rejected.map(({ line, reason, fields }) => [
      line,
      reason,
      ...columns.map((name) => fields[name] ?? ''),
    ]);
    await writeWhole(file, stringify([['line', 'reason', ...columns], ...rows]), idempotencyKey);
    return { file };
  },
});

const total = z.object({ currency: z.string(), orders: z.int(), amountCents: z.int(), amountEurCents: z.int() });

const report = defineHandler({
  name: 'orders.report',
  description: 'Adds up the imported orders by currency and writes the totals as Markdown.',
  input: z.strictObject({
    folder: z.string(),
    source: z.string(),
    accepted: z.array(z.object({ currency: z.string(), amountCents: z.int(), amountEurCents: z.int() })),
    rejected: z.array(z.object({ line: z.int(), reason: z.string() })),
  }),
  output: z.object({ file: z.string(), totals: z.array(total), totalEurCents: z.int() }),
  async run({ input, idempotencyKey }) {
    const totals = addUp(input.accepted);
    const totalEurCents = totals.reduce((sum, { amountEurCents }) => sum + amountEurCents, 0);
    const sections = [
      `# Import of ${input.source}`,
      `${input.accepted.length} orders imported, ${input.rejected.length} rows rejected.`,
      '## Totals',
      table(
        ['Currency', 'Orders', 'Amount', 'In EUR'],
        [
          ...totals.map((row) => [row.currency, row.orders, money(row.amountCents), money(row.amountEurCents)]),
          ['all', input.accepted.length, '', money(totalEurCents)],
        ],
      ),
      ...(input.rejected.length === 0
        ? []
        : [
            '## Rejected rows',
            table(
              ['Line', 'Reason'],
              input.rejected.map(({ line, reason }) => [line, reason]),
            ),
          ]),
    ];
    const file = join(input.folder, 'report.md');
    await writeWhole(file, `${sections.join('\n\n')}\n`, idempotencyKey);
    return { file, totals, totalEurCents };
  },
});

function addUp(
  orders: readonly { currency: string; amountCents: number; amountEurCents: number }[],
): z.infer<typeof total>[] {
  const byCurrency = new Map<string, z.infer<typeof total>>();
  for (const { currency, amountCents, amountEurCents } of orders) {
    const sum = byCurrency.get(currency) ?? { currency, orders: 0, amountCents: 0, amountEurCents: 0 };
    sum.orders += 1;
    sum.amountCents += amountCents;
    sum.amountEurCents += amountEurCents;
    byCurrency.set(currency, sum);
  }
  return [...byCurrency.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1));
}

export default [read, writeRejects, report];
