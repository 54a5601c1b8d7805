import { describe, expect, it } from 'vitest';
import { World, codeOf } from '../support/world.js';

const gate = (more = ''): string => `
steps:
  - id: decision
    waitFor: approval
    timeout: 48h
${more}
output: =$steps.decision
`;

describe('waitFor', () => {
  it('parks the run until its signal comes, whose payload is the output', async () => {
    const world = new World(gate());
    const id = await world.begin();
    expect(await world.run(id)).toMatchObject({ status: 'waiting', dueAt: world.clock.now() - 1 + 48 * 3_600_000 });
    await world.engine.signal(id, 'approval', { approved: true });
    expect(await world.end(id)).toMatchObject({ status: 'completed', output: { approved: true } });
  });

  it('takes a signal without payload as null, and does not wait on', async () => {
    const world = new World(gate());
    const id = await world.begin();
    await world.engine.signal(id, 'approval');
    expect(await world.end(id)).toMatchObject({ status: 'completed', output: null });
  });

  it('takes one that came before its gate was reached', async () => {
    const world = new World(`steps: [{ sleep: 1h }, { id: d, waitFor: go, timeout: 1h }]`);
    const id = await world.begin();
    await world.engine.signal(id, 'go', 'early');
    expect((await world.end(id)).output).toBe('early');
  });

  it('fails by name when nobody answers in time', async () => {
    const world = new World(gate());
    const id = await world.begin();
    const run = await world.end(id);
    expect(run.error).toMatchObject({ name: 'WaitTimeout', step: 'decision' });
    expect((run.endedAt ?? 0) - (run.startedAt ?? 0)).toBe(48 * 3_600_000);
  });

  it('gives the value of onTimeout instead', async () => {
    const world = new World(gate('    onTimeout: { approved: false, by: nobody }'));
    const id = await world.begin();
    expect((await world.end(id)).output).toEqual({ approved: false, by: 'nobody' });
  });

  it('with `never` has no deadline, and keeps no timer', async () => {
    const world = new World(`steps: [{ id: d, waitFor: go, timeout: never }]`);
    const id = await world.begin();
    expect(await world.run(id)).toMatchObject({ status: 'waiting', dueAt: null });
    await world.pass(400 * 86_400_000);
    await world.engine.signal(id, 'go', 1);
    expect((await world.end(id)).output).toBe(1);
  });

  it('works in branches, parallel branches and loops, where turns take the oldest that is left', async () => {
    const world = new World(`
steps:
  - id: both
    parallel:
      a: [{ waitFor: left, timeout: 1h }]
      b: [{ branch: [{ when: true, do: [{ waitFor: right, timeout: 1h }] }, { else: [] }] }]
  - id: turns
    forEach: [1, 2, 3]
    do: [{ waitFor: next, timeout: 1h }]
output: { both: =$steps.both, turns: =$steps.turns }
`);
    const id = await world.begin();
    for (const n of [1, 2]) await world.engine.signal(id, 'next', n);
    await world.engine.signal(id, 'right', 'r');
    await world.engine.signal(id, 'left', 'l');
    await world.pass(1000);
    await world.engine.signal(id, 'next', 3);
    expect((await world.end(id)).output).toEqual({ both: { a: 'l', b: 'r' }, turns: [1, 2, 3] });
  });

  it('passes over payloads that its filter turns down, and those at which it fails', async () => {
    const world = new World(gate('    filter: $signal.amount > 10'));
    const id = await world.begin();
    await world.engine.signal(id, 'approval', { amount: 1 });
    await world.engine.signal(id, 'approval', {});
    await world.pass(1000);
    expect((await world.run(id)).status).toBe('waiting');
    const rejected = (await world.journal(id)).filter(({ kind }) => kind === 'signal-rejected');
    expect(rejected.map(({ payload }) => JSON.parse(payload ?? '') as unknown)).toMatchObject([
      {},
      { error: { name: 'ExpressionError' } },
    ]);
    await world.engine.signal(id, 'approval', { amount: 50 });
    expect((await world.end(id)).output).toEqual({ amount: 50 });
    const journal = await world.journal(id);
    expect(journal.filter(({ kind }) => kind === 'signal-rejected')).toHaveLength(2);
  });

  it('never takes one that came after its deadline, however late anybody looks', async () => {
    const world = new World(gate());
    const id = await world.begin();
    await world.engine.stop();
    await world.pass(49 * 3_600_000);
    const late = new World(gate(), {}, { storage: world.storage, clock: world.clock });
    expect(await codeOf(late.engine.signal(id, 'approval', 1))).toBe('RS_SIGNAL_TOO_LATE');
    await late.engine.start();
    const run = await world.clock.until(late.engine.result(id));
    expect(run.error?.name).toBe('WaitTimeout');
  });

  it('takes one that came in time while no engine was there to see it', async () => {
    const world = new World(gate());
    const id = await world.begin();
    await world.engine.stop();
    await world.pass(47 * 3_600_000);
    const sender = new World(gate(), {}, { storage: world.storage, clock: world.clock });
    await sender.engine.signal(id, 'approval', 'in time');
    await world.pass(10 * 3_600_000);
    await sender.engine.start();
    const run = await world.clock.until(sender.engine.result(id));
    expect(run.output).toBe('in time');
  });
});

describe('a signal', () => {
  it('is refused by name where nobody waits for it, naming those there are', async () => {
    const world = new World(gate());
    const id = await world.begin();
    const refused = world.engine.signal(id, 'aproval');
    expect(await codeOf(refused)).toBe('RS_SIGNAL_UNKNOWN');
    await expect(refused).rejects.toThrow(/approval/);
  });

  it('is refused the second time, and the first one counts', async () => {
    const world = new World(
      `steps: [{ sleep: 1h }, { id: d, waitFor: go, timeout: 1h }, { sleep: 1h }]\noutput: =$steps.d`,
    );
    const id = await world.begin();
    await world.engine.signal(id, 'go', 'first');
    expect(await codeOf(world.engine.signal(id, 'go', 'second'))).toBe('RS_SIGNAL_ALREADY_DELIVERED');
    await world.pass(2 * 3_600_000 - 1000);
    expect(await codeOf(world.engine.signal(id, 'go', 'third'))).toBe('RS_SIGNAL_ALREADY_DELIVERED');
    expect((await world.end(id)).output).toBe('first');
  });

  it('is refused by a run that has ended, and by one that does not exist', async () => {
    const world = new World(gate('    onTimeout: null'));
    const id = await world.begin();
    await world.end(id);
    expect(await codeOf(world.engine.signal(id, 'approval'))).toBe('RS_RUN_ENDED');
    expect(await codeOf(world.engine.signal('wf_none', 'approval'))).toBe('RS_RUN_UNKNOWN');
  });

  it('is checked against the schema of its gate', async () => {
    const world = new World(
      gate('    schema: { type: object, properties: { approved: { type: boolean } }, required: [approved] }'),
    );
    const id = await world.begin();
    const refused = world.engine.signal(id, 'approval', { approved: 'yes' });
    expect(await codeOf(refused)).toBe('RS_SIGNAL_INVALID');
    await expect(refused).rejects.toThrow(/approved/);
    await world.engine.signal(id, 'approval', { approved: false });
    expect((await world.end(id)).output).toEqual({ approved: false });
  });

  it('finds its run by workflow and key', async () => {
    const world = new World(gate());
    const id = await world.begin({}, { key: 'order-7' });
    await world.engine.signal({ workflow: 'flow', key: 'order-7' }, 'approval', 7);
    expect((await world.end(id)).output).toBe(7);
  });

  it('is delivered by a process that knows neither the flow nor its handlers', async () => {
    const world = new World(`steps: [{ id: d, waitFor: go, timeout: 1h }, { step: h }]`, { h: () => 'done' });
    const id = await world.begin();
    const { createEngine } = await import('runsheet');
    await createEngine({ storage: world.storage, clock: world.clock }).signal(id, 'go', 1);
    expect((await world.end(id)).output).toBe('done');
  });

  it('opens one gate only', async () => {
    const world = new World(`
steps:
  - id: turns
    forEach: [1, 2]
    concurrency: 2
    do: [{ waitFor: next, timeout: 1h, onTimeout: none }]
`);
    const id = await world.begin();
    await world.engine.signal(id, 'next', 'one');
    expect((await world.end(id)).output).toEqual(['one', 'none']);
  });

  it.each(['toString', 'constructor_', 'hasOwnProperty'])('named %s opens nothing by itself', async (name) => {
    const world = new World(`steps: [{ id: d, waitFor: ${name}, timeout: 1h, onTimeout: nobody }]`);
    const id = await world.begin();
    expect((await world.run(id)).status).toBe('waiting');
    expect((await world.end(id)).output).toBe('nobody');
  });
});

describe('reminders', () => {
  const reminding = `
steps:
  - id: decision
    waitFor: approval
    timeout: 10h
    onTimeout: nobody
    remind: { every: 3h, step: mail, with: { n: =$iteration } }
`;

  it('go out at each interval, none at or after the deadline', async () => {
    const world = new World(reminding, { mail: () => null });
    const id = await world.begin();
    expect((await world.end(id)).output).toBe('nobody');
    expect(world.calls.map(({ input }) => input)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
  });

  it('end with the gate', async () => {
    const world = new World(reminding, { mail: () => null });
    const id = await world.begin();
    await world.pass(4 * 3_600_000);
    await world.engine.signal(id, 'approval', 'yes');
    expect((await world.end(id)).output).toBe('yes');
    expect(world.calls).toHaveLength(1);
  });

  it('that were missed are one, the newest', async () => {
    const world = new World(reminding, { mail: () => null });
    const id = await world.begin();
    await world.engine.stop();
    await world.pass(7 * 3_600_000);
    const later = new World(reminding, { mail: () => null }, { storage: world.storage, clock: world.clock });
    await later.engine.start();
    await world.pass(1000);
    expect(later.calls.map(({ input }) => input)).toEqual([{ n: 1 }]);
    await world.clock.until(later.engine.result(id));
    expect(later.calls.map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('that fail are recorded and end only themselves', async () => {
    let calls = 0;
    const world = new World(reminding, {
      mail: () => {
        calls += 1;
        throw new Error('no mail server');
      },
    });
    const id = await world.begin();
    expect((await world.end(id)).output).toBe('nobody');
    expect(calls).toBe(3 * 3);
  });
});
