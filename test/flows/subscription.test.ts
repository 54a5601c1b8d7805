import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Fault, PaymentSimulator } from '../../handlers/_payment-simulator.js';
import { FlowWorld } from '../flows-support/flow-world.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const day = 24 * 3_600_000;

/** A subscription begun at `since`, whose first month is paid, if it can be. */
async function subscribe(since: string, faults: readonly Fault[] = []) {
  const folder = temporaryFolder();
  const simulator = new PaymentSimulator();
  onTestFinished(() => simulator.close());
  simulator.plan(faults);
  const world = await FlowWorld.of(['subscription'], { startAt: Date.parse(since) });
  const id = await world.begin({
    customer: { id: 'c-1', email: 'ana@example.test' },
    plan: 'newspaper',
    priceCents: 1_490,
    payments: await simulator.listen(),
    folder,
  });
  const rows = (sql: string): unknown[] => {
    const database = new Database(join(folder, 'subscriptions.db'), { readonly: true });
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  };
  return {
    id,
    world,
    simulator,
    end: () => world.end(id),
    passUntil: (date: string) => world.pass(Date.parse(date) - world.clock.now()),
    cancel: (reason: string) => world.engine.signal(id, 'cancel', { reason }),
    charged: () => simulator.effects().filter(({ status }) => status === 201).length,
    /** Until when each month was paid. */
    paidUntil: () => rows('SELECT paid_until AS day FROM period ORDER BY number').map(dayOf),
    ended: () => rows('SELECT ended, reason FROM subscription'),
    letters: () =>
      readdirSync(join(folder, 'mail'))
        .map((name) => name.replace(/-[0-9a-f]+\.eml$/, ''))
        .sort(),
  };
}

const dayOf = (row: unknown): string => (row as { day: string }).day.slice(0, 10);

describe('a subscription', () => {
  test('is billed once a month for a year, on the last day of the short ones, and runs to the end of its month', async () => {
    const { world, passUntil, cancel, end, charged, paidUntil, ended, letters } =
      await subscribe('2031-01-31T09:00:00.000Z');
    expect(charged()).toBe(1);
    await passUntil('2031-02-28T08:59:59.000Z');
    expect(charged()).toBe(1);
    await passUntil('2031-02-28T09:00:01.000Z');
    expect(charged()).toBe(2);
    await passUntil('2032-01-10T00:00:00.000Z');
    expect(charged()).toBe(12);
    await cancel('moving away');
    const run = await end();
    expect(run).toMatchObject({ status: 'completed', output: { months: 12, reason: 'moving away' } });
    expect(new Date(run.endedAt ?? 0).toISOString()).toBe('2032-01-31T09:00:00.000Z');
    expect(charged()).toBe(12);
    expect(paidUntil()).toEqual([
      '2031-02-28',
      '2031-03-31',
      '2031-04-30',
      '2031-05-31',
      '2031-06-30',
      '2031-07-31',
      '2031-08-31',
      '2031-09-30',
      '2031-10-31',
      '2031-11-30',
      '2031-12-31',
      '2032-01-31',
    ]);
    expect(ended()).toEqual([{ ended: '2032-01-31T09:00:00.000Z', reason: 'moving away' }]);
    expect(letters()).toEqual(['subscription-ended']);
    expect(world.started.filter((line) => line.startsWith('month#'))).toHaveLength(12);
  });

  test('cancelled in its first month is billed once', async () => {
    const { world, cancel, end, charged, paidUntil } = await subscribe('2032-01-31T09:00:00.000Z');
    await world.pass(day);
    await cancel('too many papers');
    expect((await end()).output).toMatchObject({ months: 1 });
    expect(charged()).toBe(1);
    expect(paidUntil()).toEqual(['2032-02-29']);
  });

  test('is billed in the end, though the provider is down for half a day', async () => {
    const { id, world, charged, paidUntil } = await subscribe('2031-03-01T00:00:00.000Z', [
      { do: 'unavailable', times: 20 },
    ]);
    expect(await world.engine.getRun(id)).toMatchObject({ status: 'retrying' });
    await world.pass(day);
    expect(charged()).toBe(1);
    expect(paidUntil()).toEqual(['2031-04-01']);
    expect(world.started.filter((line) => line.startsWith('charge#'))).toHaveLength(21);
  });
});

describe('a card that is declined', () => {
  test('is asked for anew, and the month paid with the new one', async () => {
    const { id, world, charged, paidUntil, letters, cancel, end } = await subscribe('2031-03-01T00:00:00.000Z', [
      { do: 'decline' },
    ]);
    expect(letters()).toEqual(['payment-failed']);
    expect(charged()).toBe(0);
    await world.pass(day);
    await world.engine.signal(id, 'card-updated');
    await world.pass(1);
    expect(charged()).toBe(1);
    // The month counts from its first day, not from the day on which it was paid.
    expect(paidUntil()).toEqual(['2031-04-01']);
    await cancel('enough');
    expect((await end()).output).toMatchObject({ months: 1, reason: 'enough' });
  });

  test('is tried again after three days, though nobody answers', async () => {
    const { world, charged, letters } = await subscribe('2031-03-01T00:00:00.000Z', [{ do: 'decline', times: 2 }]);
    await world.pass(3 * day);
    expect(charged()).toBe(0);
    await world.pass(3 * day);
    expect(charged()).toBe(1);
    expect(letters()).toEqual(['payment-failed', 'payment-failed']);
  });

  test('three times ends the subscription with what was paid', async () => {
    const { simulator, passUntil, end, paidUntil, ended, letters } = await subscribe('2031-03-01T00:00:00.000Z');
    simulator.plan([{ do: 'decline', times: 3 }]);
    await passUntil('2031-03-15T00:00:00.000Z');
    const run = await end();
    expect(run).toMatchObject({ status: 'completed', rollbackStatus: null, output: { months: 1, reason: 'not paid' } });
    expect(new Date(run.endedAt ?? 0).toISOString()).toBe('2031-04-07T00:00:00.000Z');
    expect(paidUntil()).toEqual(['2031-04-01']);
    expect(ended()).toEqual([{ ended: '2031-04-07T00:00:00.000Z', reason: 'not paid' }]);
    expect(letters()).toEqual(['payment-failed', 'payment-failed', 'payment-failed', 'subscription-unpaid']);
  });
});

test('a subscription whose run is cancelled is closed; what was used stays paid', async () => {
  const { id, world, end, ended, simulator } = await subscribe('2031-03-01T00:00:00.000Z');
  await world.pass(40 * day);
  await world.engine.cancel(id);
  expect(await end()).toMatchObject({ status: 'cancelled', rollbackStatus: 'completed' });
  expect(ended()).toMatchObject([{ reason: 'broken off' }]);
  expect(simulator.effects().map(({ path }) => path)).toEqual(['/charges', '/charges']);
});
