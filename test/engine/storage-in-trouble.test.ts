import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryStorage, RunsheetError, SqliteStorage, createEngine } from 'runsheet';
import { VirtualClock } from 'runsheet/testing';
import { definitionOf, gate, scripted } from '../support/flow.js';
import { World } from '../support/world.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const flow = `steps: [{ id: s, step: work, timeout: never }, { step: after }]`;

/** Refuses units from then on, until told otherwise. */
class TroubledStorage extends MemoryStorage {
  trouble: RunsheetError | undefined;
  refused = 0;

  override async commitUnits(
    ...args: Parameters<MemoryStorage['commitUnits']>
  ): ReturnType<MemoryStorage['commitUnits']> {
    if (this.trouble === undefined) return super.commitUnits(...args);
    this.refused += 1;
    throw this.trouble;
  }
}

/** Refuses so many hand-backs. */
class KeepingStorage extends SqliteStorage {
  constructor(
    path: string,
    public failures: number,
  ) {
    super(path, { durability: 'process' });
  }

  override async releaseRuns(...args: Parameters<SqliteStorage['releaseRuns']>): Promise<void> {
    this.failures -= 1;
    if (this.failures >= 0) throw new RunsheetError('RS_STORAGE_FULL', 'the disk is full');
    return super.releaseRuns(...args);
  }
}

describe('the outcome of a step that has ended', () => {
  it('is written once another program lets go of the database that it held for longer than it is waited for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'runsheet-trouble-'));
    folders.push(folder);
    const path = join(folder, 'runs.db');
    const work = gate();
    const troubled = gate();
    const calls: string[] = [];
    const faults: unknown[] = [];
    const engine = createEngine({
      storage: new SqliteStorage(path, { busyTimeoutMs: 20 }),
      definitions: [definitionOf(flow)],
      handlers: scripted({
        work: async () => {
          calls.push('work');
          await work.promise;
        },
        after: () => void calls.push('after'),
      }),
      logger: { debug: () => {}, info: () => {}, warn: () => troubled.open(), error: () => troubled.open() },
    });
    engine.onFault((error) => faults.push(error));
    await engine.start();
    const { id } = await engine.enqueue('flow');
    const other = new Database(path);
    other.exec('begin immediate');
    work.open();
    await troubled.promise;
    await expect(engine.enqueue('flow')).rejects.toMatchObject({ code: 'RS_STORAGE_BUSY' });
    other.exec('commit');
    other.close();
    expect(await engine.result(id)).toMatchObject({ status: 'completed' });
    expect(calls).toEqual(['work', 'after']);
    expect(faults.every((error) => error instanceof RunsheetError && error.code === 'RS_STORAGE_BUSY')).toBe(true);
    await engine.close();
  });

  it.each(['RS_STORAGE_BUSY', 'RS_STORAGE_FULL', 'RS_STORAGE_FAILED'] as const)(
    'is tried again after %s for as long as the lease lasts, and no longer',
    async (code) => {
      const storage = new TroubledStorage();
      const clock = new VirtualClock();
      const work = gate();
      const world = new World(
        flow,
        { work: async () => void (await work.promise), after: () => 1 },
        { storage, clock },
      );
      const id = await world.begin();
      storage.trouble = new RunsheetError(code, 'not now');
      work.open();
      await world.pass(15_000);
      expect(storage.refused).toBeGreaterThan(10);
      storage.trouble = undefined;
      expect(await world.end(id)).toMatchObject({ status: 'completed' });
      expect(world.names).toEqual(['work', 'after']);

      const faults: unknown[] = [];
      world.engine.onFault((error) => faults.push(error));
      const later = new World(flow, { work: () => 1, after: () => 1 }, { storage, clock });
      await world.engine.stop();
      later.engine.onFault((error) => faults.push(error));
      await later.begin();
      storage.trouble = new RunsheetError(code, 'never again');
      await later.engine.enqueue('flow');
      await later.pass(25_000);
      expect(faults).toEqual([]);
      await later.pass(10_000);
      expect(faults).toContain(storage.trouble);
      storage.trouble = undefined;
      await later.pass(60_000);
      await later.engine.stop();
    },
  );
});

describe('a run that cannot be handed back when its engine stops', () => {
  it.each([
    ['is tried again within the grace period', 5, 0],
    ['is taken over at once when the storage is closed', Number.POSITIVE_INFINITY, 1],
  ])('%s', async (_, failures, takenOver) => {
    const folder = mkdtempSync(join(tmpdir(), 'runsheet-trouble-'));
    folders.push(folder);
    const path = join(folder, 'runs.db');
    const storage = new KeepingStorage(path, failures);
    const clock = new VirtualClock();
    const work = gate();
    const called = gate();
    const calls: string[] = [];
    const options = {
      clock,
      definitions: [definitionOf(flow)],
      handlers: scripted({
        work: async () => {
          calls.push('work');
          called.open();
          await work.promise;
        },
        after: () => void calls.push('after'),
      }),
    };
    const engine = createEngine({ ...options, storage });
    const faults: unknown[] = [];
    engine.onFault((error) => faults.push(error));
    await engine.start();
    const { id } = await engine.enqueue('flow');
    await called.promise;
    const stopping = engine.stop();
    work.open();
    await clock.until(stopping);
    expect(faults).toHaveLength(takenOver);
    expect(existsSync(`${path}-engines`)).toBe(takenOver > 0);
    await engine.close();

    const next = createEngine({ ...options, storage: new SqliteStorage(path) });
    expect(await next.recover()).toMatchObject({ running: takenOver });
    expect(await next.tick()).toBe(1);
    await next.start();
    expect(await clock.until(next.result(id))).toMatchObject({ status: 'completed' });
    expect(calls).toEqual(['work', 'after']);
    await next.close();
    expect(existsSync(`${path}-engines`)).toBe(false);
  });
});
