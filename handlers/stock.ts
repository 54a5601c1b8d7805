import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { once, undoOnce } from './_database.js';
import { shortHash } from './_files.js';
import { addUpItems, itemSchema, openShop } from './_shop.js';

const receive = defineHandler({
  name: 'stock.receive',
  description: 'Books goods that have arrived.',
  input: z.strictObject({ folder: z.string(), items: z.array(itemSchema) }),
  output: z.object({ articles: z.int() }),
  run({ input: { folder, items }, idempotencyKey }) {
    const shop = openShop(folder);
    return once(shop, idempotencyKey, items, () => {
      const add = shop.prepare(
        'INSERT INTO stock (sku, quantity) VALUES (?, ?) ON CONFLICT (sku) DO UPDATE SET quantity = quantity + excluded.quantity',
      );
      const quantities = addUpItems(items);
      for (const [sku, quantity] of quantities) add.run(sku, quantity);
      return { articles: quantities.size };
    });
  },
});

const reserve = defineHandler({
  name: 'stock.reserve',
  description: 'Sets the goods of an order aside: all of them or none.',
  input: z.strictObject({ folder: z.string(), orderId: z.string(), items: z.array(itemSchema).min(1) }),
  output: z.object({ reservationId: z.string() }),
  errors: ['OutOfStock'],
  run({ input: { folder, orderId, items }, idempotencyKey }) {
    const shop = openShop(folder);
    return once(shop, idempotencyKey, { orderId, items }, () => {
      const reservationId = `res-${shortHash(idempotencyKey)}`;
      const take = shop.prepare(
        'UPDATE stock SET quantity = quantity - @quantity WHERE sku = @sku AND quantity >= @quantity',
      );
      const note = shop.prepare('INSERT INTO reservation (id, order_id, sku, reserved) VALUES (?, ?, ?, ?)');
      const missing: string[] = [];
      for (const [sku, quantity] of addUpItems(items)) {
        if (take.run({ sku, quantity }).changes === 0) missing.push(sku);
        else note.run(reservationId, orderId, sku, quantity);
      }
      // Thrown inside the transaction, so that what was taken before goes back.
      if (missing.length > 0) {
        throw new NonRetryableError(`not enough of ${missing.join(', ')}`, {
          name: 'OutOfStock',
          details: { missing },
        });
      }
      return { reservationId };
    });
  },
});

const pick = defineHandler({
  name: 'stock.pick',
  description: 'Takes reserved goods off the shelf.',
  input: z.strictObject({ folder: z.string(), reservation: z.string(), sku: z.string(), quantity: z.int().positive() }),
  output: z.object({ sku: z.string(), picked: z.int(), left: z.int().describe('reserved and still on the shelf') }),
  errors: ['NotReserved'],
  run({ input: { folder, reservation, sku, quantity }, idempotencyKey }) {
    const shop = openShop(folder);
    return once(shop, idempotencyKey, { reservation, sku, quantity }, () => {
      const { changes } = shop
        .prepare(
          'UPDATE reservation SET picked = picked + @quantity WHERE id = @reservation AND sku = @sku AND picked + @quantity <= reserved',
        )
        .run({ reservation, sku, quantity });
      if (changes === 0) throw new NonRetryableError(`${quantity} of ${sku} are not reserved`, { name: 'NotReserved' });
      const { left } = shop
        .prepare('SELECT reserved - picked AS left FROM reservation WHERE id = ? AND sku = ?')
        .get(reservation, sku) as {
        left: number;
      };
      return { sku, picked: quantity, left };
    });
  },
});

const release = defineHandler({
  name: 'stock.release',
  description: 'Puts the goods of a reservation back into the stock, picked ones included.',
  input: z.strictObject({
    folder: z.string(),
    reservation: z.string().nullable().describe('null in a reversal that does not know whether there is one'),
  }),
  output: z.object({ articles: z.int() }),
  run({ input: { folder, reservation }, idempotencyKey, forwardIdempotencyKey }) {
    const shop = openShop(folder);
    const undoing = { key: idempotencyKey, forwardKey: forwardIdempotencyKey, request: { reservation } };
    return undoOnce(shop, undoing, (reserved: { reservationId: string } | undefined) => {
      const id = reservation ?? reserved?.reservationId ?? null;
      shop
        .prepare(
          `UPDATE stock SET quantity = quantity + (SELECT reserved FROM reservation WHERE id = @id AND sku = stock.sku)
           WHERE sku IN (SELECT sku FROM reservation WHERE id = @id)`,
        )
        .run({ id });
      return { articles: shop.prepare('DELETE FROM reservation WHERE id = ?').run(id).changes };
    });
  },
});

export default [receive, reserve, pick, release];
