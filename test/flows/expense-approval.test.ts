import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { JsonObject } from 'runsheet';
import { describe, expect, test } from 'vitest';
import { FlowWorld } from '../flows-support/flow-world.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const hour = 3_600_000;
const [bea, carl, dora] = ['bea@example.test', 'carl@example.test', 'dora@example.test'] as const;
const yes = { approved: true };
const no = { approved: false };

/** A claim for an expense, as far as it comes by itself. */
async function claim(changes: JsonObject = {}) {
  const folder = temporaryFolder();
  const world = await FlowWorld.of(['expense-approval']);
  const id = await world.begin({
    expenseId: 'e-1',
    employee: 'ana@example.test',
    amountCents: 48_000,
    purpose: 'Train to the fair',
    approvers: [bea, carl, dora],
    folder,
    ...changes,
  });
  return {
    id,
    world,
    vote: (who: 'first' | 'second' | 'third', payload: JsonObject) =>
      world.engine.signal(id, `vote-of-${who}`, payload),
    end: () => world.end(id),
    claims: (): unknown[] => {
      const database = new Database(join(folder, 'expenses.db'), { readonly: true });
      try {
        return database.prepare('SELECT state, amount_cents AS cents, decided_by AS by FROM claim').all();
      } finally {
        database.close();
      }
    },
    /** How many letters of each kind lie in the outbox. */
    letters: (): Record<string, number> => {
      const counts: Record<string, number> = {};
      for (const name of readdirSync(join(folder, 'mail'))) {
        const template = name.replace(/-[0-9a-f]+\.eml$/, '');
        counts[template] = (counts[template] ?? 0) + 1;
      }
      return counts;
    },
  };
}

describe('an expense', () => {
  test('is approved as soon as two of the three agree; the third is asked no more', async () => {
    const { world, id, vote, end, claims, letters } = await claim();
    expect(await world.engine.getRun(id)).toMatchObject({ status: 'waiting' });
    expect(letters()).toEqual({ 'please-approve': 3 });
    await vote('third', yes);
    await world.pass(hour);
    expect(await world.engine.getRun(id)).toMatchObject({ status: 'waiting' });
    await vote('first', { approved: true, comment: 'fine' });
    const run = await end();
    expect(run).toMatchObject({ status: 'completed', output: { approved: true, by: [bea, dora] } });
    expect(FlowWorld.duration(run)).toBeLessThan(2 * hour);
    expect(claims()).toEqual([{ state: 'approved', cents: 48_000, by: `${bea}, ${dora}` }]);
    expect(letters()).toEqual({ 'please-approve': 3, 'expense-approved': 1 });
  });

  test('is approved though one declines', async () => {
    const { vote, end } = await claim();
    await vote('first', no);
    await vote('second', yes);
    await vote('third', yes);
    expect((await end()).output).toMatchObject({ approved: true, by: [carl, dora] });
  });

  test('is rejected as soon as two decline, for then two can no longer agree', async () => {
    const { vote, end, claims, letters } = await claim();
    await vote('first', no);
    await vote('second', no);
    const run = await end();
    expect(run).toMatchObject({ status: 'completed', output: { approved: false, by: [bea, carl] } });
    expect(FlowWorld.duration(run)).toBeLessThan(hour);
    expect(claims()).toMatchObject([{ state: 'rejected' }]);
    expect(letters()).toEqual({ 'please-approve': 3, 'expense-rejected': 1 });
  });

  test('that is small needs nobody', async () => {
    const { end, claims, letters } = await claim({ amountCents: 2_500 });
    expect((await end()).output).toMatchObject({ approved: true, by: ['nobody needed'] });
    expect(claims()).toMatchObject([{ state: 'approved', cents: 2_500 }]);
    expect(letters()).toEqual({ 'expense-approved': 1 });
  });

  test('reminds once a day those who have not answered', async () => {
    const { world, vote, letters } = await claim();
    await vote('second', yes);
    await world.pass(50 * hour);
    expect(letters()).toEqual({ 'please-approve': 3, 'still-to-approve': 2 * 2 });
  });

  test('refuses a vote that says nothing', async () => {
    const { vote } = await claim();
    await expect(vote('first', { comment: 'hm' })).rejects.toMatchObject({ code: 'RS_SIGNAL_INVALID' });
  });

  test('counts a vote once', async () => {
    const { vote } = await claim();
    await vote('first', yes);
    await expect(vote('first', no)).rejects.toMatchObject({ code: 'RS_SIGNAL_ALREADY_DELIVERED' });
  });
});

describe('after three days without a decision', () => {
  test.each([
    ['agrees', yes, { approved: true, by: ['director@example.test'] }, 'approved'],
    ['declines', no, { approved: false, by: ['director@example.test'] }, 'rejected'],
  ])('the director is asked, and %s', async (_, ruling, output, state) => {
    const { world, id, vote, end, claims, letters } = await claim();
    await vote('first', yes);
    await world.pass(72 * hour + 1);
    expect(letters()).toMatchObject({ 'please-approve': 3, 'still-to-approve': 2 * 2, escalated: 1 });
    await world.engine.signal(id, 'ruling-of-director', ruling);
    const run = await end();
    expect(run).toMatchObject({ status: 'completed', output });
    expect(claims()).toMatchObject([{ state }]);
  });

  test('and two more without her answer it is rejected', async () => {
    const { end, claims } = await claim();
    const run = await end();
    expect(run).toMatchObject({ status: 'completed', output: { approved: false } });
    expect(FlowWorld.duration(run)).toBe(5 * 24 * hour);
    expect(claims()).toMatchObject([{ state: 'rejected' }]);
  });

  test('votes change nothing any more', async () => {
    const { world, id, vote, end } = await claim();
    await world.pass(72 * hour + 1);
    await expect(vote('first', yes)).rejects.toMatchObject({ code: 'RS_SIGNAL_TOO_LATE' });
    await expect(vote('second', yes)).rejects.toMatchObject({ code: 'RS_SIGNAL_TOO_LATE' });
    await world.pass(hour);
    expect(await world.engine.getRun(id)).toMatchObject({ status: 'waiting' });
    await world.engine.signal(id, 'ruling-of-director', no);
    expect((await end()).output).toMatchObject({ approved: false });
  });
});

test('a claim that is cancelled is withdrawn', async () => {
  const { world, id, vote, end, claims, letters } = await claim();
  await vote('first', yes);
  await world.pass(hour);
  await world.engine.cancel(id);
  expect(await end()).toMatchObject({ status: 'cancelled', rollbackStatus: 'completed' });
  expect(claims()).toMatchObject([{ state: 'withdrawn' }]);
  expect(letters()).toEqual({ 'please-approve': 3 });
});
