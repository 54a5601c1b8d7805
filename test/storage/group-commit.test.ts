import Database from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Clock, RunsheetError, systemClock } from '../../src/common/index.js';
import { type Durability, DurableOnCommit, type Waiter } from '../../src/storage/sqlite/durability.js';
import { storageError } from '../../src/storage/sqlite/errors.js';
import { GroupCommit } from '../../src/storage/sqlite/group-commit.js';
import { WalSync } from '../../src/storage/sqlite/wal-sync.js';
import { HastyClock, ManualClock, turns } from './clocks.js';
import { afterwards, temporaryFile } from './places.js';

let path: string;
let db: Database.Database;
let statements: string[];

beforeEach(() => {
  path = temporaryFile();
  statements = [];
  db = new Database(path, { timeout: 0, verbose: (statement) => statements.push(String(statement)) });
  afterwards(() => db.close());
  db.pragma('journal_mode = WAL');
  db.exec('create table note (text text primary key)');
  statements.length = 0;
});

function groupCommit({
  durability = new DurableOnCommit(() => undefined),
  clock = systemClock,
  busyTimeoutMs = 5000,
}: { durability?: Durability; clock?: Clock; busyTimeoutMs?: number } = {}): GroupCommit {
  return new GroupCommit({
    db,
    durability,
    clock,
    random: () => 0,
    busyTimeoutMs,
    afterBegin: () => undefined,
    explain: (error) => storageError(error, path),
    onCommit: () => undefined,
  });
}

function insert(text: string): () => string {
  return () => {
    db.prepare('insert into note values (?)').run(text);
    return text;
  };
}

function notes(): string[] {
  return db.prepare('select text from note order by rowid').pluck().all() as string[];
}

function transactions(): number {
  return statements.filter((statement) => statement === 'commit').length;
}

/** A disk on which each sync takes as long as the test likes. */
function slowDurability(): { durability: Durability; waiters: Waiter[] } {
  const waiters: Waiter[] = [];
  const durability: Durability = {
    wrote: () => undefined,
    whenDurable: (waiter) => void waiters.push(waiter),
    syncNow: () => waiters.splice(0).forEach((waiter) => waiter.durable()),
    get waiting() {
      return { count: waiters.length, bytes: waiters.reduce((sum, { bytes }) => sum + bytes, 0) };
    },
    fail: () => undefined,
    close: () => undefined,
  };
  return { durability, waiters };
}

describe('writes of one turn of the event loop', () => {
  test('share one transaction, in the order in which they were asked for', async () => {
    const writes = groupCommit({ clock: new ManualClock() });
    const results = await Promise.all(['a', 'b', 'c'].map((text) => writes.submit(insert(text))));
    expect(results).toEqual(['a', 'b', 'c']);
    expect(notes()).toEqual(['a', 'b', 'c']);
    expect(transactions()).toBe(1);
  });

  test('asked for by answers to earlier ones wait for the next turn', async () => {
    const writes = groupCommit({ clock: new ManualClock() });
    await Promise.all(
      ['a', 'b', 'c'].map(async (text) => {
        await writes.submit(insert(text));
        await writes.submit(insert(`${text}2`));
      }),
    );
    expect(transactions()).toBe(2);
  });

  test('are split after 256 writes, and after 1 MB', async () => {
    const writes = groupCommit({ clock: new ManualClock() });
    await Promise.all(Array.from({ length: 600 }, (_, index) => writes.submit(insert(`n${index}`))));
    expect(transactions()).toBe(3);
    statements.length = 0;
    const bytes = 400 * 1024;
    await Promise.all(Array.from({ length: 5 }, (_, index) => writes.submit(insert(`m${index}`), { bytes })));
    expect(transactions()).toBe(3);
    statements.length = 0;
    await writes.submit(insert('huge'), { bytes: 9e6 });
    expect(transactions()).toBe(1);
  });
});

describe('the event loop', () => {
  test('turns while a long batch is written: what is left after some milliseconds gets the next transaction', async () => {
    const clock = new ManualClock();
    const writes = groupCommit({ clock });
    const results = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((text) =>
      writes.submit(() => {
        clock.advance(1);
        return insert(text)();
      }),
    );
    expect((await Promise.all(results)).join('')).toBe('abcdefghi');
    expect(notes().join('')).toBe('abcdefghi');
    expect(transactions()).toBe(3);
  });

  test('turns while many are answered; what they write then shares one transaction', async () => {
    const clock = new ManualClock();
    const writes = groupCommit({ clock });
    const seen: string[] = [];
    const one = async (text: string): Promise<void> => {
      await writes.submit(insert(text));
      seen.push(text);
      await Promise.resolve();
      // What it does at once counts, too.
      clock.advance(1);
      await writes.submit(insert(`${text} again`));
    };
    const all = Promise.all([...'abcdefghijkl'].map(one));
    const count = (): void => {
      seen.push('turn');
      if (seen.length < 30) setImmediate(count);
    };
    setImmediate(count);
    await all;
    expect(seen.filter((text) => text !== 'turn').join('')).toBe('abcdefghijkl');
    expect(seen.slice(seen.indexOf('h'), seen.indexOf('i'))).toContain('turn');
    expect(transactions()).toBe(2);
  });
});

describe('one that fails', () => {
  test('takes nobody along: the others are repeated singly', async () => {
    const writes = groupCommit();
    const outcomes = await Promise.allSettled(['a', 'b', 'a', 'c'].map((text) => writes.submit(insert(text))));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(notes()).toEqual(['a', 'b', 'c']);
    const [, , failed] = outcomes;
    expect(failed?.status === 'rejected' && failed.reason).toBeInstanceOf(RunsheetError);
  });

  test('leaves nothing of itself', async () => {
    const writes = groupCommit();
    const half = writes.submit(() => {
      insert('half')();
      throw new Error('stopped in the middle');
    });
    await expect(half).rejects.toThrow('stopped in the middle');
    expect(notes()).toEqual([]);
    expect(await writes.submit(insert('after'))).toBe('after');
  });

  test('on a full disk is told so by name; smaller ones that still fit are written', async () => {
    const pages = db.pragma('page_count', { simple: true }) as number;
    db.pragma(`max_page_count = ${pages + 4}`);
    const writes = groupCommit();
    const outcomes = await Promise.allSettled(
      ['small', 'x'.repeat(100_000), 'tiny'].map((text) => writes.submit(insert(text))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const failed = outcomes[1];
    expect(failed?.status === 'rejected' && failed.reason).toMatchObject({ code: 'RS_STORAGE_FULL' });
    expect(notes()).toEqual(['small', 'tiny']);
  });
});

describe('while another connection holds the lock', () => {
  test('BEGIN is tried again every few milliseconds while the batch grows, and the thread is never blocked', async () => {
    const clock = new ManualClock();
    const writes = groupCommit({ clock });
    const other = new Database(path);
    other.exec('begin immediate');
    const first = writes.submit(insert('a'));
    await turns();
    const second = writes.submit(insert('b'));
    clock.advance(1);
    await turns();
    expect(clock.pendingTimers).toBe(1);
    other.exec('commit');
    other.close();
    clock.advance(1);
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
    expect(transactions()).toBe(1);
  });

  test('for longer than the limit, the writes that have waited so long are refused by name', async () => {
    const writes = groupCommit({ clock: new HastyClock(), busyTimeoutMs: 200 });
    const other = new Database(path);
    other.exec('begin immediate');
    await expect(writes.submit(insert('a'))).rejects.toMatchObject({
      code: 'RS_STORAGE_BUSY',
      message: expect.stringContaining('locked by another program') as string,
    });
    other.close();
    expect(await writes.submit(insert('b'))).toBe('b');
    expect(notes()).toEqual(['b']);
  });
});

describe('durability', () => {
  test('a write is answered when it is durable, an early one at COMMIT', async () => {
    const { durability, waiters } = slowDurability();
    const writes = groupCommit({ durability });
    const answered: string[] = [];
    const late = writes.submit(insert('late')).then(() => answered.push('late'));
    const early = writes.submit(insert('early'), { early: true }).then(() => answered.push('early'));
    await early;
    await turns();
    expect(answered).toEqual(['early']);
    expect(waiters.length).toBe(1);
    durability.syncNow();
    await late;
    expect(answered).toEqual(['early', 'late']);
  });

  test('one that could not be made durable is rejected', async () => {
    const { durability, waiters } = slowDurability();
    const write = groupCommit({ durability }).submit(insert('a'));
    await turns();
    waiters[0]?.failed(Object.assign(new Error('EIO'), { code: 'EIO' }));
    await expect(write).rejects.toMatchObject({ code: 'RS_STORAGE_FAILED' });
  });

  test('with a thousand writes or 4 MB unacknowledged there is no room for new work', async () => {
    for (const [count, bytes] of [
      [1000, 1],
      [4, 1024 * 1024],
    ] as const) {
      const { durability } = slowDurability();
      const writes = groupCommit({ durability });
      let hasRoom = false;
      const all = Array.from({ length: count }, (_, index) => writes.submit(insert(`${bytes} ${index}`), { bytes }));
      const room = writes.room().then(() => (hasRoom = true));
      await turns(20);
      expect(hasRoom).toBe(false);
      durability.syncNow();
      await Promise.all(all);
      await room;
    }
  });
});

describe('inline', () => {
  test('the write is committed and durable before the event loop turns, by one sync', async () => {
    const syncs: string[] = [];
    const fileSync = { start: () => syncs.push('off the thread'), now: () => syncs.push('on it') };
    const nothing = (): undefined => undefined;
    const walSync = new WalSync({
      fd: 0,
      fileSync,
      clock: systemClock,
      onFailure: nothing,
      verify: nothing,
      release: nothing,
    });
    afterwards(() => walSync.close());
    // A busy machine may take longer than an inline commit may.
    const writes = groupCommit({ durability: walSync, clock: new ManualClock() });
    let turned = false;
    setImmediate(() => (turned = true));
    const write = writes.submit(insert('a'));
    await writes.flushInline([write]);
    expect(await write).toBe('a');
    expect(turned).toBe(false);
    expect(syncs).toEqual(['on it']);
  });

  test('one commit after another lets the event loop turn every 5 ms', async () => {
    const clock = new ManualClock();
    const writes = groupCommit({ clock });
    let turnsSeen = 0;
    let isOver = false;
    const count = (): void => {
      turnsSeen += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    for (let index = 0; index < 50; index += 1) {
      const write = writes.submit(() => {
        clock.advance(1);
        return insert(`${index}`)();
      });
      await writes.flushInline([write]);
      await write;
    }
    isOver = true;
    expect(turnsSeen).toBeGreaterThanOrEqual(9);
    expect(turnsSeen).toBeLessThanOrEqual(12);
  });
});

describe('the end', () => {
  test('rejects what is queued and all that comes, and commits nothing more', async () => {
    const writes = groupCommit();
    const stopped = new RunsheetError('RS_ENGINE_STOPPED', 'closed');
    const queued = writes.submit(insert('a'));
    writes.end(stopped);
    await expect(queued).rejects.toBe(stopped);
    await expect(writes.submit(insert('b'))).rejects.toBe(stopped);
    await turns();
    expect(notes()).toEqual([]);
  });
});
