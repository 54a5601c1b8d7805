import { fdatasyncSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import {
  type Engine,
  type EngineOptions,
  MemoryStorage,
  RunsheetError,
  SqliteStorage,
  type Storage,
  createEngine,
} from 'runsheet';
import { VirtualClock } from 'runsheet/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/common/index.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';
import { definitionOf, gate, scripted } from '../support/flow.js';

/*
 * What becomes of runs that are begun with the transaction that inserts them when the engine goes down, the storage fails or
 * is slow, or somebody else is quicker. Killed processes: test/crash/begin.test.ts.
 */

const threeSteps = definitionOf(`steps: [{ id: a, step: h }, { id: b, step: h }, { id: c, step: h }]`);

/** As many turns of the event loop as an engine needs to look around. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function engineOver(storage: Storage, options: Partial<EngineOptions> = {}): Engine {
  const engine = createEngine({ storage, definitions: [threeSteps], handlers: scripted({ h: () => 1 }), ...options });
  onTestFinished(() => engine.close({ graceMs: 0 }));
  return engine;
}

/** At work, with nothing to do: what is enqueued is begun. */
async function atRest(storage: Storage, options: Partial<EngineOptions> = {}): Promise<Engine> {
  const engine = engineOver(storage, options);
  await engine.start();
  await (options.clock instanceof VirtualClock ? options.clock.rest() : idle());
  return engine;
}

const told = (promise: Promise<{ id: string }>): Promise<string> =>
  promise.then(
    ({ id }) => id,
    (error: RunsheetError) => error.code,
  );

describe('closed at any moment of a beginning', () => {
  const { name: workflow, revision, hash: definitionHash } = threeSteps;
  const older = { id: 'wf_older', workflow, revision, definitionHash, key: null, input: '{}', createdAt: 1, dueAt: 1 };

  it.each<[string, () => Storage, boolean]>([
    ['memory', () => new MemoryStorage(), false],
    ['memory, where an older run is found due', () => new MemoryStorage(), true],
    ['a file, durability process', () => inFile({ durability: 'process' }), false],
    ['a file, durability power', () => inFile({}), false],
  ])('over %s, the engine hands back what it drives or refuses the run, and says which', async (_, make, isBehind) => {
    const outcomes = new Set<string>();
    for (let turns = 0; turns < 30; turns += 1) {
      const storage = make();
      const engine = await atRest(storage);
      if (isBehind) await storage.enqueueRun(older);
      const answer = told(engine.enqueue('flow'));
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      await engine.close(true);
      const said = await answer;
      await storage.open();
      const { runs } = await storage.listRuns({});
      const isRefused = said === 'RS_ENGINE_STOPPED';
      const expected = [...(isRefused ? [] : [said]), ...(isBehind ? [older.id] : [])];
      expect(runs, `after ${turns} turns`).toMatchObject(
        expected.map((id) => ({ id, owner: null, leaseExpiresAt: null, interruptions: 0 })),
      );
      outcomes.add(isRefused ? 'refused' : 'answered').add((runs.at(-1)?.epoch ?? 0) > 0 ? 'begun' : 'not begun');
      const next = await atRest(storage);
      for (const id of expected) expect(await next.result(id)).toMatchObject({ status: 'completed' });
      await next.close();
    }
    expect([...outcomes]).toEqual(expect.arrayContaining(['answered', 'begun', 'not begun']));
  });
});

function inFile(options: ConstructorParameters<typeof SqliteStorage>[1]): SqliteStorage {
  return new SqliteStorage(join(temporaryFolder(), 'runs.db'), options);
}

/** Shows at once what a start has written, and acknowledges it so much later. */
class SlowToAcknowledge extends MemoryStorage {
  constructor(
    readonly clock: VirtualClock,
    readonly byMs: number,
  ) {
    super();
  }

  override async startRun(...args: Parameters<MemoryStorage['startRun']>): ReturnType<MemoryStorage['startRun']> {
    const started = await super.startRun(...args);
    await new Promise<void>((resolve) => void this.clock.setTimer(this.byMs, resolve));
    return started;
  }
}

describe('over a storage that is slow to acknowledge', () => {
  it('no handler is called, and nobody is answered, before the start is acknowledged', async () => {
    const clock = new VirtualClock();
    const calls: number[] = [];
    const handlers = scripted({ h: () => void calls.push(clock.monotonic()) });
    const engine = await atRest(new SlowToAcknowledge(clock, 100), { clock, handlers });
    const { id } = await clock.until(engine.enqueue('flow'));
    expect(clock.monotonic()).toBe(100);
    await clock.until(engine.result(id));
    expect(calls).toEqual([100, 100, 100]);
  });

  it('stopped without patience, the engine still answers with the run that it has begun', async () => {
    const clock = new VirtualClock();
    const storage = new SlowToAcknowledge(clock, 60_000);
    const engine = await atRest(storage, { clock, abortGraceMs: 10 });
    const answer = told(engine.enqueue('flow'));
    await clock.rest();
    await clock.until(engine.stop({ graceMs: 0 }));
    const { runs } = await storage.listRuns({});
    expect(runs.map(({ id }) => id)).toEqual([await answer]);
    const next = await atRest(storage, { clock });
    expect(await clock.until(next.result(await answer))).toMatchObject({ status: 'completed' });
  });

  it('a run that its first unit parks, and that goes on before that is acknowledged, keeps its lease, and goes on once', async () => {
    const clock = new VirtualClock();
    const calls: string[] = [];
    const storage = new SlowToAcknowledge(clock, 1000);
    const work = async (key: string): Promise<void> => {
      calls.push(key);
      await new Promise<void>((resolve) => void clock.setTimer(100_000, resolve));
    };
    const engine = await atRest(storage, {
      clock,
      concurrency: 2,
      definitions: [definitionOf('steps: [{ waitFor: go, timeout: 1h }, { id: s, step: h }]')],
      handlers: scripted({ h: (_, { idempotencyKey }) => work(idempotencyKey) }),
    });
    const answer = told(engine.enqueue('flow'));
    await clock.rest();
    const [seen] = (await storage.listRuns({})).runs;
    expect(seen).toMatchObject({ status: 'waiting', owner: null });
    await engine.signal(seen?.id ?? '', 'go');
    await clock.rest();
    expect(await storage.getRun(seen?.id ?? '')).toMatchObject({ status: 'running', epoch: 2 });
    expect(await clock.until(answer)).toBe(seen?.id);
    expect(await clock.until(engine.result(seen?.id ?? ''))).toMatchObject({ status: 'completed' });
    expect(calls).toEqual([`${seen?.id}:s#0:forward`]);
    expect(await storage.getRun(seen?.id ?? '')).toMatchObject({ epoch: 2, interruptions: 0 });
  });
});

describe('the lease', () => {
  it('begins with the transaction, however long the walk to it took; the run began with the walk', async () => {
    let skewMs = 0;
    const clock: Clock = {
      ...systemClock,
      now: () => Date.now() + skewMs,
      monotonic: () => performance.now() + skewMs,
    };
    const storage = new MemoryStorage();
    const door = gate();
    const engine = await atRest(storage, {
      clock,
      runLeaseDurationMs: 30_000,
      handlers: scripted({ h: () => door.promise }),
      // As a formula that takes long.
      onOperation: (_, operation) => void (skewMs += operation.startsWith('run a') ? 40_000 : 0),
    });
    const enqueuedAt = clock.now();
    const { id } = await engine.enqueue('flow');
    const record = await storage.getRun(id);
    expect(record?.startedAt).toBeLessThan(enqueuedAt + 20_000);
    expect(record?.leaseExpiresAt).toBeGreaterThan(enqueuedAt + 65_000);
    door.open();
    expect(await engine.result(id)).toMatchObject({ status: 'completed' });
  });
});

describe('over a storage that fails', () => {
  /** So many starts, and then as many enqueues, go wrong. */
  function failing(starts: number, enqueues: number): { storage: MemoryStorage; asked: string[] } {
    const asked: string[] = [];
    const left = { startRun: starts, enqueueRun: enqueues };
    class Failing extends MemoryStorage {
      #fail(method: keyof typeof left): void {
        asked.push(method);
        left[method] -= 1;
        if (left[method] >= 0) throw new RunsheetError('RS_STORAGE_FULL', 'the disk is full');
      }
      override async startRun(...args: Parameters<MemoryStorage['startRun']>): ReturnType<MemoryStorage['startRun']> {
        this.#fail('startRun');
        return super.startRun(...args);
      }
      override async enqueueRun(
        ...args: Parameters<MemoryStorage['enqueueRun']>
      ): ReturnType<MemoryStorage['enqueueRun']> {
        this.#fail('enqueueRun');
        return super.enqueueRun(...args);
      }
    }
    return { storage: new Failing(), asked };
  }

  it('what cannot be begun is enqueued, and driven like any other', async () => {
    const { storage, asked } = failing(1, 0);
    const engine = await atRest(storage);
    const faults: unknown[] = [];
    engine.onFault((error) => faults.push(error));
    const { id } = await engine.enqueue('flow');
    expect(await engine.result(id)).toMatchObject({ status: 'completed' });
    expect(asked).toEqual(['startRun', 'enqueueRun']);
    expect(faults).toEqual([]);
  });

  it('who cannot enqueue either is told so; nothing was called, and the next one is begun', async () => {
    const { storage } = failing(1, 1);
    const calls: string[] = [];
    const engine = await atRest(storage, {
      handlers: scripted({ h: (_, { run }) => void calls.push(run.id) }),
    });
    await expect(engine.enqueue('flow')).rejects.toMatchObject({ code: 'RS_STORAGE_FULL' });
    expect(calls).toEqual([]);
    const { id } = await engine.enqueue('flow');
    await engine.result(id);
    expect(calls).toEqual([id, id, id]);
    expect((await engine.listRuns()).runs).toHaveLength(1);
  });

  it('while another program holds the lock it waits; where that takes too long, nothing is begun or called', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'runs.db');
    const storage = new SqliteStorage(path, { durability: 'process', busyTimeoutMs: 60 });
    const calls: string[] = [];
    const engine = await atRest(storage, { handlers: scripted({ h: (_, { run }) => void calls.push(run.id) }) });
    const other = new Database(path);
    other.exec('begin immediate');
    await expect(engine.enqueue('flow')).rejects.toMatchObject({ code: 'RS_STORAGE_BUSY' });
    expect(calls).toEqual([]);
    const waiting = engine.enqueue('flow');
    await new Promise((resolve) => setTimeout(resolve, 20));
    other.exec('commit');
    other.close();
    const { id } = await waiting;
    expect(await engine.result(id)).toMatchObject({ status: 'completed' });
    expect(calls).toEqual([id, id, id]);
  });

  it('a disk that cannot make the start durable: nobody is answered, nothing is called', async () => {
    let broken = false;
    const check = (): void => {
      if (broken) throw new Error('the disk is gone');
    };
    const storage = inFile({
      fileSync: {
        start: (fd, done) =>
          setImmediate(() => done(broken ? new Error('the disk is gone') : (fdatasyncSync(fd), null))),
        now: (fd) => (check(), fdatasyncSync(fd)),
      },
    });
    const calls: string[] = [];
    const engine = await atRest(storage, {
      concurrency: 3,
      handlers: scripted({ h: (_, { run }) => void calls.push(run.id) }),
    });
    broken = true;
    const answers = await Promise.allSettled([engine.enqueue('flow'), engine.enqueue('flow')]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await idle();
    expect(calls).toEqual([]);
  });
});

describe('two engines on one file', () => {
  async function pair(options: Partial<EngineOptions>): Promise<[Engine, Engine]> {
    const path = join(temporaryFolder(), 'runs.db');
    const open = (): Promise<Engine> =>
      atRest(new SqliteStorage(path, { durability: 'process' }), { concurrency: 4, ...options });
    return [await open(), await open()];
  }

  it('begin one run for one key', async () => {
    const calls: string[] = [];
    const engines = await pair({ handlers: scripted({ h: (_, context) => void calls.push(context.idempotencyKey) }) });
    for (let round = 0; round < 20; round += 1) {
      const key = `key ${round}`;
      const runs = await Promise.all([...engines, ...engines].map((engine) => engine.enqueue('flow', {}, { key })));
      const [id = '', ...others] = new Set(runs.map((run) => run.id));
      expect(others).toEqual([]);
      for (const engine of engines) expect(await engine.result(id)).toMatchObject({ status: 'completed' });
      expect(calls.splice(0)).toEqual(['a', 'b', 'c'].map((step) => `${id}:${step}#0:forward`));
    }
  });

  it('never drive more runs of a workflow than it allows', async () => {
    let [open, most] = [0, 0];
    const engines = await pair({
      definitions: [definitionOf('concurrency: 2\nsteps: [{ step: h }, { step: h }]')],
      handlers: scripted({
        async h() {
          most = Math.max(most, (open += 1));
          await new Promise((resolve) => setTimeout(resolve, 2));
          open -= 1;
        },
      }),
    });
    const runs = Array.from({ length: 30 }, async (_, index) => {
      const engine = engines[index % 2] ?? expect.fail();
      await new Promise((resolve) => setTimeout(resolve, index * 2));
      const { id } = await engine.enqueue('flow');
      return engine.result(id);
    });
    for (const run of await Promise.all(runs)) expect(run.status).toBe('completed');
    expect(most).toBe(2);
  });
});
