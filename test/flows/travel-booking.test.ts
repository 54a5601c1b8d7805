import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { JsonObject } from 'runsheet';
import { describe, expect, test } from 'vitest';
import { FlowWorld } from '../flows-support/flow-world.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const minute = 60_000;
const hour = 60 * minute;

interface Fault {
  readonly call: string;
  readonly do: 'sold-out' | 'unavailable' | 'lose-answer';
  readonly times?: number;
}

/** A trip of three nights unless told otherwise, with agencies that fail as they are told. */
async function trip(faults: readonly Fault[] = [], changes: JsonObject = {}) {
  const folder = temporaryFolder();
  const world = await FlowWorld.of(['travel-booking']);
  const id = await world.begin({
    traveller: { name: 'Ana', email: 'ana@example.test' },
    from: 'Hamburg',
    to: 'Lisbon',
    leave: '2030-05-02',
    nights: 3,
    folder,
    faults: faults as unknown as JsonObject[],
    ...changes,
  });
  return {
    id,
    world,
    end: () => world.end(id),
    undone: () => world.done.filter((step) => step.startsWith('undo')),
    bookings: () => {
      const database = new Database(join(folder, 'travel.db'), { readonly: true });
      try {
        const rows = database.prepare('SELECT kind, state FROM booking ORDER BY rowid').all() as {
          kind: string;
          state: string;
        }[];
        return rows.map(({ kind, state }) => `${kind} ${state}`);
      } finally {
        database.close();
      }
    },
    statement: () => readFileSync(join(folder, 'trips', `${id}.md`), 'utf8'),
    letters: () =>
      readdirSync(join(folder, 'mail'))
        .map((name) => name.replace(/-[0-9a-f]+\.eml$/, ''))
        .sort(),
  };
}

describe('a trip', () => {
  test('is booked as a whole', async () => {
    const { end, bookings, statement, letters, undone } = await trip();
    const run = await end();
    expect(run).toMatchObject({
      status: 'completed',
      rollbackStatus: null,
      output: {
        flight: expect.stringMatching(/^flight-/),
        hotel: expect.stringMatching(/^hotel-/),
        car: expect.stringMatching(/^car-/),
        priceCents: 18_000 + 3 * 9_500 + 4 * 4_000,
      },
    });
    expect(bookings()).toEqual(['flight booked', 'hotel booked', 'car booked']);
    expect(undone()).toEqual([]);
    expect(statement()).toContain('# Trip of Ana: completed');
    expect(statement()).toContain('To pay: 625.00');
    expect(letters()).toEqual(['trip-booked']);
  });

  test('is booked once, though agencies fall over and lose their answers', async () => {
    const { end, bookings, world } = await trip([
      { call: 'flights.book', do: 'unavailable', times: 2 },
      { call: 'hotels.book', do: 'lose-answer', times: 2 },
    ]);
    expect((await end()).status).toBe('completed');
    expect(bookings()).toEqual(['flight booked', 'hotel booked', 'car booked']);
    expect(world.started.filter((line) => line.startsWith('hotel#'))).toEqual(['hotel#0 1', 'hotel#0 2', 'hotel#0 3']);
  });
});

describe('a booking that fails', () => {
  test.each([
    ['the flight', 'flights.book', [], 'not-applicable', []],
    ['the hotel', 'hotels.book', ['undo flight#0'], 'completed', ['flight cancelled']],
    ['the car', 'cars.book', ['undo hotel#0', 'undo flight#0'], 'completed', ['flight cancelled', 'hotel cancelled']],
  ])('%s: those before it are taken back, the last first', async (_, call, undoneSteps, rollbackStatus, left) => {
    const { end, bookings, undone, statement, letters } = await trip([{ call, do: 'sold-out' }]);
    expect(await end()).toMatchObject({ status: 'failed', rollbackStatus, error: { name: 'SoldOut', attempt: 1 } });
    expect(undone()).toEqual(undoneSteps);
    expect(bookings()).toEqual(left);
    expect(statement()).toContain('# Trip of Ana: failed');
    expect(statement()).toContain('To pay: 0.00');
    expect(letters()).toEqual(['trip-failed']);
  });

  test('without anybody knowing whether it was made is looked up and taken back itself', async () => {
    const { end, bookings, undone } = await trip([{ call: 'cars.book', do: 'lose-answer', times: 3 }]);
    expect(await end()).toMatchObject({ status: 'failed', error: { name: 'ProviderUnavailable', attempt: 3 } });
    expect(undone()).toEqual(['undo car#0', 'undo hotel#0', 'undo flight#0']);
    expect(bookings()).toEqual(['flight cancelled', 'hotel cancelled', 'car cancelled']);
  });

  test('without anything having been booked has nothing to take back, but asks', async () => {
    const { end, bookings, undone } = await trip([{ call: 'cars.book', do: 'unavailable', times: 3 }]);
    expect(await end()).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(undone()).toEqual(['undo car#0', 'undo hotel#0', 'undo flight#0']);
    expect(bookings()).toEqual(['flight cancelled', 'hotel cancelled']);
  });
});

describe('taking a booking back', () => {
  const soldOut: Fault = { call: 'cars.book', do: 'sold-out' };

  test('is tried again until it works', async () => {
    const { end, bookings, undone } = await trip([soldOut, { call: 'hotels.cancel', do: 'unavailable', times: 4 }]);
    expect(await end()).toMatchObject({ status: 'failed', rollbackStatus: 'completed', error: { name: 'SoldOut' } });
    expect(undone()).toEqual(['undo hotel#0', 'undo flight#0']);
    expect(bookings()).toEqual(['flight cancelled', 'hotel cancelled']);
  });

  test('that never works leaves the run stuck, and the flight as it is, until an operator goes on', async () => {
    const { id, world, end, bookings, letters } = await trip([
      soldOut,
      { call: 'hotels.cancel', do: 'unavailable', times: 5 },
    ]);
    await world.pass(24 * hour);
    expect(await world.engine.getRun(id)).toMatchObject({ status: 'compensation-stuck' });
    expect(bookings()).toEqual(['flight booked', 'hotel booked']);
    await world.engine.resumeCompensation(id);
    expect(await end()).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(bookings()).toEqual(['flight cancelled', 'hotel cancelled']);
    expect(letters()).toEqual(['trip-failed']);
  });

  test('can be given up: what is left stays booked, and the statement says so', async () => {
    const { id, world, end, bookings, statement } = await trip([
      soldOut,
      { call: 'hotels.cancel', do: 'unavailable', times: 99 },
    ]);
    await world.pass(24 * hour);
    await world.engine.abandonCompensation(id);
    expect(await end()).toMatchObject({ status: 'failed', rollbackStatus: 'abandoned' });
    expect(bookings()).toEqual(['flight booked', 'hotel booked']);
    expect(statement()).toContain('To pay: 465.00');
  });
});

describe('an expensive trip', () => {
  const expensive = { nights: 10 };

  test('waits for its traveller and is kept when she confirms', async () => {
    const { id, world, end, bookings, letters } = await trip([], expensive);
    await world.pass(9 * hour);
    expect(letters()).toEqual(['please-confirm', 'still-to-confirm']);
    await world.engine.signal(id, 'confirm', { confirmed: true });
    expect((await end()).output).toMatchObject({ priceCents: 18_000 + 10 * 9_500 + 11 * 4_000 });
    expect(bookings()).toEqual(['flight booked', 'hotel booked', 'car booked']);
  });

  test.each([
    ['she does not want it', { confirmed: false }, 1],
    ['she says nothing for a day', undefined, 24 * hour],
  ])('is taken back when %s', async (_, answer, lasts) => {
    const { id, world, end, bookings } = await trip([], expensive);
    if (answer !== undefined) await world.engine.signal(id, 'confirm', answer);
    const run = await end();
    expect(run).toMatchObject({
      status: 'failed',
      error: { name: 'NotConfirmed', details: { priceCents: 157_000 } },
      rollbackStatus: 'completed',
    });
    expect(FlowWorld.duration(run)).toBe(lasts);
    expect(bookings()).toEqual(['flight cancelled', 'hotel cancelled', 'car cancelled']);
  });

  test('that is cancelled is taken back, and says what is left', async () => {
    const { id, world, end, bookings, undone, statement, letters } = await trip([], expensive);
    await world.pass(hour);
    await world.engine.cancel(id);
    expect(await end()).toMatchObject({ status: 'cancelled', rollbackStatus: 'completed' });
    expect(undone()).toEqual(['undo car#0', 'undo hotel#0', 'undo flight#0']);
    expect(bookings()).toEqual(['flight cancelled', 'hotel cancelled', 'car cancelled']);
    expect(statement()).toContain('# Trip of Ana: cancelled');
    expect(letters()).toEqual(['please-confirm']);
  });
});
