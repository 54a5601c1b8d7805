import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Engine, type Run, SqliteStorage, createEngine } from 'runsheet';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CallDesk } from '../crash/workers/call-desk.js';
import { type WorkerOrder, WorkerProcess } from '../crash/workers/worker-process.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';
import { definitionOf, gate, scripted } from '../support/flow.js';

/*
 * What engine.md promises of engines that share a storage, claim by claim. Each is tried with two processes on
 * one SQLite file, save where the test says why two engines in this process are the same or more. Leases last
 * ten minutes unless told otherwise: whatever would wait for one of them to expire never ends in time.
 */
const longLease = 600_000;

/** Reports at the desk, first as `<label>`, then, after what is between, as `<label> again`. */
const flowWith = (head: string, between = ''): string => `
${head}
input: { desk: { type: string }, label: { type: string } }
defaults: { timeout: 10m }
steps:
  - id: first
    step: desk.call
    with: { address: =$input.desk, label: =$input.label }
${between}
`;

const again = `
  - id: second
    step: desk.call
    with: { address: =$input.desk, label: =$input.label & " again" }`;

class Place {
  readonly folder = temporaryFolder();
  readonly path = join(this.folder, 'runs.db');
  readonly desk: CallDesk;
  readonly flows: string[];

  private constructor(desk: CallDesk, flows: Readonly<Record<string, string>>) {
    this.desk = desk;
    this.flows = Object.entries(flows).map(([name, text]) => {
      const file = join(this.folder, `${name}.yaml`);
      writeFileSync(file, `workflow: ${name}\n${text}`);
      return file;
    });
  }

  static async with(flows: Readonly<Record<string, string>>): Promise<Place> {
    return new Place(await CallDesk.open(), flows);
  }

  async process(name: string, { engine, ...order }: Partial<WorkerOrder> = {}): Promise<WorkerProcess> {
    const { path: database, flows } = this;
    const options = { runLeaseDurationMs: longLease, ...engine };
    return WorkerProcess.begin({ name, database, flows, engine: options, ...order });
  }

  /** Both are at work. */
  async twoAtWork(order: Partial<WorkerOrder> = {}): Promise<[WorkerProcess, WorkerProcess]> {
    const [one, two] = await Promise.all([this.process('one', order), this.process('two', order)]);
    await Promise.all([one.ask('start'), two.ask('start')]);
    return [one, two];
  }

  async enqueue(by: WorkerProcess, workflow: string, label: string): Promise<string> {
    return (await by.ask('enqueue', workflow, { desk: this.desk.address, label })).id;
  }

  row(id: string): { status: string; owner: string | null; epoch: number; interruptions: number } {
    const database = new Database(this.path, { readonly: true });
    try {
      return database.prepare('select status, owner, epoch, interruptions from run where id = ?').get(id) as ReturnType<
        Place['row']
      >;
    } finally {
      database.close();
    }
  }
}

/** Ends both and with them whatever could still be said. */
async function endBoth(...workers: readonly WorkerProcess[]): Promise<void> {
  await Promise.all(workers.map((worker) => worker.end()));
  expect(workers.flatMap(({ faults }) => faults)).toEqual([]);
}

describe('runs that wait for a place', () => {
  test('get it first come first served, whoever enqueued them and whoever drives them; other workflows go on', async () => {
    const place = await Place.with({ limited: flowWith('concurrency: 1'), free: flowWith('') });
    const { desk } = place;
    const [one, two] = await place.twoAtWork({ engine: { concurrency: 3, runLeaseDurationMs: longLease } });
    const labels = ['a', 'b', 'c', 'd', 'e', 'f'];
    const ids: string[] = [];
    for (const [index, label] of labels.entries()) {
      ids.push(await place.enqueue(index % 2 === 0 ? one : two, 'limited', label));
    }
    const first = await desk.next();
    await place.enqueue(two, 'free', 'free');
    const free = await desk.next();
    expect([first.label, free.label]).toEqual(['a', 'free']);
    expect(ids.map((id) => place.row(id).status)).toEqual(['running', ...labels.slice(1).map(() => 'pending')]);
    free.answer();
    first.answer();
    for (const _ of labels.slice(1)) (await desk.next()).answer();
    for (const id of ids) expect((await one.ask('result', id)).status).toBe('completed');
    expect(desk.labels.filter((label) => label !== 'free')).toEqual(labels);
    await endBoth(one, two);
  });

  test.each([
    ['sleeps', '  - sleep: 1d', 'sleeping'],
    ['waits for a signal', '  - waitFor: go\n    timeout: never', 'waiting'],
  ])('get that of a run that %s', async (_, between, status) => {
    const place = await Place.with({ limited: flowWith('concurrency: 1', between) });
    const [one, two] = await place.twoAtWork();
    const ids: string[] = [];
    for (const label of ['a', 'b', 'c']) {
      ids.push(await place.enqueue(one, 'limited', label));
      const call = await place.desk.next();
      expect(call.label).toBe(label);
      call.answer();
    }
    expect(ids.slice(0, 2).map((id) => place.row(id).status)).toEqual([status, status]);
    await endBoth(one, two);
  });

  test('get that of a run that backs off', async () => {
    const place = await Place.with({
      limited: flowWith('concurrency: 1').replace(
        '    with',
        '    retry: { attempts: 2, delay: 1d, maxDelay: 1d }\n    with',
      ),
    });
    const [one, two] = await place.twoAtWork();
    const failing = await place.enqueue(one, 'limited', 'fails');
    (await place.desk.next()).fail('NotNow');
    await place.enqueue(two, 'limited', 'next');
    const next = await place.desk.next();
    expect(next.label).toBe('next');
    expect(place.row(failing)).toMatchObject({ status: 'retrying', owner: null });
    next.answer();
    await endBoth(one, two);
  });

  test('get that of a frozen process when its lease has expired', async () => {
    const place = await Place.with({ limited: flowWith('concurrency: 1') });
    const [one, two] = await Promise.all([
      place.process('one', { engine: { runLeaseDurationMs: 1500 } }),
      place.process('two'),
    ]);
    await one.ask('start');
    const id = await place.enqueue(one, 'limited', 'a');
    await place.desk.next();
    const waiting = await place.enqueue(one, 'limited', 'b');
    await two.ask('start');
    one.freeze();
    const calls = [await place.desk.next()];
    calls[0]?.answer();
    calls.push(await place.desk.next());
    calls[1]?.answer();
    // The one that had begun keeps its place before the one that waited.
    expect(calls.map(({ label, worker }) => `${label} ${worker}`)).toEqual(['a two', 'b two']);
    for (const run of [id, waiting]) expect((await two.ask('result', run)).status).toBe('completed');
    one.thaw();
    await endBoth(one, two);
  });

  test('get that of a dead process at once when its death is certain', async () => {
    const place = await Place.with({ limited: flowWith('concurrency: 1') });
    const [one, two] = await Promise.all([place.process('one'), place.process('two')]);
    await one.ask('start');
    const id = await place.enqueue(one, 'limited', 'a');
    await place.desk.next();
    await one.kill();
    expect(await two.ask('recover')).toMatchObject({ running: 1, compensating: 0, waiting: 0, total: 1 });
    await two.ask('start');
    (await place.desk.next()).answer();
    expect((await two.ask('result', id)).status).toBe('completed');
    await endBoth(two);
  });
});

describe('a process that is at work beside one that is killed', () => {
  test('goes on with its runs without being told, long before their leases end, and once', async () => {
    const place = await Place.with({ work: flowWith('') });
    const { desk } = place;
    const engine = { concurrency: 3, runLeaseDurationMs: longLease };
    const [one, two, three] = await Promise.all(['one', 'two', 'three'].map((name) => place.process(name, { engine })));
    if (one === undefined || two === undefined || three === undefined) throw new Error('three processes');
    await one.ask('start');
    const ids = [await place.enqueue(one, 'work', 'a'), await place.enqueue(one, 'work', 'b')];
    for (const _ of ids) expect((await desk.next()).worker).toBe('one');
    await Promise.all([two.ask('start'), three.ask('start')]);
    await one.kill();
    const repeated = [await desk.next(), await desk.next()];
    expect(repeated.map(({ label }) => label).sort()).toEqual(['a', 'b']);
    for (const id of ids) expect(place.row(id)).toMatchObject({ status: 'running', epoch: 2, interruptions: 1 });
    const released = await Promise.all([two, three].map((worker) => worker.ask('released')));
    expect(
      released
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...ids].sort());
    for (const call of repeated) call.answer();
    for (const id of ids) expect((await two.ask('result', id)).status).toBe('completed');
    expect(desk.labels).toHaveLength(4);
    await endBoth(two, three);
  });
});

describe('a run that is woken', () => {
  test('does not starve behind new ones: it goes on before those that came after it was woken', async () => {
    const place = await Place.with({
      waiter: flowWith('', `  - waitFor: go\n    timeout: never${again}`),
      busy: flowWith(''),
    });
    const { desk } = place;
    const [one, two] = await place.twoAtWork();
    const woken = await place.enqueue(one, 'waiter', 'woken');
    (await desk.next()).answer();
    await expect.poll(() => place.row(woken).status).toBe('waiting');
    // Both slots are taken, so that all that follows has to wait.
    const holders = [];
    for (const label of ['holder 1', 'holder 2']) {
      await place.enqueue(one, 'busy', label);
      holders.push(await desk.next());
    }
    for (const label of ['old 1', 'old 2', 'old 3']) await place.enqueue(two, 'busy', label);
    await two.ask('signal', woken, 'go');
    const news = Array.from({ length: 20 }, (_, index) => `new ${index}`);
    for (const label of news) await place.enqueue(one, 'busy', label);
    for (const holder of holders) holder.answer();
    const order: string[] = [];
    // One is let go at a time, so that the next one is the next one that was claimed, whoever claims it.
    let held = await desk.next();
    for (let count = 1; count < 24; count += 1) {
      order.push(held.label);
      const next = await desk.next();
      held.answer();
      held = next;
    }
    held.answer();
    order.push(held.label);
    const position = order.indexOf('woken again');
    expect(order.slice(0, position).filter((label) => label.startsWith('new'))).toEqual([]);
    expect(order.slice(position).filter((label) => label.startsWith('old'))).toEqual([]);
    await endBoth(one, two);
  });

  test('by a deadline of 24 hours after 23 hours of downtime is woken in one', async () => {
    const hour = 3_600_000;
    const startAt = Date.UTC(2030, 0, 1);
    const place = await Place.with({
      patient: flowWith(
        '',
        '  - id: gate\n    waitFor: go\n    timeout: 24h\n    onTimeout: "nobody came"\noutput: =$steps.gate',
      ),
    });
    const storage = { durability: 'process' as const };
    const one = await place.process('one', { startAt, storage });
    await one.ask('start');
    const id = await place.enqueue(one, 'patient', 'a');
    (await place.desk.next()).answer();
    await expect.poll(() => place.row(id).status).toBe('waiting');
    await one.end();

    const two = await place.process('two', { startAt: startAt + 23 * hour, storage });
    expect(await two.ask('recover')).toMatchObject({ running: 0, waiting: 1, total: 1 });
    await two.ask('start');
    await two.ask('advance', hour - 1000);
    expect((await two.ask('getRun', id)).status).toBe('waiting');
    const run = await two.ask('until', id);
    expect(run).toMatchObject({ status: 'completed', output: 'nobody came' });
    expect((run.endedAt ?? 0) - startAt).toBeGreaterThanOrEqual(24 * hour);
    expect((run.endedAt ?? 0) - startAt).toBeLessThan(24 * hour + 1000);
    await endBoth(two);
  });
});

describe('an engine that stops', () => {
  test('hands its runs back: another process goes on with them at once', async () => {
    const place = await Place.with({ pair: flowWith('', again) });
    const [one, two] = await Promise.all([place.process('one'), place.process('two')]);
    await one.ask('start');
    const id = await place.enqueue(one, 'pair', 'a');
    const first = await place.desk.next();
    await two.ask('start');
    const stopped = one.ask('stop', { graceMs: 60_000 });
    first.answer('from one');
    await stopped;
    const second = await place.desk.next();
    expect([first.worker, second.worker]).toEqual(['one', 'two']);
    second.answer();
    expect((await two.ask('result', id)).status).toBe('completed');
    // Handed back, not interrupted.
    expect(place.row(id)).toMatchObject({ epoch: 2, interruptions: 0 });
    await endBoth(one, two);
  });

  // What a handler throws because the engine stops is no end of its attempt: a deployment uses up none.
  test('aborts what takes too long, which is no failed attempt: the next process begins it again', async () => {
    const place = await Place.with({
      single: flowWith('retryPolicies: { once: { attempts: 1 } }', again).replace(
        '    with',
        '    retry: once\n    with',
      ),
    });
    const [one, two] = await Promise.all([place.process('one'), place.process('two')]);
    await one.ask('start');
    const id = await place.enqueue(one, 'single', 'a');
    const first = await place.desk.next();
    await one.ask('stop', { graceMs: 0 });
    expect(place.row(id)).toMatchObject({ status: 'running', owner: null, interruptions: 0 });
    await two.ask('start');
    const ended = two.ask('result', id);
    const second = await Promise.race([place.desk.next(), ended]);
    expect(second).toMatchObject({ worker: 'two', key: first.key, attempt: 1 });
    if ('answer' in second) second.answer();
    (await place.desk.next()).answer();
    expect((await ended).status).toBe('completed');
    await endBoth(one, two);
  });
});

describe('recover on engines at work', () => {
  test('moves nothing twice, and nothing of the living', async () => {
    const undone = `
input: { desk: { type: string }, label: { type: string } }
steps:
  - set: done
    id: nothing
  - step: desk.call
    with: { address: =$input.desk, label: =$input.label }
    compensate:
      step: desk.call
      with: { address: =$input.desk, label: =$input.label & " undone" }
      timeout: 10m
  - fail: Planned`;
    const place = await Place.with({ held: flowWith(''), undone });
    const { desk } = place;
    const engine = { concurrency: 3, runLeaseDurationMs: longLease };
    const [dead, one, two] = await Promise.all([
      place.process('dead', { engine }),
      place.process('one', { engine: { ...engine, concurrency: 4 } }),
      place.process('two', { engine }),
    ]);
    await dead.ask('start');
    const ids = [
      await place.enqueue(dead, 'undone', 'u'),
      await place.enqueue(dead, 'held', 'a'),
      await place.enqueue(dead, 'held', 'b'),
    ];
    for (const _ of ids) {
      const call = await desk.next();
      if (call.label === 'u') call.answer();
    }
    expect((await desk.next()).label).toBe('u undone');
    await one.ask('start');
    await two.ask('getRun', ids[0] ?? '');
    const living = await place.enqueue(one, 'held', 'living');
    const lives = await desk.next();
    const before = place.row(living);
    expect(before.owner).toBe(one.owner);

    await dead.kill();
    const recoveries = await Promise.all([one, two, one, two].map((worker) => worker.ask('recover')));
    // The one that is at work may have been quicker by itself.
    const released = (await Promise.all([one, two].map((worker) => worker.ask('released')))).flat();
    expect(released.map(({ status }) => status).sort()).toEqual(['compensating', 'running', 'running']);
    expect(new Set(released.map(({ id }) => id)).size).toBe(3);
    const sum = (what: 'running' | 'compensating' | 'waiting' | 'total'): number =>
      recoveries.reduce((total, recovery) => total + recovery[what], 0);
    expect([0, 3]).toContain(sum('total'));
    // There are parked runs of nobody's, and they would not be counted while others are alive.
    expect(sum('waiting')).toBe(0);
    expect(await one.ask('recover')).toMatchObject({ total: 0 });
    expect(place.row(living)).toEqual(before);

    const repeated = [await desk.next(), await desk.next(), await desk.next()];
    expect(repeated.map(({ label }) => label).sort()).toEqual(['a', 'b', 'u undone']);
    for (const { label, key } of repeated) {
      expect(desk.calls.filter((call) => call.label === label).map((call) => call.key)).toEqual([key, key]);
    }
    for (const call of [...repeated, lives]) call.answer();
    const ends = await Promise.all([...ids, living].map((id) => one.ask('result', id)));
    expect(ends.map(({ status }) => status)).toEqual(['failed', 'completed', 'completed', 'completed']);
    expect(ends[0]).toMatchObject({ rollbackStatus: 'completed', error: { name: 'Planned' } });
    expect(desk.calls).toHaveLength(8);
    await endBoth(one, two);
  });
});

/** In this process, as these claims are about several engines in one. */
function engineOn(storage: SqliteStorage, script: (label: string) => unknown): Engine {
  const flow = `
workflow: pair
input: { label: { type: string } }
steps:
  - { id: a, step: say, with: =$input.label & " a", timeout: never }
  - { id: b, step: say, with: =$input.label & " b", timeout: never }
output: =$steps.b`;
  const engine = createEngine({
    storage,
    definitions: [definitionOf(flow)],
    handlers: scripted({ say: (input) => script(String(input)) }),
    runLeaseDurationMs: longLease,
    concurrency: 3,
  });
  onTestFinished(() => engine.close(true));
  return engine;
}

function journalOf(path: string): { kind: string; step: string | null; payload: string | null }[] {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare('select kind, step, payload from journal order by run, seq').all() as ReturnType<
      typeof journalOf
    >;
  } finally {
    database.close();
  }
}

describe('several engines in one process', () => {
  test('over different storages know nothing of each other, and one goes on when the other is closed', async () => {
    const folder = temporaryFolder();
    const said: string[][] = [[], []];
    const held = gate();
    const engines = ['one.db', 'two.db'].map((name, index) =>
      engineOn(new SqliteStorage(join(folder, name)), async (label) => {
        said[index]?.push(label);
        if (label === 'of two a') await held.promise;
        return label;
      }),
    );
    const [one, two] = engines as [Engine, Engine];
    await Promise.all(engines.map((engine) => engine.start()));
    const [ofOne, ofTwo] = await Promise.all([
      one.enqueue('pair', { label: 'of one' }, { key: 'same' }),
      two.enqueue('pair', { label: 'of two' }, { key: 'same' }),
    ]);
    expect(await one.result(ofOne.id)).toMatchObject({ output: 'of one b' });
    expect(await one.recover()).toMatchObject({ total: 0 });
    await expect(one.getRun(ofTwo.id)).rejects.toMatchObject({ code: 'RS_RUN_UNKNOWN' });
    await one.close();
    held.open();
    expect(await two.result(ofTwo.id)).toMatchObject({ output: 'of two b' });
    expect(said).toEqual([
      ['of one a', 'of one b'],
      ['of two a', 'of two b'],
    ]);
    await two.close();
  });

  test('close(true) lets a replacement go on at once; what the old one still does is not heard of', async () => {
    const path = join(temporaryFolder(), 'runs.db');
    const late = gate<string>();
    const called = gate();
    const old = engineOn(new SqliteStorage(path), () => {
      called.open();
      return late.promise;
    });
    await old.start();
    const { id } = await old.enqueue('pair', { label: 'x' });
    await called.promise;
    await old.close(true);
    const said: string[] = [];
    const replacement = engineOn(new SqliteStorage(path), (label) => {
      said.push(label);
      // The old one finds an answer in the middle of the work of the new one.
      late.open('too late');
      return label;
    });
    await replacement.start();
    const run: Run = await replacement.result(id);
    expect(run).toMatchObject({ status: 'completed', output: 'x b' });
    expect(said).toEqual(['x a', 'x b']);
    await replacement.close();
    const completed = journalOf(path).filter(({ kind }) => kind === 'step-completed');
    expect(completed.map(({ step, payload }) => `${step} ${payload}`)).toEqual([
      'a {"value":"x a"}',
      'b {"value":"x b"}',
    ]);
    await expect(old.enqueue('pair', { label: 'y' })).rejects.toMatchObject({ code: 'RS_ENGINE_STOPPED' });
  });
});

describe('a lease that has expired', () => {
  // The run is still the old engine's, as nobody has taken it; its place is not. (Two storages here are two engines.)
  test('is not renewed where another run has got the place meanwhile', async () => {
    const path = join(temporaryFolder(), 'runs.db');
    const [one, two] = [new SqliteStorage(path), new SqliteStorage(path)];
    onTestFinished(() => Promise.all([one.close(), two.close()]).then(() => {}));
    await one.open();
    await two.open();
    await one.setWorkflowLimit('limited', 1, 1);
    const enqueue = (id: string, dueAt: number): Promise<unknown> => {
      const run = { id, workflow: 'limited', revision: 1, definitionHash: 'h', key: null, input: '{}' };
      return one.enqueueRun({ ...run, createdAt: 0, dueAt });
    };
    const claim = { hashes: ['h'], limit: 1, alone: true };
    await enqueue('wf_a', 10);
    const [a] = await one.claimRuns({ ...claim, owner: 'one', now: 10, leaseExpiresAt: 100 });
    // Due before the other one was.
    await enqueue('wf_b', 0);
    const [b] = await two.claimRuns({ ...claim, owner: 'two', now: 200, leaseExpiresAt: 300 });
    expect([a?.id, b?.id]).toEqual(['wf_a', 'wf_b']);
    expect(await one.renewLeases('one', [{ run: a?.run ?? 0, epoch: 1 }], 310, 210)).toEqual([a?.run]);
  });
});
