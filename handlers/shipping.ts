import { join } from 'node:path';
import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { once, undoOnce } from './_database.js';
import { shortHash, writeWhole } from './_files.js';
import { openShop } from './_shop.js';

/** Where a parcel is: each look at it is a scan, and each scan finds it one station further. */
const stations = ['booked', 'picked-up', 'in-transit', 'delivered'] as const;

const book = defineHandler({
  name: 'shipping.book',
  description: 'Books the transport of an order.',
  input: z.strictObject({ folder: z.string(), orderId: z.string(), parcels: z.int().positive() }),
  output: z.object({ trackingNumber: z.string() }),
  run({ input: { folder, orderId, parcels }, idempotencyKey }) {
    const shop = openShop(folder);
    return once(shop, idempotencyKey, { orderId, parcels }, () => {
      const trackingNumber = `trk-${shortHash(idempotencyKey)}`;
      shop
        .prepare('INSERT INTO parcel (tracking, order_id, parcels) VALUES (?, ?, ?)')
        .run(trackingNumber, orderId, parcels);
      return { trackingNumber };
    });
  },
});

const status = defineHandler({
  name: 'shipping.status',
  description: 'Looks where a parcel is.',
  input: z.strictObject({ folder: z.string(), tracking: z.string() }),
  output: z.object({ state: z.enum(stations), scans: z.int() }),
  errors: ['UnknownParcel'],
  run({ input: { folder, tracking }, idempotencyKey }) {
    const shop = openShop(folder);
    return once(shop, idempotencyKey, { tracking }, () => {
      const row = shop
        .prepare('UPDATE parcel SET scans = scans + 1 WHERE tracking = ? RETURNING scans')
        .get(tracking) as { scans: number } | undefined;
      if (row === undefined) throw new NonRetryableError(`there is no parcel ${tracking}`, { name: 'UnknownParcel' });
      return { state: stations[row.scans] ?? 'delivered', scans: row.scans };
    });
  },
});

const cancel = defineHandler({
  name: 'shipping.cancel',
  description: 'Takes the booking of a transport back.',
  input: z.strictObject({
    folder: z.string(),
    tracking: z.string().nullable().describe('null in a reversal that does not know whether there is a booking'),
  }),
  output: z.object({ cancelled: z.boolean().describe('false: there was no booking') }),
  run({ input: { folder, tracking }, idempotencyKey, forwardIdempotencyKey }) {
    const shop = openShop(folder);
    const undoing = { key: idempotencyKey, forwardKey: forwardIdempotencyKey, request: { tracking } };
    return undoOnce(shop, undoing, (booked: { trackingNumber: string } | undefined) => {
      const number = tracking ?? booked?.trackingNumber ?? null;
      return { cancelled: shop.prepare('DELETE FROM parcel WHERE tracking = ?').run(number).changes > 0 };
    });
  },
});

const label = defineHandler({
  name: 'shipping.label',
  description: 'Writes the label of one parcel.',
  input: z.strictObject({ folder: z.string(), tracking: z.string(), parcel: z.int().min(1), parcels: z.int().min(1) }),
  output: z.object({ file: z.string() }),
  async run({ input: { folder, tracking, parcel, parcels }, idempotencyKey }) {
    const file = join(folder, 'labels', `${tracking}-${parcel}.txt`);
    await writeWhole(file, `${tracking}\nparcel ${parcel} of ${parcels}\n`, idempotencyKey);
    return { file };
  },
});

/** What fits into the van that comes by. */
const vanHolds = 20;

const pickUp = defineHandler({
  name: 'shipping.pick-up',
  description: 'Orders the van that takes the parcels of a booking.',
  input: z.strictObject({ folder: z.string(), tracking: z.string(), parcels: z.int().positive() }),
  output: z.object({ van: z.string() }),
  errors: ['TooManyParcels'],
  run({ input: { folder, tracking, parcels }, idempotencyKey }) {
    if (parcels > vanHolds) {
      throw new NonRetryableError(`the van holds ${vanHolds} parcels, not ${parcels}`, { name: 'TooManyParcels' });
    }
    return once(openShop(folder), idempotencyKey, { tracking, parcels }, () => ({
      van: `van-${shortHash(idempotencyKey)}`,
    }));
  },
});

export default [book, cancel, label, pickUp, status];
