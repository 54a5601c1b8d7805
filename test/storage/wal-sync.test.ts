import { beforeEach, describe, expect, test } from 'vitest';
import { type FileSync, WalSync } from '../../src/storage/sqlite/wal-sync.js';
import { ManualClock } from './clocks.js';

let clock = new ManualClock();
let pending: ((error: Error | null) => void)[] = [];
let inline = 0;
let failInline: Error | undefined;
let lost: Error | undefined;
let failures: Error[] = [];
let told: string[] = [];
let sync: WalSync;

const disk: FileSync = {
  start: (_fd, done) => void pending.push(done),
  now: () => {
    if (failInline !== undefined) throw failInline;
    inline += 1;
  },
};

beforeEach(() => {
  clock = new ManualClock();
  pending = [];
  inline = 0;
  failInline = undefined;
  failures = [];
  lost = undefined;
  told = [];
  sync = newSync();
});

function newSync(): WalSync {
  return new WalSync({
    fd: 0,
    fileSync: disk,
    clock,
    onFailure: (error) => failures.push(error),
    verify: () => lost,
    release: () => told.push('released'),
  });
}

function commit(name: string): void {
  sync.wrote();
  wait(name);
}

function wait(name: string): void {
  sync.whenDurable({
    bytes: 10,
    durable: () => told.push(name),
    failed: (error) => told.push(`${name}: ${error.message}`),
  });
}

function finish(index: number, error: Error | null = null): void {
  pending[index]?.(error);
}

describe('a commit is acknowledged by a sync that began after it', () => {
  test('at most two syncs are in flight; one that waits covers all that came meanwhile', () => {
    commit('a');
    commit('b');
    commit('c');
    commit('d');
    expect(pending.length).toBe(2);
    finish(0);
    expect(told).toEqual(['a']);
    expect(pending.length).toBe(3);
    commit('e');
    finish(1);
    expect(told).toEqual(['a', 'b']);
    expect(pending.length).toBe(4);
    finish(2);
    expect(told).toEqual(['a', 'b', 'c', 'd']);
    finish(3);
    expect(told).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(pending.length).toBe(4);
  });

  test('a later sync that is over first acknowledges the earlier commits too, in order', () => {
    commit('a');
    commit('b');
    finish(1);
    expect(told).toEqual(['a', 'b']);
    finish(0);
    expect(told).toEqual(['a', 'b']);
  });

  test('what wrote nothing waits for what was written before it, and not at all if that is durable', () => {
    wait('nothing yet');
    expect(told).toEqual(['nothing yet']);
    commit('a');
    wait('read after a');
    expect(told.length).toBe(1);
    finish(0);
    expect(told).toEqual(['nothing yet', 'a', 'read after a']);
    expect(pending.length).toBe(1);
  });

  test('what nobody waits for is covered by the next sync', () => {
    sync.wrote();
    expect(pending.length).toBe(0);
    commit('a');
    expect(pending.length).toBe(1);
  });

  test('an inline sync acknowledges at once, also those whose own sync still runs', () => {
    commit('a');
    sync.wrote();
    sync.syncNow();
    expect(told).toEqual(['a']);
    sync.syncNow();
    expect(inline).toBe(1);
  });
});

describe('a sync that does not come back', () => {
  test('is repeated on this thread after 20 ms, and its late answer changes nothing', () => {
    commit('a');
    clock.advance(19);
    expect(inline).toBe(0);
    clock.advance(1);
    expect(inline).toBe(1);
    expect(told).toEqual(['a']);
    commit('b');
    finish(0);
    expect(told).toEqual(['a']);
    finish(1);
    expect(told).toEqual(['a', 'b']);
  });

  test('where both are lost, later commits still are acknowledged', () => {
    commit('a');
    commit('b');
    commit('c');
    clock.advance(20);
    expect(told).toEqual(['a', 'b', 'c']);
    commit('d');
    clock.advance(20);
    expect(told).toEqual(['a', 'b', 'c', 'd']);
    expect(inline).toBe(2);
  });

  test('on a slow disk four times its median is waited', () => {
    for (let index = 0; index < 31; index += 1) {
      commit(`slow ${index}`);
      clock.advance(15);
      finish(index);
    }
    commit('slower');
    clock.advance(59);
    expect(inline).toBe(0);
    clock.advance(1);
    expect(inline).toBe(1);
  });

  test('no timer is left when nobody waits', () => {
    commit('a');
    finish(0);
    clock.advance(20);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a sync that fails is fatal', () => {
  const broken = new Error('EIO');

  test('nothing is acknowledged any more, whatever later syncs say', () => {
    commit('a');
    commit('b');
    finish(0, broken);
    finish(1);
    commit('c');
    expect(told).toEqual(['a: EIO', 'b: EIO', 'c: EIO']);
    expect(failures).toEqual([broken]);
    sync.syncNow();
    expect(inline).toBe(0);
  });

  test('also inline, and also when it was repeated inline before it failed', () => {
    failInline = broken;
    commit('a');
    clock.advance(20);
    expect(told).toEqual(['a: EIO']);

    failInline = undefined;
    const second = newSync();
    second.wrote();
    second.whenDurable({ bytes: 0, durable: () => told.push('b'), failed: () => told.push('b failed') });
    clock.advance(20);
    pending.at(-1)?.(broken);
    second.wrote();
    second.whenDurable({ bytes: 0, durable: () => told.push('c'), failed: () => told.push('c failed') });
    expect(told).toEqual(['a: EIO', 'b', 'c failed']);
    expect(failures).toEqual([broken, broken]);
  });
});

test('counts who waits', () => {
  commit('a');
  commit('b');
  expect(sync.waiting).toEqual({ count: 2, bytes: 20 });
  finish(1);
  expect(sync.waiting).toEqual({ count: 0, bytes: 0 });
});

test('the file is released when no sync uses it any more, and what those say by then is nobody’s business', () => {
  commit('a');
  commit('b');
  sync.syncNow();
  sync.close();
  expect(told).toEqual(['a', 'b']);
  finish(0, new Error('EBADF'));
  expect(told).toEqual(['a', 'b']);
  finish(1);
  expect(told).toEqual(['a', 'b', 'released']);
  expect(failures).toEqual([]);
  expect(clock.pendingTimers).toBe(0);

  told = [];
  newSync().close();
  expect(told).toEqual(['released']);
});
