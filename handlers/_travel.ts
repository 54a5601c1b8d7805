import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { NonRetryableError } from 'runsheet';
import { z } from 'zod';
import { openDatabase } from './_database.js';

/** The books of three travel agencies in one: what is booked for which trip, and which calls they have had. */
const schema = `
  CREATE TABLE IF NOT EXISTS booking (
    id TEXT PRIMARY KEY,
    trip TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('flight', 'hotel', 'car')),
    what TEXT NOT NULL,
    price_cents INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('booked', 'cancelled'))
  );
  CREATE TABLE IF NOT EXISTS call (key TEXT PRIMARY KEY, times INTEGER NOT NULL);`;

export const openTravel = (folder: string): Database.Database => openDatabase(join(folder, 'travel.db'), schema);

/**
 * How an agency fails, for trying flows out. sold-out: refused for good; unavailable: nothing happens;
 * lose-answer: it happens, but the caller is not told.
 */
export const faultSchema = z.strictObject({
  call: z.enum(['flights.book', 'flights.cancel', 'hotels.book', 'hotels.cancel', 'cars.book', 'cars.cancel']),
  do: z.enum(['sold-out', 'unavailable', 'lose-answer']),
  /** How many of the calls under one key it spoils, the first ones; what is sold out stays so. */
  times: z.int().min(1).default(1),
});

export type TravelFault = z.output<typeof faultSchema>;

/**
 * Calls an agency as its faults would have it.
 *
 * @throws NonRetryableError SoldOut: nothing was booked
 * @throws ProviderUnavailable: whether it has done what was asked is not known
 */
export async function callAgency<Answer>(
  database: Database.Database,
  { name, key, faults }: { name: string; key: string; faults: readonly TravelFault[] },
  serve: () => Promise<Answer>,
): Promise<Answer> {
  const { times } = database
    .prepare(
      'INSERT INTO call (key, times) VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET times = times + 1 RETURNING times',
    )
    .get(key) as { times: number };
  const fault = faults.find((one) => one.call === name && (one.do === 'sold-out' || times <= one.times));
  switch (fault?.do) {
    case 'sold-out':
      throw new NonRetryableError(`${name}: there is none left`, { name: 'SoldOut' });
    case 'unavailable':
      throw new ProviderUnavailable(`${name} cannot serve`);
    case 'lose-answer':
      await serve();
      throw new ProviderUnavailable(`${name} broke off before its answer`);
    case undefined:
      return serve();
  }
}

export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
}
