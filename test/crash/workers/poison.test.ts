import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../flows-support/temporary-folder.js';
import { CallDesk } from './call-desk.js';
import { WatchedDatabase } from './watched-database.js';
import { WorkerProcess } from './worker-process.js';

const poison = `
workflow: poison
input: { address: { type: string } }
defaults: { timeout: 1000h }
steps:
  - id: before
    step: desk.call
    with: { address: =$input.address, label: before }
    compensate:
      step: desk.call
      with: { address: =$input.address, label: undone }
      timeout: 1000h
  - id: fatal
    step: process.kill
`;

const healthy = `
workflow: healthy
input: { address: { type: string } }
defaults: { timeout: 1000h }
steps:
  - id: turns
    forEach: [1, 2, 3]
    as: turn
    do:
      - id: work
        step: desk.call
        with: { address: =$input.address, label: =$run.id & " " & $turn }
`;

/** Half an hour of back-off is over in three seconds. */
const factor = 600;
/** Perhaps beside others, then alone. */
const deathsBeside = 3;
const deathsAlone = 10;

interface Death {
  readonly poison: boolean;
  /** How many healthy runs the process took along. */
  readonly neighbours: number;
}

test(
  'a run that kills its process again and again fails in the end, and takes nobody along',
  { timeout: 30 * 60_000 },
  async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'runs.db');
    const flows = Object.entries({ poison, healthy }).map(([name, text]) => {
      const file = join(folder, `${name}.yaml`);
      writeFileSync(file, text);
      return file;
    });
    const pace = { since: Date.now(), factor };
    const desk = await CallDesk.open((call) => void setTimeout(() => call.answer(), 40));
    const order = {
      database: path,
      flows,
      faster: pace,
      // It watches by triggers.
      storage: { durability: 'power' as const, trustSchema: true },
      // As long as the test, or longer: that nobody heard of a death in time shall not be of any help.
      engine: { concurrency: 2, runLeaseDurationMs: 30 * 60_000 * factor },
    };
    const outside = await WorkerProcess.begin({ ...order, name: 'outside' });
    await outside.ask('listRuns');
    const database = new WatchedDatabase(path, 'healthy', pace);
    const enqueue = async (workflow: string): Promise<string> =>
      (await outside.ask('enqueue', workflow, { address: desk.address })).id;

    let deathsSeen = 0;
    let poisonId = '';
    let ending = false;
    const faults: string[] = [];
    /** A worker that has a successor at once whenever it is killed. */
    const supervised = async (name: string): Promise<void> => {
      const begin = (): Promise<WorkerProcess> => {
        const beginning = WorkerProcess.begin({ ...order, name });
        // The last one is not needed any more, and may be killed before it has begun.
        beginning.catch(() => {});
        return beginning;
      };
      let next = begin();
      while (!ending) {
        const worker = await next;
        next = begin();
        await worker.ask('recover');
        await worker.ask('start');
        const end = await Promise.race([worker.exited, until(() => ending)]);
        if (end === undefined) await worker.end();
        else {
          expect(end).toBe('SIGKILL');
          deathsSeen += 1;
        }
        faults.push(...worker.faults);
      }
    };

    const supervision = Promise.all([supervised('one'), supervised('two')]);
    const neighbours = [await enqueue('healthy'), await enqueue('healthy'), await enqueue('healthy')];
    poisonId = await enqueue('poison');
    const poisoned = outside.ask('result', poisonId);
    let over = false;
    const finished = poisoned.finally(() => (over = true));
    // There always is a healthy one beside it, at least one for each death.
    for (let seen = 0; !over; seen = deathsSeen) {
      neighbours.push(await enqueue('healthy'));
      await Promise.race([delay(300), until(() => over || deathsSeen > seen)]);
    }

    expect(await finished).toMatchObject({
      status: 'failed',
      rollbackStatus: 'completed',
      error: { name: 'Interrupted' },
    });
    for (const id of neighbours) {
      expect(await outside.ask('result', id)).toMatchObject({ status: 'completed', error: null });
    }
    ending = true;
    await supervision;
    await outside.end();
    expect(faults).toEqual([]);

    const deaths = deathsIn(database, poisonId);
    expect(deathsSeen).toBe(deaths.length);
    expect(deaths).toHaveLength(deathsBeside + deathsAlone);
    expect(deaths.every(({ poison }) => poison)).toBe(true);
    expect(deaths.slice(deathsBeside).map(({ neighbours }) => neighbours)).toEqual(Array(deathsAlone).fill(0));
    expect(neighbours.length).toBeGreaterThan(deaths.length);
    // Nothing of the healthy was repeated but what the first deaths had interrupted, and that under its key.
    const keys = new Set(desk.calls.map(({ key }) => key));
    const taken = deaths.reduce((sum, death) => sum + death.neighbours, 0);
    expect(keys.size).toBe(3 * neighbours.length + 2);
    expect(desk.calls.length - keys.size).toBeLessThanOrEqual(taken);
  },
);

/** In their order: each of the dead left something, which was taken from it at once. */
function deathsIn(database: WatchedDatabase, poisonId: string): Death[] {
  const byOwner = new Map<string, string[]>();
  for (const { owner, id } of database.releases()) byOwner.set(owner, [...(byOwner.get(owner) ?? []), id]);
  return [...byOwner.values()].map((ids) => ({
    poison: ids.includes(poisonId),
    neighbours: ids.filter((id) => id !== poisonId).length,
  }));
}

/** Resolves, with nothing, when that is so. */
async function until(holds: () => boolean): Promise<undefined> {
  while (!holds()) await delay(20);
  return undefined;
}
