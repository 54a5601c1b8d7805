import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const storage = fileURLToPath(new URL('../../src/storage/index.ts', import.meta.url));

/** Which of the two moments finds the database driver loaded, in a process of its own. */
const program = `
  import { createJiti } from 'jiti';
  const isLoaded = () => process.report.getReport().sharedObjects.some((path) => path.includes('better_sqlite3'));
  const { SqliteStorage } = await createJiti(process.argv[1]).import(process.argv[1]);
  const storage = new SqliteStorage(':memory:');
  const before = isLoaded();
  await storage.open();
  console.log(JSON.stringify([before, isLoaded()]));
  await storage.close();`;

test('the database driver is loaded when a SqliteStorage is opened, not before', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program, storage], { encoding: 'utf8' });
  expect(JSON.parse(output)).toEqual([false, true]);
});
