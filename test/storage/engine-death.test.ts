import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { SqliteStorage } from '../../src/storage/index.js';
import { aLeasedRun, aRun, anEntry, mustGet, unitOf } from '../../src/testing/storage-cases/case.js';
import { afterwards, opened, temporaryFile } from './places.js';

const program = fileURLToPath(new URL('engine-process.ts', import.meta.url));
/** The sources run as they are, since there may be no build yet. */
const start = `import { createJiti } from 'jiti'; await createJiti(process.argv[1]).import(process.argv[1]);`;

interface EngineProcess {
  readonly child: ChildProcess;
  nextLine(): Promise<string>;
  readonly exited: Promise<unknown>;
}

/** An engine that holds the leases of all runs that are due. */
async function anEngineProcess(path: string, owner: string, mode = ''): Promise<EngineProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', start, program, path, owner, mode], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  afterwards(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const nextLine = async (): Promise<string> => String((await lines.next()).value);
  expect(await nextLine()).toBe('ready');
  return { child, nextLine, exited };
}

function lockFiles(path: string): string[] {
  return existsSync(`${path}-engines`) ? readdirSync(`${path}-engines`) : [];
}

describe('an engine in another process', () => {
  test('is alive while it is stopped, dead once it is killed; then its runs are due and its lock file gone', async () => {
    const path = temporaryFile();
    const storage = await opened(new SqliteStorage(path));
    await storage.registerEngine('mine');
    const run = aRun({ definitionHash: 'h' });
    await storage.enqueueRun(run);
    const { child, exited } = await anEngineProcess(path, 'other');
    const leased = await mustGet(storage, run);
    expect(leased.owner).toBe('other');
    expect(lockFiles(path)).toEqual(['mine.lock', 'other.lock']);

    child.kill('SIGSTOP');
    expect(await storage.releaseDeadEngines(5)).toEqual([]);
    expect(await mustGet(storage, run)).toEqual(leased);

    child.kill('SIGKILL');
    await exited;
    expect(await storage.releaseDeadEngines(5)).toEqual([{ id: run.id, status: 'running' }]);
    expect(await mustGet(storage, run)).toMatchObject({ owner: null, leaseExpiresAt: null, dueAt: 5, epoch: 1 });
    expect(lockFiles(path)).toEqual(['mine.lock']);
  });

  test('that lost its run while it was stopped cannot write when it goes on', async () => {
    const path = temporaryFile();
    const storage = await opened(new SqliteStorage(path));
    const run = aRun({ definitionHash: 'h' });
    await storage.enqueueRun(run);
    const { child, nextLine } = await anEngineProcess(path, 'other');
    child.stdin?.write('\n');
    expect(await nextLine()).toBe('committed 1');

    child.kill('SIGSTOP');
    // Its lease has run out, as far as the taker can tell.
    const at = ((await mustGet(storage, run)).leaseExpiresAt ?? 0) + 1;
    const [taken] = await storage.claimRuns({
      owner: 'mine',
      hashes: ['h'],
      limit: 1,
      now: at,
      leaseExpiresAt: at + 1000,
      alone: false,
    });
    expect(taken?.epoch).toBe(2);
    child.stdin?.write('\n');
    child.kill('SIGCONT');
    expect(await nextLine()).toBe('lease-lost 2');
    expect((await storage.readJournal(taken?.run ?? 0, 0, 10)).length).toBe(1);
  });

  test('that is killed while it commits has lost nothing it was told of', async () => {
    const path = temporaryFile();
    const storage = await opened(new SqliteStorage(path));
    const { run } = await storage.enqueueRun(aRun({ definitionHash: 'h' }));
    const { child, nextLine } = await anEngineProcess(path, 'other', 'flood');
    let last = '';
    for (let count = 0; count < 500; count += 1) last = await nextLine();
    child.kill('SIGKILL');
    for (let line = await nextLine(); line.startsWith('committed'); line = await nextLine()) last = line;
    const journal = await storage.readJournal(run.run, 0, Infinity);
    expect(journal.length).toBeGreaterThanOrEqual(Number(last.split(' ')[1]));
    expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_, index) => index + 1));
  });
});

describe('lock files', () => {
  test('go with the engine, and the folder with the last of them', async () => {
    const path = temporaryFile();
    const storage = await opened(new SqliteStorage(path));
    await storage.registerEngine('a/../b');
    await storage.registerEngine('c');
    expect(lockFiles(path)).toEqual(['a%2F..%2Fb.lock', 'c.lock']);
    await storage.unregisterEngine('a/../b');
    await storage.unregisterEngine('c');
    await storage.unregisterEngine('never there');
    expect(existsSync(`${path}-engines`)).toBe(false);
  });

  test('of dead engines that held nothing are tidied up; other files are not touched', async () => {
    const path = temporaryFile();
    const dead = await opened(new SqliteStorage(path));
    await dead.registerEngine('dead');
    await dead.close();
    writeFileSync(join(`${path}-engines`, 'notes.txt'), 'mine');
    const storage = await opened(new SqliteStorage(path));
    expect(await storage.releaseDeadEngines(0)).toEqual([]);
    expect(lockFiles(path)).toEqual(['notes.txt']);
  });

  test('an owner is registered once; the same name elsewhere is refused while it lives', async () => {
    const path = temporaryFile();
    const [a, b] = [await opened(new SqliteStorage(path)), await opened(new SqliteStorage(path))];
    await a.registerEngine('same');
    await a.registerEngine('same');
    await expect(b.registerEngine('same')).rejects.toMatchObject({ code: 'RS_STORAGE_BUSY' });
    await a.unregisterEngine('same');
    await b.registerEngine('same');
    expect(lockFiles(path)).toEqual(['same.lock']);
  });

  test('that somebody removed prove nothing: expiry decides', async () => {
    const path = temporaryFile();
    const [a, b] = [await opened(new SqliteStorage(path)), await opened(new SqliteStorage(path))];
    await a.registerEngine('a');
    const run = await aLeasedRun(a, {}, 'a');
    rmSync(`${path}-engines`, { recursive: true });
    await a.close();
    expect(await b.releaseDeadEngines(0)).toEqual([]);
    expect((await mustGet(b, run)).owner).toBe('a');
  });

  test('many that look for the dead at once take each run once, and never a living engine’s', async () => {
    const path = temporaryFile();
    const dead = await opened(new SqliteStorage(path));
    const runs: string[] = [];
    for (let index = 0; index < 20; index += 1) {
      await dead.registerEngine(`dead-${index}`);
      runs.push((await aLeasedRun(dead, {}, `dead-${index}`)).id);
    }
    const reapers = await Promise.all(Array.from({ length: 4 }, () => opened(new SqliteStorage(path))));
    const living = await Promise.all(
      reapers.map(async (storage, index) => {
        await storage.registerEngine(`living-${index}`);
        return aLeasedRun(storage, {}, `living-${index}`);
      }),
    );
    await dead.close();
    const released = await Promise.all(
      [...reapers, ...reapers].map((storage, index) => storage.releaseDeadEngines(index)),
    );
    expect(
      released
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(runs.sort());
    expect(lockFiles(path).length).toBe(4);
    for (const [index, run] of living.entries()) {
      const results = await reapers[index]?.commitUnits([unitOf(run, { entries: [anEntry(1)] })]);
      expect(results).toEqual(['committed']);
    }
  });

  test('a look by another storage of the same process does not let go of a lock', async () => {
    const path = temporaryFile();
    const [a, b] = [await opened(new SqliteStorage(path)), await opened(new SqliteStorage(path))];
    await a.registerEngine('a');
    for (let look = 0; look < 3; look += 1) expect(await b.releaseDeadEngines(0)).toEqual([]);
    await b.close();
    const other = `
      import Database from 'better-sqlite3';
      const lock = new Database(process.argv[1], { timeout: 0, fileMustExist: true });
      try { lock.exec('begin exclusive'); console.log('free'); } catch (error) { console.log(error.code); }`;
    const lock = join(`${path}-engines`, 'a.lock');
    const answer = (): string =>
      execFileSync(process.execPath, ['--input-type=module', '-e', other, lock], { encoding: 'utf8' }).trim();
    expect(answer()).toBe('SQLITE_BUSY');
    await a.close();
    expect(answer()).toBe('free');
  });

  test('two storages of one process reached by different links to the file know each other', async () => {
    const path = temporaryFile();
    const a = await opened(new SqliteStorage(path));
    symlinkSync(path, `${path}-link`);
    const b = await opened(new SqliteStorage(`${path}-link`));
    await a.registerEngine('a');
    await aLeasedRun(a, {}, 'a');
    expect(await b.releaseDeadEngines(0)).toEqual([]);
    await a.close();
    expect((await b.releaseDeadEngines(0)).length).toBe(1);
  });
});
