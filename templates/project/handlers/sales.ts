import { readFile } from 'node:fs/promises';
import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';

export default defineHandler({
  name: 'sales.read',
  description: 'What a shop sold in a week, from the file of its till.',
  input: z.strictObject({ shop: z.string(), week: z.string() }),
  output: z.object({ shop: z.string(), amount: z.number() }),
  errors: ['ShopClosed', 'TillBusy'],
  async run({ input: { shop, week } }) {
    const till = JSON.parse(await readFile(`data/${shop}.json`, 'utf8')) as Record<string, number>;
    const amount = till[week];
    if (amount === undefined) throw new NonRetryableError(`${shop} sold nothing in ${week}`, { name: 'ShopClosed' });
    return { shop, amount };
  },
});
