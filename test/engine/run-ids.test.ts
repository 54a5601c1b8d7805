import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { NonRetryableError, SqliteStorage, type Storage } from '../../src/index.js';
import { World, codeOf } from '../support/world.js';

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function aFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-'));
  folders.push(folder);
  return join(folder, 'runs.db');
}

async function withStorage<T>(path: string, use: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = new SqliteStorage(path);
  await storage.open();
  try {
    return await use(storage);
  } finally {
    await storage.close();
  }
}

const parent = `
workflow: flow
input: { n: { type: integer, default: 1 } }
steps:
  - { step: before }
  - forEach: [1, 2]
    as: each
    do: [{ id: child, subWorkflow: child }]
`;
const child = `workflow: child\nsteps: [{ subWorkflow: grandchild }, { step: ship }]`;
const grandchild = `workflow: grandchild\nsteps: [{ step: charge }]`;
const done = () => 'done';
const handlers = { before: done, charge: done, ship: done };

/** Ids, then the idempotency keys of all calls. */
async function runOnce(storage: Storage, key: string): Promise<string[]> {
  const world = new World([parent, child, grandchild], handlers, { storage });
  const id = await world.begin({}, { key });
  await world.end(id);
  await world.engine.stop();
  return [id, ...world.calls.map(({ context }) => context.idempotencyKey)];
}

describe('after a backup was put back', () => {
  it('a run started again by its key does the same under the same idempotency keys, down to its grandchildren', async () => {
    const path = aFile();
    await withStorage(path, () => Promise.resolve());
    copyFileSync(path, `${path}-backup`);
    const first = await withStorage(path, (storage) => runOnce(storage, 'order-42'));
    copyFileSync(`${path}-backup`, path);
    const again = await withStorage(path, (storage) => runOnce(storage, 'order-42'));
    expect(first).toHaveLength(6);
    expect(new Set(first).size).toBe(6);
    expect(again).toEqual(first);
  });

  it('a schedule that fires again starts the same run', async () => {
    const path = aFile();
    const flow = 'workflow: flow\nschedule: [{ every: 1h }]\nsteps: [{ step: note }]';
    const fire = (storage: Storage) => async () => {
      const world = new World(flow, { note: done }, { storage });
      await world.engine.start();
      await world.pass(3_600_000 * 1.5);
      const { runs } = await world.engine.listRuns();
      await world.engine.stop();
      return runs.map(({ id }) => id);
    };
    // Registered before the backup, so that the schedule counts from the same moment.
    await withStorage(path, async (storage) => {
      const world = new World(flow, { note: done }, { storage });
      await world.engine.listRuns();
      await world.engine.stop();
    });
    copyFileSync(path, `${path}-backup`);
    const first = await withStorage(path, (storage) => fire(storage)());
    copyFileSync(`${path}-backup`, path);
    const again = await withStorage(path, (storage) => fire(storage)());
    expect(first).toHaveLength(1);
    expect(again).toEqual(first);
  });
});

describe('ids of runs', () => {
  it('of the same key differ between workflows, keys and databases', async () => {
    const ids = new Set<string>();
    for (const path of [aFile(), aFile()]) {
      await withStorage(path, async (storage) => {
        const other = 'workflow: other\nsteps: [{ set: 1 }]';
        const { engine } = new World([other, other.replace('other', 'flow')], {}, { storage });
        for (const workflow of ['flow', 'other']) {
          for (const key of ['a', 'b']) ids.add((await engine.enqueue(workflow, {}, { key })).id);
        }
      });
    }
    expect(ids.size).toBe(8);
  });

  it('without a key are random', async () => {
    const { engine } = new World('workflow: flow\nsteps: [{ set: 1 }]', {});
    expect((await engine.enqueue('flow')).id).not.toBe((await engine.enqueue('flow')).id);
  });

  it('a key that its run passed on to a successor which is gone is taken by a run with another id', async () => {
    let broken = true;
    const fails = () => {
      if (broken) throw new NonRetryableError('down');
    };
    const world = new World('workflow: flow\nsteps: [{ step: a }]', { a: fails });
    const id = await world.begin({}, { key: 'k' });
    await world.end(id);
    broken = false;
    const { id: successor } = await world.engine.resume(id);
    await world.end(successor);
    expect(await world.engine.cleanup(0, ['completed'])).toBe(1);
    const { id: third } = await world.engine.enqueue('flow', {}, { key: 'k' });
    expect(new Set([id, successor, third]).size).toBe(3);
    expect((await world.end(third)).status).toBe('completed');
    expect((await world.engine.enqueue('flow', {}, { key: 'k' })).id).toBe(third);
  });

  it('the same key from many callers at once is one run, done once', async () => {
    const world = new World(
      'workflow: flow\nsteps: [{ step: a }, { sleep: 1s }, { step: a }]',
      { a: done },
      { concurrency: 4 },
    );
    await world.engine.start();
    const starts = Array.from({ length: 8 }, () => world.engine.enqueue('flow', {}, { key: 'k' }));
    const [first, ...others] = await Promise.all(starts);
    expect(others.every(({ id }) => id === first?.id)).toBe(true);
    await world.pass(5000);
    expect((await world.engine.getRun(first?.id ?? '')).status).toBe('completed');
    expect(world.calls).toHaveLength(2);
    await world.engine.stop();
  });
});

describe('resuming the parent of a child that undid itself', () => {
  const parentFlow = `workflow: flow\nsteps: [{ subWorkflow: child }]`;
  const steps = (first: string) =>
    `workflow: child\nsteps: [${first}, { step: b, compensate: { step: undo } }, { step: c, retry: { attempts: 1 } }]`;
  const fails = () => {
    throw new NonRetryableError('down');
  };

  it('is refused where the child did something that it could not undo', async () => {
    const world = new World([parentFlow, steps('{ step: mail }')], { mail: done, b: done, undo: done, c: fails });
    const id = await world.begin();
    expect(await world.end(id)).toMatchObject({ status: 'failed' });
    expect(await codeOf(world.engine.resume(id))).toBe('RS_RUN_NOT_RESUMABLE');
    expect(world.names).toEqual(['mail', 'b', 'c', 'undo']);
  });
});
