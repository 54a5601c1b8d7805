import { join } from 'node:path';
import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { once, openDatabase, undoOnce } from './_database.js';
import { shortHash } from './_files.js';

const schema = `
  CREATE TABLE IF NOT EXISTS subscription (
    id TEXT PRIMARY KEY,
    customer TEXT NOT NULL,
    plan TEXT NOT NULL,
    since TEXT NOT NULL,
    ended TEXT,
    reason TEXT
  );
  CREATE TABLE IF NOT EXISTS period (
    subscription TEXT NOT NULL,
    number INTEGER NOT NULL,
    paid_until TEXT NOT NULL,
    payment TEXT NOT NULL UNIQUE,
    PRIMARY KEY (subscription, number)
  );`;

/** Who has subscribed to what, and until when each has paid. */
const openSubscriptions = (folder: string) => openDatabase(join(folder, 'subscriptions.db'), schema);

const time = z.iso.datetime();

const open = defineHandler({
  name: 'subscriptions.open',
  description: 'Begins a subscription.',
  input: z.strictObject({ folder: z.string(), customer: z.string(), plan: z.string(), since: time }),
  output: z.object({ subscription: z.string(), since: time }),
  run({ input: { folder, ...asked }, idempotencyKey }) {
    const subscriptions = openSubscriptions(folder);
    return once(subscriptions, idempotencyKey, asked, () => {
      const subscription = `sub-${shortHash(idempotencyKey)}`;
      subscriptions
        .prepare(
          'INSERT INTO subscription (id, customer, plan, since) VALUES (@subscription, @customer, @plan, @since)',
        )
        .run({ subscription, ...asked });
      return { subscription, since: asked.since };
    });
  },
});

const close = defineHandler({
  name: 'subscriptions.close',
  description: 'Ends a subscription; one that has ended stays as it is.',
  input: z.strictObject({
    folder: z.string(),
    subscription: z.string().nullable().describe('null in a reversal that does not know whether there is one'),
    at: time,
    reason: z.string(),
  }),
  output: z.object({ closed: z.boolean() }),
  run({ input: { folder, ...asked }, idempotencyKey, forwardIdempotencyKey }) {
    const subscriptions = openSubscriptions(folder);
    const undoing = { key: idempotencyKey, forwardKey: forwardIdempotencyKey, request: asked };
    return undoOnce(subscriptions, undoing, (opened: { subscription: string } | undefined) => {
      const { changes } = subscriptions
        .prepare('UPDATE subscription SET ended = @at, reason = @reason WHERE id = @id AND ended IS NULL')
        .run({ ...asked, id: asked.subscription ?? opened?.subscription ?? null });
      return { closed: changes > 0 };
    });
  },
});

const period = defineHandler({
  name: 'subscriptions.period',
  description: 'When a month of a subscription begins and ends, counted from its first day.',
  input: z.strictObject({ since: time, number: z.int().min(0).describe('0 is the first month') }),
  output: z.object({ from: time, to: time }),
  run: ({ input: { since, number } }) => ({ from: monthsLater(since, number), to: monthsLater(since, number + 1) }),
});

/**
 * The same day and time so many months later, in UTC; where that month is too short its last day.
 * Always counted from the beginning: from 31 January by 28 February to 28 March would lose three days.
 */
function monthsLater(since: string, months: number): string {
  const date = new Date(since);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.toISOString();
}

const paid = defineHandler({
  name: 'subscriptions.paid',
  description: 'Notes that a month is paid.',
  input: z.strictObject({
    folder: z.string(),
    subscription: z.string(),
    number: z.int().min(0),
    until: time,
    payment: z.string(),
  }),
  output: z.object({ months: z.int() }),
  errors: ['PaidAlready'],
  run({ input: { folder, ...asked }, idempotencyKey }) {
    const subscriptions = openSubscriptions(folder);
    return once(subscriptions, idempotencyKey, asked, () => {
      const { changes } = subscriptions
        .prepare(
          `INSERT INTO period (subscription, number, paid_until, payment) VALUES (@subscription, @number, @until, @payment)
           ON CONFLICT DO NOTHING`,
        )
        .run(asked);
      if (changes === 0) {
        throw new NonRetryableError(`month ${asked.number} of ${asked.subscription} is paid already`, {
          name: 'PaidAlready',
        });
      }
      return subscriptions
        .prepare('SELECT count(*) AS months FROM period WHERE subscription = ?')
        .get(asked.subscription) as { months: number };
    });
  },
});

export default [open, close, period, paid];
