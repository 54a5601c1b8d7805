import { HandlerRegistry, loadHandlers } from 'runsheet';
import { describe, expect, it } from 'vitest';
import { runLoadedTests } from '../../src/testing/flow-runner/index.js';
import { loadFlowTest } from '../../src/testing/flow-tests/index.js';
import { passes } from './flow-test.js';

/*
 * Virtual time costs nothing by itself: a test is woken as often as its run is, however long it waits. (How
 * many milliseconds that takes is no matter for a test; `runsheet test` prints it.)
 */

describe('a test is woken once for', () => {
  it('a sleep of thirty days', async () => {
    const { wakeUps, trace } = await passes('steps: [{ sleep: 30d }]', 'tests: [{ name: a month }]');
    expect(wakeUps).toBe(1);
    expect(trace?.elapsedMs).toBe(30 * 86_400_000);
  });

  it('a wait of 48 hours', async () => {
    const { wakeUps, trace } = await passes(
      'steps: [{ waitFor: go, timeout: 48h, onTimeout: null }]',
      'tests: [{ name: two days }]',
    );
    expect(wakeUps).toBe(1);
    expect(trace?.elapsedMs).toBe(48 * 3_600_000);
  });

  it('a call of two weeks', async () => {
    const { wakeUps } = await passes(
      'steps: [{ step: work, timeout: never }]',
      'tests: [{ name: long work, handlers: { work: { takes: 14d } }, expect: { elapsed: 14d } }]',
    );
    expect(wakeUps).toBe(1);
  });

  it('each month of a year of billing', async () => {
    const handlers = new HandlerRegistry(await loadHandlers('handlers'));
    const loaded = await loadFlowTest('definitions/subscription.test.yaml', { handlers: handlers.catalogue() });
    const [result] = await runLoadedTests(loaded, { handlers, filter: 'a year is billed' });
    expect(result).toMatchObject({ ok: true, wakeUps: 12 });
    expect(result?.trace?.elapsedMs).toBeGreaterThanOrEqual(365 * 86_400_000);
  });
});
