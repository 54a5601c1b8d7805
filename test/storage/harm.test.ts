import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { SqliteStorage } from '../../src/storage/index.js';
import { aRun } from '../../src/testing/storage-cases/case.js';
import { afterwards, temporaryFile } from './places.js';

const program = fileURLToPath(new URL('writing-process.ts', import.meta.url));
const start = `import { createJiti } from 'jiti'; await createJiti(process.argv[1]).import(process.argv[1]);`;

/** Another process that starts runs for as long as it can. */
function aWriter(path: string, durability: string) {
  const args = ['--input-type=module', '-e', start, program, path, durability];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  afterwards(() => child.kill('SIGKILL'));
  const acknowledged: string[] = [];
  const others: string[] = [];
  let heard = (): void => undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    (line.startsWith('wf_') ? acknowledged : others).push(line);
    heard();
  });
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => (heard = resolve));
  };
  return {
    acknowledged,
    others,
    look: () => child.stdin.write('look\n'),
    /** Resolves when so many more runs were acknowledged. */
    hasWritten: (runs: number) => {
      const aim = acknowledged.length + runs;
      return until(() => acknowledged.length >= aim);
    },
    hasSaid: (line: string) => until(() => others.includes(line)),
    exited: new Promise((resolve) => child.once('close', resolve)),
    kill: () => child.kill('SIGKILL'),
  };
}

/** As `runsheet list` does: opens it in a process that does nothing else with it, and closes it. */
async function list(path: string): Promise<string[]> {
  const storage = new SqliteStorage(path);
  await storage.open();
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await storage.listRuns({ limit: 1000, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.runs.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  await storage.close();
  return ids;
}

function integrity(path: string): unknown {
  const db = new Database(path);
  afterwards(() => db.close());
  return db.pragma('integrity_check', { simple: true });
}

describe.each(['power', 'process'])('with durability `%s`', (durability) => {
  test('a program that looks at its own database, and others that list it, lose none of its runs', async () => {
    const path = temporaryFile();
    const writer = aWriter(path, durability);
    await writer.hasWritten(20);
    for (let round = 0; round < 3; round += 1) {
      writer.look();
      await writer.hasSaid('looked');
      await list(path);
      await writer.hasWritten(20);
    }
    writer.kill();
    await writer.exited;
    expect(writer.others.filter((line) => line !== 'looked')).toEqual([]);
    const kept = new Set(await list(path));
    expect(writer.acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    expect(integrity(path)).toBe('ok');
  });

  test.each<[string, (path: string) => void]>([
    ['the index of its log is removed', (path) => rmSync(`${path}-shm`)],
    [
      'the index of its log is replaced',
      (path) => {
        copyFileSync(`${path}-shm`, `${path}-copy`);
        renameSync(`${path}-copy`, `${path}-shm`);
      },
    ],
  ])('nothing is acknowledged and lost once %s', async (_, harm) => {
    const path = temporaryFile();
    const writer = aWriter(path, durability);
    await writer.hasWritten(50);
    harm(path);
    await writer.hasSaid('RS_STORAGE_LOST');
    await writer.exited;
    const storage = new SqliteStorage(path);
    await storage.open();
    const { run } = await storage.enqueueRun(aRun({ id: `wf_${randomUUID()}` }));
    await storage.close();
    const kept = new Set(await list(path));
    expect([...writer.acknowledged, run.id].filter((id) => !kept.has(id))).toEqual([]);
    expect(integrity(path)).toBe('ok');
  });

  test('nothing is acknowledged after its log was removed', async () => {
    const path = temporaryFile();
    const writer = aWriter(path, durability);
    await writer.hasWritten(50);
    rmSync(`${path}-wal`);
    await writer.hasSaid('RS_STORAGE_LOST');
    await writer.exited;
    const kept = new Set(await list(path));
    // What its end could still copy is there as well.
    expect(writer.acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    expect(integrity(path)).toBe('ok');
  });
});
