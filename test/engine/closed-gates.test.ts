import { describe, expect, it } from 'vitest';
import { type Script, World, codeOf } from '../support/world.js';

const done: Script = () => 'done';
const scripts = { work: done, undo: () => new Promise(() => {}), last: done };

async function begun(flow: string | string[], input: object = {}, more: Record<string, Script> = {}) {
  const world = new World(flow, { ...scripts, ...more }, { concurrency: 4 });
  const id = await world.begin(input);
  return { world, id, send: (name: string) => world.engine.signal(id, name) };
}

const tooLate = 'RS_SIGNAL_TOO_LATE';

describe('a signal that nobody can take any more is refused', () => {
  it('where join: any has closed the gate', async () => {
    const flow = `steps:
  - { join: any, parallel: { a: [{ waitFor: sa, timeout: 1d }], b: [{ waitFor: sb, timeout: 1d }] } }
  - sleep: 1h`;
    const { world, send } = await begun(flow);
    await send('sa');
    await world.pass(1);
    expect(await codeOf(send('sb'))).toBe(tooLate);
  });

  it('where the deadline of a block has, but not for the gate that handles that', async () => {
    const flow = `steps:
  - { timeout: 1m, group: [{ waitFor: go, timeout: 1d }], onError: [{ do: [{ waitFor: more, timeout: 1d }] }] }
  - sleep: 1h`;
    const { world, id, send } = await begun(flow);
    await world.pass(61_000);
    expect(await codeOf(send('go'))).toBe(tooLate);
    await send('more');
    await world.pass(1);
    expect(await world.run(id)).toMatchObject({ status: 'sleeping' });
  });

  it.each([
    ['when', `{ when: false = true, waitFor: go, timeout: 1d }`],
    ['when of the block around it', `{ when: false = true, group: [{ waitFor: go, timeout: 1d }] }`],
    ['an arm', `{ branch: [{ when: true = false, do: [{ waitFor: go, timeout: 1d }] }, { else: [] }] }`],
    ['error handling that was not needed', `{ step: work, onError: [{ do: [{ waitFor: go, timeout: 1d }] }] }`],
    ['a loop that is over', `{ forEach: [], do: [{ waitFor: go, timeout: 1d }] }`],
  ])('where it was passed over: %s', async (_what, item) => {
    const { send } = await begun(`steps: [${item}, { sleep: 1h }]`);
    expect(await codeOf(send('go'))).toBe(tooLate);
  });

  it('where a branch beside it has failed', async () => {
    const flow = `steps:
  - { parallel: { a: [{ waitFor: go, timeout: 1d }], b: [{ fail: Broken }] }, onError: [{ do: [{ sleep: 1h }] }] }`;
    const { send } = await begun(flow);
    expect(await codeOf(send('go'))).toBe(tooLate);
  });

  it('where the run rolls back, but for gates that come afterwards', async () => {
    const flow = `steps:
  - { step: work, compensate: { step: undo } }
  - parallel: { a: [{ waitFor: go, timeout: 1d }], b: [{ fail: Broken }] }
onFailure: [{ waitFor: after, timeout: 1d }]
finally: [{ waitFor: last, timeout: 1d }]`;
    const { send } = await begun(flow);
    expect(await codeOf(send('go'))).toBe(tooLate);
    await send('after');
    await send('last');
  });

  it('where somebody has cancelled it', async () => {
    const flow = `steps: [{ step: work }, { waitFor: go, timeout: 1d }]\nfinally: [{ waitFor: last, timeout: 1d }]`;
    const { world, id, send } = await begun(flow, {}, { work: () => new Promise(() => {}) });
    await world.engine.cancel(id);
    expect(await codeOf(send('go'))).toBe(tooLate);
    await send('last');
  });

  it('also for a child', async () => {
    const child = `workflow: child\nsteps: [{ join: any, parallel: { a: [{ waitFor: sa, timeout: 1d }], b: [{ waitFor: sb, timeout: 1d }] } }, { sleep: 1h }]`;
    const { world, id } = await begun([`steps: [{ subWorkflow: child }]`, child]);
    const [record] = await world.storage.listChildren(id);
    await world.engine.signal(record?.id ?? '', 'sb');
    await world.pass(1);
    expect(await codeOf(world.engine.signal(record?.id ?? '', 'sa'))).toBe(tooLate);
  });
});

describe('a signal is kept', () => {
  it.each([
    ['for a gate to come', `{ sleep: 1h }, { waitFor: go, timeout: 1d }`],
    [
      'for the next iteration',
      `{ doWhile: =true, maxIterations: 3, do: [{ waitFor: go, timeout: 1d }, { sleep: 1h }] }`,
    ],
    [
      'for another arm that may be taken',
      `{ sleep: 1h }, { branch: [{ when: true = false, do: [{ waitFor: go, timeout: 1d }] }, { else: [] }] }`,
    ],
  ])('%s', async (_what, items) => {
    const { send } = await begun(`steps: [${items}]`);
    await send('go');
  });
});
