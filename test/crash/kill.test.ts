import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../flows-support/temporary-folder.js';
import { makeOrders } from '../../scripts/make-orders.js';
import { recordedCalls } from './handlers.js';
import { driveThroughKills, randomOf } from './killer.js';
import { expectedOfNested } from './nested-expected.js';

/** `npm run test:crash` asks for more, and may be given another seed. */
const kills = Number(process.env.RUNSHEET_KILLS ?? 20);
const seed = Number(process.env.RUNSHEET_SEED ?? 20_261_129);

/** Runs after runs, each killed a few times, until there were enough kills. */
async function untilKilledEnough(one: (kills: number, random: () => number) => Promise<number>): Promise<void> {
  const random = randomOf(seed);
  for (let killed = 0; killed < kills;) {
    try {
      killed += await one(Math.min(kills - killed, 1 + Math.floor(random() * 8)), random);
    } catch (error) {
      throw new Error(`with RUNSHEET_SEED=${seed}, after ${killed} kills: ${String(error)}`, { cause: error });
    }
  }
}

describe('killed with SIGKILL at random moments and driven on by another process', () => {
  test('nested loops, branches, retries and sleeps come to the same end', { timeout: 60 * 60_000 }, async () => {
    const orders = [4, 1, 2, 9, 6];
    await untilKilledEnough(async (count, random) => {
      const folder = temporaryFolder();
      const file = join(folder, 'calls.jsonl');
      const { run, killed } = await driveThroughKills(
        { folder, flow: 'test/crash/nested.yaml', handlers: 'test/crash/handlers.ts', input: { file, orders } },
        { kills: count, killWithinMs: 500, random },
      );
      const { calls, output } = expectedOfNested(orders);
      expect(run.error).toBeNull();
      expect(run.output).toEqual(output);
      const text = (call: { place: string; attempt: number; input: object }): string => JSON.stringify(call);
      const made = recordedCalls(file).map(({ key, attempt, input }) =>
        text({ place: key.slice(run.id.length + 1), attempt, input }),
      );
      // Repeated is only what was under way when a process was killed: with the same key, attempt and input.
      expect([...new Set(made)].sort()).toEqual(calls.map(text).sort());
      return killed;
    });
  });

  test('the import of a thousand orders comes to the same end', { timeout: 60 * 60_000 }, async () => {
    const { good, bad } = makeOrders();
    await untilKilledEnough(async (count, random) => {
      const folder = temporaryFolder();
      const { run, killed } = await driveThroughKills(
        {
          folder,
          flow: 'definitions/import-orders.yaml',
          handlers: 'handlers',
          input: { file: 'definitions/import-orders.csv', folder },
        },
        { kills: count, killWithinMs: 1500, random },
      );
      expect(run.error).toBeNull();
      expect(run.output).toMatchObject({
        rows: good.length + bad.length,
        imported: good.length,
        rejected: bad.length,
        alreadyThere: 0,
      });
      const database = new Database(join(folder, 'orders.db'), { readonly: true });
      const stored = database.prepare('SELECT count(*) AS count FROM orders').get();
      database.close();
      expect(stored).toEqual({ count: good.length });
      return killed;
    });
  });
});
