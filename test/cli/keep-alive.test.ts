import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/common/index.js';
import { Project } from './project.js';
import { waitingFlows } from './waiting-flows.js';

/** The system's clock, with how many timers are pending that keep a process from ending. */
class WatchedClock implements Clock {
  readonly pending = new Set<object>();

  now(): number {
    return systemClock.now();
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  setTimer(...[delayMs, callback, options]: Parameters<Clock['setTimer']>): ReturnType<Clock['setTimer']> {
    const mark = {};
    if (options?.keepAlive !== false && delayMs > 60_000) this.pending.add(mark);
    const fired = (): void => {
      this.pending.delete(mark);
      callback();
    };
    const timer = systemClock.setTimer(delayMs, fired, options);
    return {
      cancel: () => {
        this.pending.delete(mark);
        timer.cancel();
      },
    };
  }
}

describe('a command that waits for somebody', () => {
  it.each([
    ['run', ['run', 'forever'], 'waiting'],
    ['worker', ['worker'], 'Ctrl-C stops'],
  ])('%s does not end because there is nothing to do', async (_name, args, words) => {
    const clock = new WatchedClock();
    const project = new Project({
      'handlers/all.ts': waitingFlows['handlers/all.ts'],
      'definitions/forever.yaml': 'workflow: forever\nsteps:\n  - waitFor: go\n    timeout: never\n',
    });
    let pending = 0;
    const { code } = await project.runsheet(args, {
      clock,
      onProgress: (err, interrupt) => {
        if (!err.includes(words)) return;
        pending = Math.max(pending, clock.pending.size);
        interrupt();
      },
    });
    expect(code).toBe(130);
    expect(pending).toBeGreaterThan(0);
    expect(clock.pending.size).toBe(0);
  });
});
