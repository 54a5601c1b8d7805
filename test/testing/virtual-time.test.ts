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

describe('time stands still while a formula is evaluated', () => {
  const rows = 30_000;
  /** Takes a processor many slices. */
  const heavy = `$count([1..${rows}].($ * 2))`;

  it('before a wait', async () => {
    const flow = `steps: [{ set: { count: "=${heavy}" } }, { waitFor: go, timeout: 1h }]`;
    const tests = `tests: [{ name: a, signals: [{ at: 30m, name: go }], expect: { elapsed: 30m } }]`;
    const { trace } = await passes(flow, tests);
    expect(trace?.elapsedMs).toBe(30 * 60_000);
  });

  it('in the condition of a loop, an input, a filter and a compensation', async () => {
    const flow = [
      'steps:',
      `  - { id: work, step: work, with: { n: "=${heavy}" }, timeout: 1m, compensate: { step: undo, with: { n: "=${heavy}" } } }`,
      `  - { id: again, doWhile: "=${heavy} < 0", maxIterations: 2, do: [{ sleep: 1s }] }`,
      `  - { id: gate, waitFor: go, filter: "=${heavy} > 0", timeout: 1m }`,
      '  - fail: Enough',
    ].join('\n');
    const tests = [
      'tests:',
      '  - name: each takes no time',
      '    handlers: { work: { takes: 30s }, undo: {} }',
      '    signals: [{ at: 40s, name: go }]',
      `    expect: { status: failed, error: { name: Enough }, inputs: { "work:compensate": { n: ${rows} } } }`,
    ].join('\n');
    const { trace } = await passes(flow, tests);
    expect(trace?.elapsedMs).toBe(40_000);
  });

  it('beside a sleep that would be over long before', async () => {
    const flow = `steps: [{ id: both, parallel: { a: [{ sleep: 1ms }], b: [{ set: { count: "=${heavy}" } }, { sleep: 1ms }] } }]`;
    const { trace } = await passes(flow, 'tests: [{ name: a }]');
    expect(trace?.elapsedMs).toBe(1);
  });

  it('by a condition of the test itself', async () => {
    const tests = `tests: [{ name: a, handlers: { work: [{ when: "${heavy} > 0", returns: 1 }] }, expect: { output: 1 } }]`;
    const { trace } = await passes('steps: [{ id: work, step: work, timeout: 1s }]\noutput: =$steps.work', tests);
    expect(trace?.elapsedMs).toBe(0);
  });
});
