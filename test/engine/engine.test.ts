import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryStorage, RunsheetError, SqliteStorage, type Storage, createEngine } from 'runsheet';
import { VirtualClock } from 'runsheet/testing';
import { definitionOf, gate, scripted } from '../support/flow.js';

const folders: string[] = [];
const databaseFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-engine-'));
  folders.push(folder);
  return join(folder, 'runs.db');
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RunsheetError)) throw new Error(`no RunsheetError but ${String(error)}`);
  return error.code;
};

/** The view of a frozen process: its heartbeats do not reach the storage. */
const withoutHeartbeats = (storage: Storage): Storage =>
  new Proxy(storage, {
    get: (target, property) => {
      if (property === 'renewLeases') return () => new Promise(() => {});
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });

const greet = definitionOf(`
workflow: greet
input: { name: { type: string }, loud: { type: boolean, default: false } }
steps: [{ step: greet, with: { name: =$input.name } }]
`);
const greeter = scripted({ greet: (input) => `hello ${(input as { name: string }).name}` });

describe('createEngine', () => {
  it.each([
    ['an unknown option', { concurency: 3 }, /concurency/],
    ['an impossible value', { concurrency: 0 }, /concurrency/],
    ['a storage that is none', { storage: undefined }, /storage/],
  ])('refuses %s by name', (_, options, message) => {
    const create = (): unknown => createEngine({ storage: new MemoryStorage(), ...(options as object) } as never);
    expect(create).toThrow(message);
    expect(create).toThrow(RunsheetError);
  });

  it('refuses a flow whose handlers are missing, naming all of them', () => {
    const definition = definitionOf(`steps: [{ step: a }, { group: [{ step: b.c }] }]`);
    const create = (): unknown => createEngine({ storage: new MemoryStorage(), definitions: [definition] });
    expect(create).toThrow(/a \(step a@0\), b\.c \(step b\.c@1\.0\)/);
  });

  it('refuses a storage that lacks something, naming it', () => {
    const storage = Object.assign(Object.create(new MemoryStorage()) as Storage, { fireSchedule: undefined });
    expect(() => createEngine({ storage: storage as never })).toThrow(/fireSchedule/);
  });
});

describe('enqueue', () => {
  const engineOf = (storage: Storage = new MemoryStorage()) =>
    createEngine({ storage, definitions: [greet], handlers: greeter, clock: new VirtualClock() });

  it.each([
    ['a missing field', {}, /name/],
    ['a wrong type', { name: 3 }, /name/],
    ['an unknown field', { name: 'eva', nmae: 'x' }, /nmae/],
    ['no map at all', 'eva', /map of fields/],
  ])('refuses %s', async (_, input, message) => {
    const refused = engineOf().enqueue('greet', input as never);
    await expect(refused).rejects.toThrow(message);
    expect(await codeOf(refused)).toBe('RS_INPUT_INVALID');
  });

  it('fills in defaults', async () => {
    const run = await engineOf().enqueue('greet', { name: 'eva' });
    expect(run.input).toEqual({ name: 'eva', loud: false });
    expect(run.id).toMatch(/^wf_[0-9a-f]{32}$/);
  });

  it('rejects with what the storage says, and the engine goes on', async () => {
    const storage = new MemoryStorage();
    const engine = engineOf(storage);
    await engine.start();
    const enqueueRun = storage.enqueueRun.bind(storage);
    storage.enqueueRun = () => Promise.reject(new RunsheetError('RS_STORAGE_FAILED', 'the disk is full'));
    await expect(engine.enqueue('greet', { name: 'eva' })).rejects.toThrow('the disk is full');
    storage.enqueueRun = enqueueRun;
    const { id } = await engine.enqueue('greet', { name: 'eva' });
    expect((await engine.result(id)).output).toBe('hello eva');
    await engine.close();
  });

  it('names the workflows there are', async () => {
    await expect(engineOf().enqueue('gret', {})).rejects.toThrow(/"gret".*greet/);
  });

  it('with the same key and input, key order aside, is the same run', async () => {
    const engine = engineOf();
    const first = await engine.enqueue('greet', { name: 'eva', loud: true }, { key: 'k' });
    const second = await engine.enqueue('greet', { loud: true, name: 'eva' }, { key: 'k' });
    expect(second.id).toBe(first.id);
    expect((await engine.listRuns()).runs).toHaveLength(1);
  });

  it('with the same key and other input is a conflict that names both', async () => {
    const engine = engineOf();
    const first = await engine.enqueue('greet', { name: 'eva' }, { key: 'k' });
    const refused = engine.enqueue('greet', { name: 'ida' }, { key: 'k' });
    expect(await codeOf(refused)).toBe('RS_IDEMPOTENCY_CONFLICT');
    await expect(refused).rejects.toThrow(new RegExp(`"k".*${first.id}`));
  });
});

describe('definitions', () => {
  it('of the same name and revision with another content are refused while runs are on the other', async () => {
    const storage = new MemoryStorage();
    const clock = new VirtualClock();
    const options = { storage, handlers: scripted({ h: () => 1 }), clock };
    const one = createEngine({ ...options, definitions: [definitionOf(`steps: [{ sleep: 1h }, { step: h }]`)] });
    await one.start();
    const { id } = await one.enqueue('flow');
    await clock.advance(1000);
    const other = definitionOf(`steps: [{ step: h }]`);
    expect(await codeOf(createEngine({ ...options, definitions: [other] }).listRuns())).toBe('RS_DEFINITION_CONFLICT');
    await clock.until(one.result(id));
    await createEngine({ ...options, definitions: [other] }).listRuns();
    await one.stop();
  });

  it('stay with their runs: a parked run ends on the revision that it began with', async () => {
    const clock = new VirtualClock();
    const handlers = scripted({ old: () => 'old', new: () => 'new' });
    const engine = createEngine({
      storage: new MemoryStorage(),
      handlers,
      clock,
      definitions: [definitionOf(`steps: [{ sleep: 1h }, { step: old }]`)],
    });
    await engine.start();
    const before = await engine.enqueue('flow');
    await clock.advance(1000);
    await engine.register(definitionOf(`revision: 2\nsteps: [{ sleep: 1h }, { step: new }]`));
    const after = await engine.enqueue('flow');
    expect((await clock.until(engine.result(before.id))).output).toBe('old');
    expect((await clock.until(engine.result(after.id))).output).toBe('new');
    await engine.stop();
  });
});

describe('slots', () => {
  it('are filled up to concurrency, independently of one another', async () => {
    const clock = new VirtualClock();
    const gates = new Map([1, 2, 3].map((n) => [n, gate()]));
    const started: number[] = [];
    const engine = createEngine({
      storage: new MemoryStorage(),
      clock,
      concurrency: 2,
      definitions: [definitionOf(`inputSchema: {}\nsteps: [{ step: h, with: { n: =$input.n } }]`)],
      handlers: scripted({
        h: async (input) => {
          const { n } = input as { n: number };
          started.push(n);
          await gates.get(n)?.promise;
        },
      }),
    });
    await engine.start();
    const runs = await Promise.all([1, 2, 3].map((n) => engine.enqueue('flow', { n })));
    await clock.advance(10);
    expect(started).toEqual([1, 2]);
    gates.get(2)?.open();
    await clock.advance(10);
    expect(started).toEqual([1, 2, 3]);
    gates.get(1)?.open();
    gates.get(3)?.open();
    await Promise.all(runs.map(({ id }) => clock.until(engine.result(id))));
    await engine.stop();
  });

  it('are not held by runs that sleep', async () => {
    const clock = new VirtualClock();
    const engine = createEngine({
      storage: new MemoryStorage(),
      clock,
      definitions: [
        definitionOf(`workflow: sleeper\nsteps: [{ sleep: 30d }]`),
        definitionOf(`workflow: quick\nsteps: [{ set: 1 }]`),
      ],
    });
    await engine.start();
    const sleeper = await engine.enqueue('sleeper');
    const quick = await engine.enqueue('quick');
    await clock.advance(1000);
    expect(await engine.getRun(sleeper.id)).toMatchObject({
      status: 'sleeping',
      dueAt: clock.now() - 1000 + 30 * 86_400_000,
    });
    expect((await engine.getRun(quick.id)).status).toBe('completed');
    await engine.stop();
  });
});

describe('tick', () => {
  it('fills the free slots once, without start', async () => {
    const clock = new VirtualClock();
    const engine = createEngine({ storage: new MemoryStorage(), definitions: [greet], handlers: greeter, clock });
    const run = await engine.enqueue('greet', { name: 'eva' });
    expect(await engine.tick()).toBe(1);
    expect((await clock.until(engine.result(run.id))).output).toBe('hello eva');
    expect(await engine.tick()).toBe(0);
    await engine.stop();
  });
});

describe('result', () => {
  it('gives up after its time, and the run goes on', async () => {
    const clock = new VirtualClock();
    const engine = createEngine({
      storage: new MemoryStorage(),
      clock,
      definitions: [definitionOf(`steps: [{ sleep: 1h }]`)],
    });
    await engine.start();
    const { id } = await engine.enqueue('flow');
    const waiting = codeOf(engine.result(id, { timeoutMs: 60_000 }));
    expect(await clock.until(waiting)).toBe('RS_RESULT_TIMEOUT');
    expect((await clock.until(engine.result(id))).status).toBe('completed');
    await engine.stop();
  });

  it('of a run that does not exist is an error', async () => {
    const engine = createEngine({ storage: new MemoryStorage() });
    expect(await codeOf(engine.result('wf_none'))).toBe('RS_RUN_UNKNOWN');
  });

  it('is told when the engine stops', async () => {
    const clock = new VirtualClock();
    const engine = createEngine({
      storage: new MemoryStorage(),
      clock,
      definitions: [definitionOf(`steps: [{ sleep: 1h }]`)],
    });
    const { id } = await engine.enqueue('flow');
    const waiting = codeOf(engine.result(id));
    await clock.until(engine.stop());
    expect(await waiting).toBe('RS_ENGINE_STOPPED');
  });
});

describe('leases', () => {
  it('that expire let another engine take the run over, and the first one writes nothing more', async () => {
    const storage = new MemoryStorage();
    const clock = new VirtualClock();
    const hangs = gate();
    let calls = 0;
    const options = {
      clock,
      definitions: [definitionOf(`steps: [{ id: s, step: s, timeout: never }]`)],
      handlers: scripted({
        s: async () => {
          calls += 1;
          if (calls > 1) return 'second';
          await hangs.promise;
          return 'first, too late';
        },
      }),
    };
    // Its heartbeats are lost, as those of a process that is frozen.
    const frozen = createEngine({
      ...options,
      storage: withoutHeartbeats(storage),
    });
    await frozen.start();
    const { id } = await frozen.enqueue('flow');
    await clock.advance(1000);
    expect(calls).toBe(1);
    const successor = createEngine({ ...options, storage });
    await successor.start();
    await clock.advance(20_000);
    expect(calls).toBe(1);
    const run = await clock.until(successor.result(id));
    expect(run.output).toBe('second');
    hangs.open();
    await clock.advance(1000);
    expect((await successor.getRun(id)).output).toBe('second');
    await successor.stop();
    const journal = await storage.readJournal(1, 0, 100);
    expect(journal.filter(({ kind }) => kind === 'step-completed')).toHaveLength(1);
  });

  it('are extended by heartbeats for as long as a handler runs', async () => {
    const storage = new MemoryStorage();
    const clock = new VirtualClock();
    const work = gate();
    let calls = 0;
    const options = {
      storage,
      clock,
      definitions: [definitionOf(`steps: [{ id: s, step: s, timeout: never }]`)],
      handlers: scripted({
        s: async () => {
          calls += 1;
          await work.promise;
        },
      }),
    };
    const [one, other] = [createEngine(options), createEngine(options)];
    await one.start();
    const { id } = await one.enqueue('flow');
    await clock.advance(1000);
    await other.start();
    await clock.advance(10 * 60_000);
    work.open();
    await clock.until(one.result(id));
    expect(calls).toBe(1);
    await Promise.all([one.stop(), other.stop()]);
  });

  it('survive heartbeats that fail while the database is busy, which is no failure of a step', async () => {
    const storage = new MemoryStorage();
    const clock = new VirtualClock();
    const work = gate();
    let calls = 0;
    let beats = 0;
    const busy = new Proxy(storage, {
      get: (target, property) => {
        const member: unknown = Reflect.get(target, property, target);
        if (typeof member !== 'function') return member;
        if (property !== 'renewLeases') return member.bind(target) as unknown;
        return async (...args: unknown[]) => {
          beats += 1;
          if (beats % 2 === 1) throw new RunsheetError('RS_STORAGE_BUSY', 'the database is locked');
          return Reflect.apply(member, target, args) as unknown;
        };
      },
    });
    const options = {
      clock,
      definitions: [definitionOf(`steps: [{ id: s, step: s, timeout: never }]`)],
      handlers: scripted({
        s: async () => {
          calls += 1;
          await work.promise;
        },
      }),
    };
    const one = createEngine({ ...options, storage: busy });
    const other = createEngine({ ...options, storage });
    await one.start();
    const { id } = await one.enqueue('flow');
    await other.start();
    await clock.advance(5 * 60_000);
    expect(beats).toBeGreaterThan(20);
    work.open();
    expect((await clock.until(one.result(id))).status).toBe('completed');
    expect(calls).toBe(1);
    await Promise.all([one.stop(), other.stop()]);
  });
});

describe('stop', () => {
  it('lets a running handler finish, hands the run back, and another engine goes on at once', async () => {
    const storage = new MemoryStorage();
    const clock = new VirtualClock();
    const work = gate();
    const calls: string[] = [];
    const options = {
      storage,
      clock,
      definitions: [definitionOf(`steps: [{ step: a }, { step: b }]`)],
      handlers: scripted({
        a: async () => {
          calls.push('a');
          await work.promise;
        },
        b: () => void calls.push('b'),
      }),
    };
    const one = createEngine(options);
    await one.start();
    const { id } = await one.enqueue('flow');
    await clock.advance(10);
    const stopping = one.stop();
    work.open();
    await clock.until(stopping);
    expect(calls).toEqual(['a']);
    const other = createEngine(options);
    await other.start();
    const before = clock.now();
    expect((await clock.until(other.result(id))).status).toBe('completed');
    expect(calls).toEqual(['a', 'b']);
    expect(clock.now() - before).toBeLessThan(1000);
    await other.stop();
  });

  it('aborts handlers that do not end within the grace period', async () => {
    const clock = new VirtualClock();
    const reasons: string[] = [];
    const engine = createEngine({
      storage: new MemoryStorage(),
      clock,
      stopGraceMs: 5000,
      definitions: [definitionOf(`steps: [{ step: a, timeout: never }]`)],
      handlers: scripted({
        a: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              reasons.push(String(signal.reason));
              reject(new Error('aborted'));
            });
          }),
      }),
    });
    await engine.start();
    await engine.enqueue('flow');
    await clock.advance(10);
    const before = clock.now();
    await clock.until(engine.stop());
    expect(reasons).toHaveLength(1);
    expect(clock.now() - before).toBe(5000);
  });
});

describe('observers', () => {
  it('that throw harm nobody', async () => {
    const clock = new VirtualClock();
    const engine = createEngine({ storage: new MemoryStorage(), definitions: [greet], handlers: greeter, clock });
    engine.subscribe(() => {
      throw new Error('a bad observer');
    });
    await engine.start();
    const { id } = await engine.enqueue('greet', { name: 'eva' });
    expect((await clock.until(engine.result(id))).status).toBe('completed');
    await engine.stop();
  });
});

describe('on a SQLite file', () => {
  it('a run that sleeps wakes on time after a restart', async () => {
    const file = databaseFile();
    const clock = new VirtualClock();
    const options = {
      clock,
      definitions: [definitionOf(`steps: [{ id: a, step: a }, { sleep: 1d }, { step: b }]`)],
      handlers: scripted({ a: () => 'a', b: () => 'b' }),
    };
    const before = createEngine({ ...options, storage: new SqliteStorage(file) });
    await before.start();
    const { id } = await before.enqueue('flow');
    for (let status = ''; status !== 'sleeping'; status = (await before.getRun(id)).status) await clock.advance(1);
    await before.close();
    const after = createEngine({ ...options, storage: new SqliteStorage(file) });
    await after.start();
    const run = await clock.until(after.result(id));
    expect(run.output).toBe('b');
    expect((run.endedAt ?? 0) - (run.startedAt ?? 0)).toBeGreaterThanOrEqual(86_400_000);
    await after.close();
  });

  it('no handler is called, and no enqueue answered, before a sync that began after what they rest on was written', async () => {
    const told: string[] = [];
    const syncs: (() => void)[] = [];
    const fileSync = {
      start: (_: number, done: (error: null) => void) => void syncs.push(() => done(null)),
      now: () => {},
    };
    const clock = new VirtualClock();
    const engine = createEngine({
      storage: new SqliteStorage(databaseFile(), { fileSync, clock }),
      clock,
      definitions: [definitionOf(`steps: [{ step: h }]`)],
      handlers: scripted({ h: () => void told.push('called') }),
    });
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    const started = engine.start();
    for (let open = true; open;) {
      syncs.splice(0).forEach((done) => done());
      open = await Promise.race([started.then(() => false), turns().then(() => true)]);
    }
    const enqueued = engine.enqueue('flow').then(() => told.push('enqueued'));
    await turns();
    expect(told).toEqual([]);
    for (let round = 0; round < 4; round += 1) {
      syncs.splice(0).forEach((done) => done());
      await turns();
    }
    await enqueued;
    expect(told).toEqual(['enqueued', 'called']);
    await engine.close();
  });

  it('three steps cost four units: first start, two between, end', async () => {
    const clock = new VirtualClock();
    const storage = new SqliteStorage(databaseFile());
    const units: number[] = [];
    const commitUnits = storage.commitUnits.bind(storage);
    storage.commitUnits = (batch, options) => {
      units.push(batch.length);
      return commitUnits(batch, options);
    };
    const engine = createEngine({
      storage,
      clock,
      definitions: [definitionOf(`steps: [{ id: a, step: h }, { id: b, step: h }, { id: c, step: h }]`)],
      handlers: scripted({ h: () => 1 }),
    });
    await engine.start();
    const { id } = await engine.enqueue('flow');
    await clock.until(engine.result(id));
    expect(units).toEqual([1, 1, 1, 1]);
    await engine.close();
  });
});

it('is closed once for all who ask at the same time', async () => {
  const engine = createEngine({ storage: new MemoryStorage(), definitions: [definitionOf('steps: [{ set: 1 }]')] });
  await engine.start();
  await Promise.all([engine.close(), engine.close(), engine.close(true)]);
});
