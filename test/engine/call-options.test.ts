import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, MemoryStorage, SqliteStorage, createEngine, loadDefinitions, loadHandlers } from 'runsheet';
import { VirtualClock, flowTestFromRun, runFlowTests, testFlow } from 'runsheet/testing';
import { describe, expect, it } from 'vitest';
import { definitionOf } from '../support/flow.js';
import { World, codeOf } from '../support/world.js';

const flow = `
workflow: flow
inputSchema: {}
schedule: [{ id: nightly, every: 24h }]
steps: [{ waitFor: word, timeout: never }]
`;

/** What a call of JavaScript may be given, whatever the types say. */
type Loose = Record<keyof Engine, (...given: unknown[]) => Promise<unknown>>;

const messageOf = async (call: () => unknown): Promise<string> => {
  try {
    await call();
  } catch (error) {
    expect(error).toMatchObject({ name: 'RunsheetError', code: 'RS_OPTIONS_INVALID' });
    return (error as Error).message;
  }
  throw new Error('not refused');
};

describe('what a call of the engine is given is checked before anything is done', () => {
  const half = '\ud83d';

  it.each<[string, (engine: Loose) => unknown, string]>([
    [
      'a misspelt option',
      (engine) => engine.enqueue('flow', {}, { kye: 'a' }),
      'enqueue: unknown option "kye"; did you mean "key"?',
    ],
    [
      'an unknown option',
      (engine) => engine.enqueue('flow', {}, { priority: 1 }),
      'enqueue: unknown option "priority"; there are key, at',
    ],
    [
      'a text for the options',
      (engine) => engine.enqueue('flow', {}, 'key-1'),
      'enqueue: options: Invalid input: expected object, received string',
    ],
    [
      '`at` that is no number',
      (engine) => engine.enqueue('flow', {}, { at: NaN }),
      'enqueue: at: Invalid input: expected number, received NaN',
    ],
    [
      '`at` as a text',
      (engine) => engine.enqueue('flow', {}, { at: '2030-01-31T09:00:00Z' }),
      'enqueue: at: Invalid input: expected number, received string',
    ],
    ['`at` that never comes', (engine) => engine.enqueue('flow', {}, { at: Infinity }), 'enqueue: at: '],
    [
      '`at` beyond the last date',
      (engine) => engine.enqueue('flow', {}, { at: 8.7e15 }),
      'enqueue: at: must be a time in milliseconds since 1970',
    ],
    [
      'an empty key',
      (engine) => engine.enqueue('flow', {}, { key: '' }),
      'enqueue: key: must not be empty; is the variable that it comes from set?',
    ],
    ['a key of white space', (engine) => engine.enqueue('flow', {}, { key: ' \n' }), 'enqueue: key: must not be empty'],
    [
      'a key with half a surrogate pair',
      (engine) => engine.enqueue('flow', {}, { key: `a${half}` }),
      'enqueue: key: holds half of a surrogate pair',
    ],
    ['a key that is null', (engine) => engine.enqueue('flow', {}, { key: null }), 'enqueue: key: '],
    ['no workflow', (engine) => engine.enqueue(undefined, {}), 'enqueue: workflow: '],
    ['a workflow with half a surrogate pair', (engine) => engine.enqueue(half, {}), 'enqueue: workflow: holds half'],
    [
      'a misspelt option',
      (engine) => engine.cancel('wf_1', { compnsate: false }),
      'cancel: unknown option "compnsate"; did you mean "compensate"?',
    ],
    ['a text for a switch', (engine) => engine.cancel('wf_1', { compensate: 'no' }), 'cancel: compensate: '],
    ['a reason that is no text', (engine) => engine.cancel('wf_1', { reason: 42 }), 'cancel: reason: '],
    [
      'an unknown state',
      (engine) => engine.cleanup(0, ['complete']),
      'cleanup: statuses.0: Invalid option: expected one of "completed"|"failed"|"cancelled"; did you mean "completed"?',
    ],
    ['an open state', (engine) => engine.archive(0, ['waiting']), 'archive: statuses.0: '],
    ['a state that is no list', (engine) => engine.cleanup(0, 'failed'), 'cleanup: statuses: '],
    ['a negative age', (engine) => engine.cleanup(-1), 'cleanup: ageMs: '],
    ['an age as a text', (engine) => engine.archive('7d'), 'archive: ageMs: '],
    ['no age', (engine) => engine.cleanup(), 'cleanup: ageMs: '],
    ['half a run', (engine) => engine.listRuns({ limit: 1.5 }), 'listRuns: limit: '],
    ['no run', (engine) => engine.listRuns({ limit: 0 }), 'listRuns: limit: '],
    ['an unknown state', (engine) => engine.listRuns({ statuses: ['runing'] }), 'did you mean "running"?'],
    [
      'a misspelt option',
      (engine) => engine.listRuns({ status: ['failed'] }),
      'listRuns: unknown option "status"; did you mean "statuses"?',
    ],
    ['a time as a text', (engine) => engine.listRuns({ since: '2030-01-01' }), 'listRuns: since: '],
    ['an unknown cursor', (engine) => engine.listRuns({ cursor: 'page 2' }), 'page 2'],
    ['a limit that is no number', (engine) => engine.result('wf_1', { timeoutMs: NaN }), 'result: timeoutMs: '],
    [
      'a misspelt option',
      (engine) => engine.result('wf_1', { timeout: 1 }),
      'result: unknown option "timeout"; did you mean "timeoutMs"?',
    ],
    ['a run without an id', (engine) => engine.result({ id: '' }), 'result: run: '],
    ['an empty id', (engine) => engine.signal('', 'word'), 'signal: run: must be a run, its id, or { workflow, key }'],
    [
      'an empty key',
      (engine) => engine.signal({ workflow: 'flow', key: '' }, 'word'),
      'signal: run: must be a run, its id, or { workflow, key }',
    ],
    ['an address with more', (engine) => engine.getRun({ workflow: 'flow', key: 'a', more: 'b' }), 'getRun: run: '],
    ['nothing', (engine) => engine.getRun(), 'getRun: run: '],
    ['an empty name', (engine) => engine.signal('wf_1', ''), 'signal: name: must not be empty'],
    ['half a surrogate pair', (engine) => engine.signal('wf_1', half), 'signal: name: holds half'],
    ['an empty id', (engine) => engine.resume(''), 'resume: run: '],
    ['a number', (engine) => engine.resumeCompensation(7), 'resumeCompensation: run: '],
    ['a number', (engine) => engine.abandonCompensation(7), 'abandonCompensation: run: '],
    ['an empty id', (engine) => engine.pauseSchedule('flow', ''), 'pauseSchedule: id: must not be empty'],
    ['half a surrogate pair', (engine) => engine.resumeSchedule('flow', half), 'resumeSchedule: id: holds half'],
    ['no id', (engine) => engine.triggerSchedule('flow'), 'triggerSchedule: id: '],
    ['half a time', (engine) => engine.listSchedules({ count: 1.5 }), 'listSchedules: count: '],
    [
      'a misspelt option',
      (engine) => engine.listSchedules({ next: 3 }),
      'listSchedules: unknown option "next"; there are count',
    ],
    [
      'a misspelt option',
      (engine) => engine.start({ olny: 'wf_1' }),
      'start: unknown option "olny"; did you mean "only"?',
    ],
    ['a negative time', (engine) => engine.stop({ graceMs: -1 }), 'stop: graceMs: '],
    [
      'a misspelt option',
      (engine) => engine.close({ grace: 1 }),
      'close: unknown option "grace"; did you mean "graceMs"?',
    ],
    ['false', (engine) => engine.close(false), 'close: options: '],
    ['no function', (engine) => engine.subscribe('step:failed'), 'subscribe: listener: must be a function'],
    ['no function', (engine) => engine.onFault(), 'onFault: listener: must be a function'],
    [
      'a path',
      (engine) => engine.register('flow.yaml'),
      'register: definition: must be a definition, as loadDefinitions gives them',
    ],
  ])('%s: %s', async (_, call, expected) => {
    const { engine } = new World(flow);
    const message = await messageOf(() => call(engine as unknown as Loose));
    expect(message).toContain(expected);
    expect((await engine.listRuns()).runs).toEqual([]);
    await engine.close();
  });

  it('names everything that is wrong at once', async () => {
    const { engine } = new World(flow);
    const call = engine as unknown as Loose;
    expect(await messageOf(() => call.enqueue('flow', {}, { kye: 'a', at: NaN }))).toBe(
      'enqueue: at: Invalid input: expected number, received NaN; unknown option "kye"; did you mean "key"?',
    );
  });

  it('refuses options that cannot be read', async () => {
    const { engine } = new World(flow);
    const options = {
      get key(): string {
        throw new TypeError('no key today');
      },
    };
    expect(await codeOf(engine.enqueue('flow', {}, options))).toBe('RS_OPTIONS_INVALID');
  });

  it('takes what is right', async () => {
    const world = new World(flow);
    const { engine } = world;
    const run = await engine.enqueue('flow', {}, { key: 'k😀', at: world.clock.now() + 1000 });
    expect((await engine.getRun({ workflow: 'flow', key: 'k😀' })).id).toBe(run.id);
    await engine.enqueue('flow', {}, {});
    await engine.enqueue('flow');
    expect((await engine.listRuns({ statuses: ['pending'], limit: 2, since: 0 })).runs).toHaveLength(2);
    expect((await engine.listSchedules({ count: 3 }))[0]?.nextTimes).toHaveLength(3);
    await engine.cancel(run.id, { compensate: false, reason: '' });
    expect(await engine.cleanup(0, ['cancelled'])).toBe(0);
    await engine.close({ graceMs: 0 });
  });
});

describe('what other calls are given is checked too', () => {
  it.each<[string, () => unknown, string]>([
    [
      'createEngine',
      () => createEngine({ storage: new MemoryStorage(), concurency: 2 } as never),
      'createEngine: unknown option "concurency"; did you mean "concurrency"?',
    ],
    [
      'createEngine, inside',
      () => createEngine({ storage: new MemoryStorage(), retention: { cleanupAfter: 1 } } as never),
      'createEngine: unknown option "retention.cleanupAfter"; did you mean "cleanupAfterMs"?',
    ],
    [
      'createEngine, a state',
      () => createEngine({ storage: new MemoryStorage(), retention: { statuses: ['failled'] } } as never),
      'createEngine: retention.statuses.0: ',
    ],
    ['createEngine, nothing', () => createEngine(undefined as never), 'createEngine: options: '],
    [
      'SqliteStorage',
      () => new SqliteStorage(':memory:', { durabilty: 'process' } as never),
      'SqliteStorage: unknown option "durabilty"; did you mean "durability"?',
    ],
    [
      'SqliteStorage, a value',
      () => new SqliteStorage(':memory:', { durability: 'proces' } as never),
      'did you mean "process"?',
    ],
    [
      'SqliteStorage, a time',
      () => new SqliteStorage(':memory:', { busyTimeoutMs: NaN }),
      'SqliteStorage: busyTimeoutMs: ',
    ],
    [
      'SqliteStorage, a threshold',
      () => new SqliteStorage(':memory:', { checkpoints: { passiveFrames: 0 } }),
      'SqliteStorage: checkpoints.passiveFrames: ',
    ],
    ['SqliteStorage, no path', () => new SqliteStorage(''), 'SqliteStorage: path: '],
    [
      'loadDefinitions',
      () => loadDefinitions('definitions', { handler: new Map() } as never),
      'loadDefinitions: unknown option "handler"; did you mean "handlers"?',
    ],
    ['loadDefinitions, no path', () => loadDefinitions('' as never), 'loadDefinitions: path: '],
    [
      'loadHandlers',
      () => loadHandlers('handlers', { importmodule: () => 1 } as never),
      'loadHandlers: unknown option "importmodule"; did you mean "importModule"?',
    ],
    [
      'testFlow',
      () => testFlow({ definitions: [definitionOf(flow)], handler: {} } as never),
      'testFlow: unknown option "handler"; did you mean "handlers"?',
    ],
    [
      'testFlow without a flow',
      () => testFlow({ definitions: [] }),
      'testFlow: definitions: must hold the flow under test',
    ],
    [
      'testFlow of another flow',
      () => testFlow({ definitions: [definitionOf(flow)], workflow: 'flwo' }),
      'testFlow: no workflow "flwo" among the definitions; did you mean "flow"?',
    ],
    [
      'runFlowTests',
      () => runFlowTests('x.test.yaml', { fliter: 'a' } as never),
      'runFlowTests: unknown option "fliter"; did you mean "filter"?',
    ],
    [
      'flowTestFromRun',
      () => flowTestFromRun(new MemoryStorage(), 'wf_1', { workfow: 'x' } as never),
      'flowTestFromRun: unknown option "workfow"; did you mean "workflow"?',
    ],
  ])('%s', async (_, call, expected) => {
    expect(await messageOf(call)).toContain(expected);
  });

  it('in a flow under test', async () => {
    const flowInTest = await testFlow({ definitions: [definitionOf(flow)] });
    expect(await messageOf(() => flowInTest.pass(NaN))).toContain('pass: time: ');
    expect(await messageOf(() => flowInTest.signal('word', null, { too: 'x' } as never))).toContain(
      'did you mean "to"?',
    );
    expect(await messageOf(() => flowInTest.cancel({ compnsate: false } as never))).toContain(
      'did you mean "compensate"?',
    );
    await flowInTest.close();
  });
});

describe('a time that has no date', () => {
  it.each(['=8.7e15', '=-8.7e15', '=9007199254740991'])('is no end of a sleep: %s', async (until) => {
    const world = new World(`steps: [{ sleep: { until: '${until}' } }]`);
    const { error } = await world.end(await world.begin());
    expect(error).toMatchObject({ name: 'ExpressionError' });
    expect(error?.message).toContain('which is no point in time');
  });

  it('may be the last one there is', async () => {
    const clock = new VirtualClock();
    const world = new World(`steps: [{ sleep: { until: '=8.64e15' } }]`, {}, { clock });
    expect((await world.run(await world.begin())).status).toBe('sleeping');
    await world.engine.close();
  });
});

describe('keys that were stored before they were checked', () => {
  it('still belong to their runs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runsheet-'));
    const storage = new SqliteStorage(join(folder, 'runs.db'), { durability: 'process' });
    const world = new World(flow, {}, { storage });
    const { id } = await world.engine.enqueue('flow', {});
    const record = await storage.getRun(id);
    const { run } = await storage.enqueueRun({
      id: 'wf_old',
      workflow: 'flow',
      revision: 1,
      definitionHash: record?.definitionHash ?? '',
      key: '',
      input: '{}',
      createdAt: 0,
      dueAt: 0,
    });
    expect((await world.engine.getRun(run.id)).key).toBe('');
    await world.engine.close();
  });
});
