import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { once } from './_database.js';
import { shortHash } from './_files.js';
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

export default [book, status];
