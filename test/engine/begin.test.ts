import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Engine, type EngineOptions, MemoryStorage, SqliteStorage, type Storage, createEngine } from 'runsheet';
import { VirtualClock } from 'runsheet/testing';
import { definitionOf, gate, scripted } from '../support/flow.js';

/** An engine with a slot free begins a new run with the transaction that inserts it. */

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function inFile(): SqliteStorage {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-begin-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  return new SqliteStorage(join(folder, 'runs.db'), { durability: 'process' });
}

const threeSteps = definitionOf(`steps: [{ id: a, step: h }, { id: b, step: h }, { id: c, step: h }]`);

async function started(options: Partial<EngineOptions> & { storage: Storage }): Promise<Engine> {
  const engine = createEngine({ definitions: [threeSteps], handlers: scripted({ h: () => 1 }), ...options });
  closing.push(() => engine.close({ graceMs: 0 }));
  await engine.start();
  // It looks around first: until then what is enqueued is claimed in its turn.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return engine;
}

/** Which writes of runs were asked for, in order. */
function watch(storage: Storage): string[] {
  const seen: string[] = [];
  for (const method of ['enqueueRun', 'startRun', 'commitUnits'] as const) {
    const original = storage[method].bind(storage) as (...args: unknown[]) => unknown;
    Object.assign(storage, { [method]: (...args: unknown[]) => (seen.push(method), original(...args)) });
  }
  return seen;
}

describe.each([
  ['memory', () => new MemoryStorage()],
  ['a SQLite file', inFile],
])('over %s', (_, make) => {
  it('three steps cost four transactions, whoever came before', async () => {
    const storage = make();
    const engine = await started({ storage });
    const seen = watch(storage);
    for (let round = 0; round < 3; round += 1) {
      const { id, status } = await engine.enqueue('flow');
      expect(status).toBe('pending');
      expect((await engine.result(id)).status).toBe('completed');
    }
    const each = ['startRun', 'commitUnits', 'commitUnits', 'commitUnits'];
    expect(seen).toEqual([...each, ...each, ...each]);
  });

  it.each([1, 3])('with %i slots nothing is left lying, however runs follow one another', async (concurrency) => {
    const engine = await started({ storage: make(), concurrency });
    const one = async (): Promise<void> => {
      for (let round = 0; round < 15; round += 1) {
        const { id } = await engine.enqueue('flow');
        expect((await engine.result(id)).status).toBe('completed');
      }
    };
    await Promise.all(Array.from({ length: 5 }, one));
  });

  it('a key that is taken gives the run that has it', async () => {
    const engine = await started({ storage: make(), concurrency: 5 });
    const runs = await Promise.all(Array.from({ length: 4 }, () => engine.enqueue('flow', {}, { key: 'the one' })));
    expect(new Set(runs.map(({ id }) => id)).size).toBe(1);
    await engine.result(runs[0]?.id ?? '');
    expect((await engine.listRuns()).runs).toHaveLength(1);
  });

  it('one that ends at its first standstill has begun and ended when it is enqueued', async () => {
    const storage = make();
    const engine = await started({
      storage,
      definitions: [definitionOf(`steps: [{ id: s, set: { n: 1 } }]\noutput: =$steps.s.n`)],
    });
    const seen = watch(storage);
    const { id } = await engine.enqueue('flow');
    expect(await engine.getRun(id)).toMatchObject({ status: 'completed', output: 1 });
    expect(seen).toEqual(['startRun']);
  });

  it('one that waits first is parked by the transaction that inserts it', async () => {
    const clock = new VirtualClock();
    const storage = make();
    const child = definitionOf('steps: [{ step: h }]', 'child');
    const parent = definitionOf(
      `steps: [{ parallel: { a: [{ sleep: 1h }], b: [{ waitFor: go, timeout: 2h }], c: [{ subWorkflow: child }] } }]`,
    );
    const engine = await started({ storage, clock, definitions: [parent, child], concurrency: 2 });
    await clock.rest();
    const seen = watch(storage);
    const { id } = await engine.enqueue('flow');
    expect(seen[0]).toBe('startRun');
    expect(await storage.getRun(id)).toMatchObject({ status: 'waiting', owner: null, dueAt: clock.now() + 3_600_000 });
    await engine.signal(id, 'go');
    expect(await clock.until(engine.result(id))).toMatchObject({ status: 'completed' });
    expect(await storage.listChildren(id)).toMatchObject([{ status: 'completed', parentId: id }]);
    expect(seen).not.toContain('enqueueRun');
  });

  it('one that is to start later is not begun before', async () => {
    const clock = new VirtualClock();
    const storage = make();
    const engine = await started({ storage, clock });
    await clock.rest();
    const seen = watch(storage);
    const at = clock.now() + 60_000;
    const { id } = await engine.enqueue('flow', {}, { at });
    expect(seen).toEqual(['enqueueRun']);
    expect(await storage.getRun(id)).toMatchObject({ status: 'pending', dueAt: at, startedAt: null });
    expect(await clock.until(engine.result(id))).toMatchObject({ status: 'completed', startedAt: at });
  });

  it('past the limit of its workflow a run waits for its turn', async () => {
    const door = gate();
    const limited = definitionOf(`concurrency: 1\nsteps: [{ step: h }]`);
    const storage = make();
    const engine = await started({
      storage,
      definitions: [limited],
      concurrency: 5,
      handlers: scripted({ h: () => door.promise }),
    });
    const runs = [await engine.enqueue('flow'), await engine.enqueue('flow')];
    const statuses = await Promise.all(runs.map(async ({ id }) => (await engine.getRun(id)).status));
    expect(statuses).toEqual(['running', 'pending']);
    door.open();
    for (const { id } of runs) expect((await engine.result(id)).status).toBe('completed');
  });
});

it('an older run of which the engine has not heard yet comes first', async () => {
  const storage = new MemoryStorage();
  const order: string[] = [];
  const definition = definitionOf('steps: [{ step: h }]');
  const handlers = scripted({ h: (_, { run }) => void order.push(run.id) });
  const engine = await started({ storage, definitions: [definition], handlers });
  const { name: workflow, revision, hash: definitionHash } = definition;
  const now = Date.now();
  const older = { workflow, revision, definitionHash, key: null, input: '{}', createdAt: now, dueAt: now };
  await storage.enqueueRun({ id: 'wf_older', ...older });
  const { id } = await engine.enqueue('flow');
  await engine.result(id);
  expect(order).toEqual(['wf_older', id]);
});
