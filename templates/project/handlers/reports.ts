import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { defineHandler } from 'runsheet';
import { z } from 'zod';

export default defineHandler({
  name: 'reports.write',
  description: 'Writes the report into a file.',
  input: z.strictObject({
    file: z.string(),
    sales: z.array(z.object({ shop: z.string(), amount: z.number() })),
    total: z.number(),
    verdict: z.string(),
  }),
  output: z.object({ file: z.string() }),
  async run({ input: { file, sales, total, verdict } }) {
    const lines = sales.map(({ shop, amount }) => `${shop}: ${amount}`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, [...lines, `total: ${total}, ${verdict}`, ''].join('\n'));
    return { file };
  },
});
