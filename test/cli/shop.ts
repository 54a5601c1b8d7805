/** A shop whose texts, keys and files are Japanese: their characters are two columns wide. */
export const shop = {
  'definitions/注文.yaml': `workflow: order
description: 注文を一件出荷する。
input:
  item: { type: string }
  total: { type: number }
constants:
  limit: 100
steps:
  - id: reserve
    step: stock.reserve
    with: { item: =$input.item }
    compensate:
      step: stock.release
      with: { item: =$input.item }
      retry: { attempts: 1 }
  - id: expensive
    when: =$input.total > $constants.limit
    group:
      - id: decision
        waitFor: approval
        timeout: 48h
        schema:
          type: object
          properties:
            approved: { type: boolean }
            by: { type: string }
          required: [approved, by]
  - id: charge
    step: payments.charge
    with: { amount: =$input.total }
    retry: { attempts: 1 }
output: { item: =$input.item, receipt: =$steps.charge }
`,
  'definitions/注文.test.yaml': `workflow: ./注文.yaml
defaults:
  input: { item: 茶碗, total: 40 }
  handlers:
    stock.reserve: { returns: 予約済み }
    payments.charge: { returns: r-1 }
tests:
  - name: 小さな注文は承認なしで出荷される
    expect: { output: { item: 茶碗, receipt: r-1 }, notRan: [decision] }
  - name: 大きな注文は承認を待つ
    input: { total: 2000 }
    signals:
      - { after: decision, name: approval, payload: { approved: true, by: 花子 } }
    expect: { ran: [reserve, decision, charge] }
`,
  'definitions/report.yaml': `workflow: report
schedule:
  - id: morning
    cron: 0 9 * * MON-FRI
    timezone: Europe/Berlin
  - { every: 36h, overlap: queue }
steps:
  - id: rest
    sleep: 1h
`,
  'handlers/shop.ts': `import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';

export default [
  defineHandler({
    name: 'stock.reserve',
    description: '在庫を一つ予約する。',
    input: z.object({ item: z.string() }),
    output: z.string(),
    run: ({ input }) => input.item + 'を予約済み',
  }),
  defineHandler({
    name: 'stock.release',
    input: z.object({ item: z.string() }),
    run({ input }) {
      if (input.item === '割れた皿') throw new NonRetryableError('棚が空です', { name: 'ShelfEmpty' });
    },
  }),
  defineHandler({
    name: 'payments.charge',
    description: 'Takes the money.',
    input: z.object({ amount: z.number() }),
    errors: ['CardDeclined'],
    run({ input }) {
      if (input.amount === 13) throw new NonRetryableError('カードが使えません', { name: 'CardDeclined' });
      return 'r-' + input.amount;
    },
  }),
];
`,
};

/** The line that begins an order, with a key. */
export const run = (total: number, key: string, item = '茶碗'): string =>
  `runsheet run order --no-wait --key ${key} --input '{ "item": "${item}", "total": ${total} }'`;

/** Runs of all kinds, with keys. */
export const linesOfAllKinds = [
  run(40, '注文-42'),
  run(2000, '大きな注文'),
  run(13, 'order-13'),
  run(13, '割れた皿-7', '割れた皿'),
  'runsheet run report --no-wait',
];
