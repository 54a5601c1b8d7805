import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import expenses from '../../handlers/expenses.js';
import subscriptions from '../../handlers/subscriptions.js';
import travel from '../../handlers/travel.js';
import { callerOf } from '../flows-support/call-handler.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const call = callerOf([...expenses, ...subscriptions, ...travel]);

describe('a month of a subscription', () => {
  const period = (since: string, number: number) =>
    call('subscriptions.period', { since, number }) as Promise<{ from: string; to: string }>;

  test('ends where the next begins, on the day of the first or on the last of a shorter month', async () => {
    const since = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(since, fc.integer({ min: 0, max: 1_200 }), async (date, number) => {
        const { from, to } = await period(date.toISOString(), number);
        expect((await period(date.toISOString(), number + 1)).from).toBe(to);
        const [begins, ends] = [new Date(from), new Date(to)];
        const months = (day: Date): number => day.getUTCFullYear() * 12 + day.getUTCMonth();
        expect(months(begins) - months(date)).toBe(number);
        expect(months(ends) - months(begins)).toBe(1);
        const isLastDay = new Date(ends.getTime() + 86_400_000).getUTCDate() === 1;
        expect(ends.getUTCDate() === date.getUTCDate() || (isLastDay && ends.getUTCDate() < date.getUTCDate())).toBe(
          true,
        );
        expect(to.slice(10)).toBe(date.toISOString().slice(10));
      }),
      { seed: 11, numRuns: 200 },
    );
  });

  test('of February is 28 or 29 days', async () => {
    expect(await period('2031-01-31T09:00:00.000Z', 1)).toEqual({
      from: '2031-02-28T09:00:00.000Z',
      to: '2031-03-31T09:00:00.000Z',
    });
    expect((await period('2031-01-31T09:00:00.000Z', 13)).from).toBe('2032-02-29T09:00:00.000Z');
  });
});

describe('undone before it was done', () => {
  const folder = (): string => temporaryFolder();

  test.each([
    [
      'a booking',
      ['hotels.book', { trip: 't', what: 'a room', priceCents: 1, faults: [] }],
      ['hotels.cancel', { booking: null, faults: [] }],
      { cancelled: false },
    ],
    [
      'a claim',
      ['expenses.submit', { expense: 'e', employee: 'ana', amountCents: 1, currency: 'EUR' }],
      ['expenses.withdraw', { claim: null }],
      { withdrawn: false },
    ],
    [
      'a subscription',
      ['subscriptions.open', { customer: 'c', plan: 'p', since: '2031-01-01T00:00:00Z' }],
      ['subscriptions.close', { subscription: null, at: '2031-01-02T00:00:00Z', reason: 'r' }],
      { closed: false },
    ],
  ] as const)('%s is never done', async (_, [act, asked], [undo, withdrawal], nothing) => {
    const where = { folder: folder() };
    expect(await call(undo, { ...where, ...withdrawal }, { key: 'undo', undoes: 'do' })).toEqual(nothing);
    await expect(call(act, { ...where, ...asked }, { key: 'do' })).rejects.toMatchObject({ name: 'Withdrawn' });
    expect(await call(undo, { ...where, ...withdrawal }, { key: 'undo', undoes: 'do' })).toEqual(nothing);
  });
});

test('a month is paid once, and a claim settled once', async () => {
  const folder = temporaryFolder();
  const month = { folder, subscription: 's', number: 0, until: '2031-02-01T00:00:00Z' };
  expect(await call('subscriptions.paid', { ...month, payment: 'p1' }, { key: 'a' })).toEqual({ months: 1 });
  expect(await call('subscriptions.paid', { ...month, payment: 'p1' }, { key: 'a' })).toEqual({ months: 1 });
  await expect(call('subscriptions.paid', { ...month, payment: 'p2' })).rejects.toMatchObject({ name: 'PaidAlready' });

  const asked = { folder, expense: 'e', employee: 'ana', amountCents: 1, currency: 'EUR' };
  const { claim } = (await call('expenses.submit', asked)) as { claim: string };
  const settle = (approved: boolean) => call('expenses.settle', { folder, claim, approved, by: ['bea'] });
  expect(await settle(true)).toEqual({ state: 'approved' });
  await expect(settle(false)).rejects.toMatchObject({ name: 'NotOpen' });
  expect(await call('expenses.withdraw', { folder, claim })).toEqual({ withdrawn: false });
});
