import { randomUUID } from 'node:crypto';
import { SqliteStorage, inspectDatabase, writeRefusal } from '../../src/storage/index.js';
import { aRun } from '../../src/testing/storage-cases/case.js';

/** A program that starts one run after the other and says which were acknowledged; `look` has it look at its own database. */
const [path = '', durability = 'power'] = process.argv.slice(2);
const storage = new SqliteStorage(path, { durability: durability === 'power' ? 'power' : 'process' });
await storage.open();
let isAsked = false;
process.stdin.on('data', () => (isAsked = true));
process.stdin.on('end', () => process.exit());
try {
  for (;;) {
    if (isAsked) {
      isAsked = false;
      writeRefusal(path);
      await inspectDatabase(path);
      process.stdout.write('looked\n');
    }
    const { run } = await storage.enqueueRun(aRun({ id: `wf_${randomUUID()}` }));
    process.stdout.write(`${run.id}\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
} catch (error) {
  process.stdout.write(`${error instanceof Error && 'code' in error ? String(error.code) : String(error)}\n`);
  await storage.close();
  process.stdin.destroy();
}
