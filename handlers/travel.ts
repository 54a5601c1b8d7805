import { join } from 'node:path';
import { type Handler, defineHandler } from 'runsheet';
import { z } from 'zod';
import { once, undoOnce } from './_database.js';
import { shortHash, writeWhole } from './_files.js';
import { money, table } from './_markdown.js';
import { callAgency, faultSchema, openTravel } from './_travel.js';

const bookingSchema = z.object({ booking: z.string(), priceCents: z.int() });

/** An agency takes bookings of one kind, and takes them back. */
function agency(kind: 'flight' | 'hotel' | 'car', name: string): Handler[] {
  const book = defineHandler({
    name: `${name}.book`,
    description: `Books a ${kind} for a trip.`,
    input: z.strictObject({
      folder: z.string(),
      trip: z.string().describe('the run that books'),
      what: z.string(),
      priceCents: z.int().nonnegative(),
      faults: z.array(faultSchema),
    }),
    output: bookingSchema,
    errors: ['SoldOut', 'ProviderUnavailable'],
    run({ input: { folder, faults, ...asked }, idempotencyKey: key }) {
      const travel = openTravel(folder);
      const booked = (): z.infer<typeof bookingSchema> => {
        const booking = `${kind}-${shortHash(key)}`;
        travel
          .prepare(
            `INSERT INTO booking (id, trip, kind, what, price_cents, state)
             VALUES (@booking, @trip, @kind, @what, @priceCents, 'booked')`,
          )
          .run({ booking, kind, ...asked });
        return { booking, priceCents: asked.priceCents };
      };
      return callAgency(travel, { name: `${name}.book`, key, faults }, () => once(travel, key, asked, booked));
    },
  });

  const cancel = defineHandler({
    name: `${name}.cancel`,
    description: `Takes the booking of a ${kind} back.`,
    input: z.strictObject({
      folder: z.string(),
      booking: z.string().nullable().describe('null in a reversal that does not know whether there is one'),
      faults: z.array(faultSchema),
    }),
    output: z.object({ cancelled: z.boolean().describe('false: there was no booking') }),
    errors: ['ProviderUnavailable'],
    run({ input: { folder, booking, faults }, idempotencyKey: key, forwardIdempotencyKey: forwardKey }) {
      const travel = openTravel(folder);
      const undo = (booked: z.infer<typeof bookingSchema> | undefined): { cancelled: boolean } => {
        const { changes } = travel
          .prepare(`UPDATE booking SET state = 'cancelled' WHERE id = ? AND state = 'booked'`)
          .run(booking ?? booked?.booking ?? null);
        return { cancelled: changes > 0 };
      };
      return callAgency(travel, { name: `${name}.cancel`, key, faults }, () =>
        undoOnce(travel, { key, forwardKey, request: { booking } }, undo),
      );
    },
  });

  return [book, cancel];
}

const statement = defineHandler({
  name: 'trips.statement',
  description: 'Writes down what is booked for a trip now and what it costs.',
  input: z.strictObject({ folder: z.string(), trip: z.string(), traveller: z.string(), status: z.string() }),
  output: z.object({ file: z.string(), booked: z.int(), priceCents: z.int() }),
  async run({ input: { folder, trip, traveller, status }, idempotencyKey }) {
    const bookings = openTravel(folder)
      .prepare('SELECT kind, what, price_cents AS priceCents, state FROM booking WHERE trip = ? ORDER BY kind')
      .all(trip) as { kind: string; what: string; priceCents: number; state: 'booked' | 'cancelled' }[];
    const booked = bookings.filter(({ state }) => state === 'booked');
    const priceCents = booked.reduce((sum, { priceCents }) => sum + priceCents, 0);
    const text = [
      `# Trip of ${traveller}: ${status}`,
      table(
        ['What', 'For', 'Price', 'State'],
        bookings.map(({ kind, what, priceCents, state }) => [kind, what, money(priceCents), state]),
      ),
      `To pay: ${money(priceCents)}`,
    ].join('\n\n');
    const file = join(folder, 'trips', `${trip}.md`);
    await writeWhole(file, `${text}\n`, idempotencyKey);
    return { file, booked: booked.length, priceCents };
  },
});

export default [...agency('flight', 'flights'), ...agency('hotel', 'hotels'), ...agency('car', 'cars'), statement];
