import { describe, expect, it } from 'vitest';
import { World, codeOf, failing } from '../support/world.js';

/** A step that gives `<name> done` and is undone by `un<name>`. */
const undoable = (id: string, more = ''): string => `
  - id: ${id}
    step: ${id}
    compensate: { step: un${id}, with: { result: =$result, error: '=$error.name ?? "none"' } }
${more}`;

const saga = `
steps:
${undoable('a')}${undoable('b')}
  - id: c
    step: c
    retry: { attempts: 1 }
`;

const scripts = {
  a: () => 'a done',
  b: () => 'b done',
  c: failing('Broken'),
  una: () => null,
  unb: () => null,
};

describe('a failure that nobody handles', () => {
  it('undoes what was done, in reverse order of start, with its results', async () => {
    const world = new World(saga, scripts);
    const run = await world.end(await world.begin());
    expect(run).toMatchObject({ status: 'failed', rollbackStatus: 'completed', error: { name: 'Broken', step: 'c' } });
    expect(world.calls.slice(3).map(({ name, key, input }) => [name, key, input])).toEqual([
      ['unb', 'b#0:compensate', { result: 'b done', error: 'none' }],
      ['una', 'a#0:compensate', { result: 'a done', error: 'none' }],
    ]);
  });

  it('tells the reversal the forward key and result', async () => {
    const world = new World(saga, scripts);
    const id = await world.begin();
    await world.end(id);
    const context = world.calls.find(({ name }) => name === 'unb')?.context;
    expect(context).toMatchObject({ result: 'b done', forwardIdempotencyKey: `${id}:b#0:forward`, error: null });
  });

  it('has nothing to undo where no step owes anything', async () => {
    const world = new World(`steps: [{ fail: No }]`);
    expect(await world.end(await world.begin())).toMatchObject({ status: 'failed', rollbackStatus: 'not-applicable' });
  });

  it('undoes a failed step too, whose outcome may be half done, with its error', async () => {
    const world = new World(`steps:${undoable('c', '    retry: { attempts: 2, delay: 1s }')}`, {
      c: failing('Broken'),
      unc: () => null,
    });
    await world.end(await world.begin());
    expect(world.names).toEqual(['c', 'c', 'unc']);
    expect(world.calls[2]?.input).toEqual({ result: null, error: 'Broken' });
  });

  it('owes nothing for a step that proves to have done nothing', async () => {
    const { NoEffectError } = await import('runsheet');
    const flow = `
steps:
  - { id: x, step: x, retry: { attempts: 1 }, compensate: { step: un, exceptErrors: [Declined] }, onError: [{ do: [] }] }
  - { id: y, step: y, retry: { attempts: 1 }, compensate: { step: un }, onError: [{ do: [] }] }
  - { id: z, step: x, with: { bad: =$now() }, compensate: { step: un }, when: false }
  - fail: Stop
`;
    const world = new World(flow, {
      x: failing('Declined'),
      y: () => {
        throw new NoEffectError('nothing happened');
      },
      un: () => null,
    });
    expect(await world.end(await world.begin())).toMatchObject({ rollbackStatus: 'not-applicable' });
    expect(world.names).toEqual(['x', 'y']);
  });

  it('undoes each turn of a loop with its own item and result, the failing one included', async () => {
    const world = new World(
      `
steps:
  - forEach: [1, 2, 3]
    as: n
    do:
      - id: charge
        step: charge
        with: { n: =$n }
        retry: { attempts: 1 }
        compensate: { step: refund, with: { n: =$n, charged: =$result, turn: =$index } }
`,
      {
        charge: (input) => {
          const { n } = input as { n: number };
          if (n === 3) throw new Error('no');
          return n * 100;
        },
        refund: () => null,
      },
    );
    await world.end(await world.begin());
    expect(world.calls.filter(({ name }) => name === 'refund').map(({ input, key }) => [key, input])).toEqual([
      ['charge#2:compensate', { n: 3, charged: null, turn: 2 }],
      ['charge#1:compensate', { n: 2, charged: 200, turn: 1 }],
      ['charge#0:compensate', { n: 1, charged: 100, turn: 0 }],
    ]);
  });

  it('shows the reversal `$steps` as they were when its step started', async () => {
    const world = new World(
      `
steps:
  - id: loop
    doUntil: $iteration = 2
    do:
      - id: n
        set: =($steps.n ?? 0) + 1
      - id: act
        step: act
        compensate: { step: undo, with: { n: =$steps.n } }
  - fail: Stop
`,
      { act: () => 1, undo: () => null },
    );
    await world.end(await world.begin());
    expect(world.calls.slice(2).map(({ input }) => input)).toEqual([{ n: 2 }, { n: 1 }]);
  });

  it('undoes nothing past a pivot, what came before it included', async () => {
    const world = new World(`steps:${undoable('a')}\n  - pivot: shipped\n  - fail: Late`, scripts);
    expect(await world.end(await world.begin())).toMatchObject({ status: 'failed', rollbackStatus: 'not-applicable' });
    expect(world.names).toEqual(['a']);
  });

  it('undoes losers of a race only if the run unwinds', async () => {
    const race = (last: string): string => `
steps:
  - join: any
    parallel:
      fast: [{ sleep: 1s }]
      slow: [{ id: slow, step: slow, compensate: { step: unslow } }, { sleep: 1d }]
  - ${last}
`;
    const two = { slow: () => 1, unslow: () => null };
    const fine = new World(race('set: 1'), two);
    expect((await fine.end(await fine.begin())).status).toBe('completed');
    expect(fine.names).toEqual(['slow']);
    const bad = new World(race('fail: Bad'), two);
    expect((await bad.end(await bad.begin())).rollbackStatus).toBe('completed');
    expect(bad.names).toEqual(['slow', 'unslow']);
  });
});

describe('a reversal that fails', () => {
  const stuck = `steps:${undoable('a')}
  - id: b
    step: b
    compensate: { step: unb, retry: { attempts: 2, delay: 1s } }
  - fail: Stop
`;

  it('is retried by its own policy, then the run is stuck and nothing further is undone', async () => {
    const world = new World(stuck, { ...scripts, unb: failing('NoWay') });
    const id = await world.begin();
    await world.pass(60_000);
    expect(await world.run(id)).toMatchObject({ status: 'compensation-stuck', rollbackStatus: 'stuck', dueAt: null });
    expect(world.names).toEqual(['a', 'b', 'unb', 'unb']);
    expect(await codeOf(world.engine.cancel(id))).toBe('RS_RUN_ENDING');
  });

  it('is tried again when an operator says so, and the unwind goes on from there', async () => {
    let mended = false;
    const world = new World(stuck, {
      ...scripts,
      unb: () => {
        if (!mended) throw new Error('not yet');
      },
    });
    const id = await world.begin();
    await world.pass(60_000);
    await world.engine.resumeCompensation(id);
    await world.pass(60_000);
    expect((await world.run(id)).status).toBe('compensation-stuck');
    mended = true;
    await world.engine.resumeCompensation(id);
    expect(await world.end(id)).toMatchObject({
      status: 'failed',
      rollbackStatus: 'completed',
      error: { name: 'Stop' },
    });
    expect(world.names).toEqual(['a', 'b', 'unb', 'unb', 'unb', 'unb', 'unb', 'una']);
    expect(new Set(world.calls.filter(({ name }) => name === 'unb').map(({ key }) => key)).size).toBe(1);
  });

  it('can be given up, and each step has exactly one outcome', async () => {
    const world = new World(stuck, { ...scripts, unb: failing('NoWay') });
    const id = await world.begin();
    await world.pass(60_000);
    await world.engine.abandonCompensation(id);
    expect(await world.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'abandoned' });
    const skipped = (await world.journal(id)).filter(({ kind }) => kind === 'compensation-skipped');
    expect(skipped.map(({ step }) => step)).toEqual(['b', 'a']);
    expect(world.names).not.toContain('una');
  });

  it('because its input cannot be had is stuck too, by name', async () => {
    const world = new World(
      `steps: [{ id: a, step: a, compensate: { step: una, with: { x: =$result.missing.deeper } } }, { fail: Stop }]`,
      scripts,
    );
    const id = await world.begin();
    await world.pass(1000);
    expect((await world.run(id)).status).toBe('compensation-stuck');
    expect(world.names).toEqual(['a']);
  });

  it('that hangs is bounded by its time-out', async () => {
    const world = new World(
      `steps: [{ id: a, step: a, compensate: { step: una, timeout: 1m, retry: { attempts: 1 } } }, { fail: Stop }]`,
      { ...scripts, una: () => new Promise(() => {}) },
    );
    const id = await world.begin();
    await world.pass(61_000);
    expect((await world.run(id)).status).toBe('compensation-stuck');
  });

  it('only where it is stuck can be resumed or given up', async () => {
    const world = new World(`steps: [{ sleep: 1h }]`);
    const id = await world.begin();
    expect(await codeOf(world.engine.resumeCompensation(id))).toBe('RS_RUN_NOT_STUCK');
    expect(await codeOf(world.engine.abandonCompensation(id))).toBe('RS_RUN_NOT_STUCK');
  });
});

describe('onFailure and finally', () => {
  const last = (steps: string): string => `
steps: ${steps}
onFailure: [{ step: note, with: { at: onFailure, error: =$error.name, status: =$run.status } }]
finally: [{ step: note, with: { at: finally, error: '=$error.name ?? "none"', status: =$run.status } }]
`;

  it('run after the unwind, in this order', async () => {
    const world = new World(last(`[{ id: a, step: a, compensate: { step: una } }, { fail: Stop }]`), {
      ...scripts,
      note: () => null,
    });
    await world.end(await world.begin());
    expect(world.names).toEqual(['a', 'una', 'note', 'note']);
    expect(world.calls.slice(2).map(({ input }) => input)).toEqual([
      { at: 'onFailure', error: 'Stop', status: 'failed' },
      { at: 'finally', error: 'Stop', status: 'failed' },
    ]);
  });

  it('only finally where the run completes', async () => {
    const world = new World(last(`[{ set: 1 }]`), { note: () => null });
    expect(await world.end(await world.begin())).toMatchObject({ status: 'completed', output: 1 });
    expect(world.calls.map(({ input }) => input)).toEqual([{ at: 'finally', error: 'none', status: 'completed' }]);
  });

  it('that fail skip the rest of themselves and change nothing', async () => {
    const world = new World(
      `
steps: [{ fail: Stop }]
onFailure: [{ step: bad, retry: { attempts: 1 } }, { step: never }]
finally: [{ step: good }, { step: bad, id: bad2, retry: { attempts: 1 } }, { step: never, id: never2 }]
`,
      { bad: failing('Worse'), good: () => 1, never: () => 1 },
    );
    expect(await world.end(await world.begin())).toMatchObject({ status: 'failed', error: { name: 'Stop' } });
    expect(world.names).toEqual(['bad', 'good', 'bad']);
  });
});

describe('cancel', () => {
  const flow = `
steps:
${undoable('a')}
  - sleep: 30d
  - step: c
finally: [{ step: note, with: { status: =$run.status } }]
`;

  it('ends a parked run, undoes what it did, and runs finally', async () => {
    const world = new World(flow, { ...scripts, note: () => null });
    const id = await world.begin();
    await world.engine.cancel(id, { reason: 'not wanted any more' });
    const run = await world.end(id);
    expect(run).toMatchObject({ status: 'cancelled', rollbackStatus: 'completed' });
    expect(run.error).toMatchObject({ name: 'Cancelled', message: 'not wanted any more' });
    expect(world.names).toEqual(['a', 'una', 'note']);
    expect(world.calls[2]?.input).toEqual({ status: 'cancelled' });
  });

  it('without compensation leaves what was done', async () => {
    const world = new World(flow, { ...scripts, note: () => null });
    const id = await world.begin();
    await world.engine.cancel(id, { compensate: false });
    expect(await world.end(id)).toMatchObject({ status: 'cancelled', rollbackStatus: 'abandoned' });
    expect(world.names).toEqual(['a', 'note']);
  });

  it('tells a running handler, and undoes its step whose outcome is unknown', async () => {
    const world = new World(`steps:${undoable('a', '    timeout: never')}`, {
      a: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('told')))),
      una: () => null,
    });
    const id = await world.begin();
    await world.engine.cancel(id);
    expect(await world.end(id)).toMatchObject({ status: 'cancelled', rollbackStatus: 'completed' });
    expect(world.names).toEqual(['a', 'una']);
  });

  it('is seen by no onError and no retry', async () => {
    const world = new World(`steps: [{ group: [{ sleep: 1d }], onError: [{ do: [{ step: c }] }] }]`, { c: () => 1 });
    const id = await world.begin();
    await world.engine.cancel(id);
    expect((await world.end(id)).status).toBe('cancelled');
    expect(world.calls).toEqual([]);
  });

  it('before the first entry ends the run at once, and runs neither onFailure nor finally', async () => {
    const world = new World(flow, { ...scripts, note: () => null });
    const { id } = await world.engine.enqueue('flow', {});
    await world.engine.cancel(id);
    await world.engine.start();
    expect(await world.end(id)).toMatchObject({ status: 'cancelled', rollbackStatus: 'not-applicable' });
    expect(world.calls).toEqual([]);
  });

  it('is refused once the run is ending, and once it has ended', async () => {
    let go = (): void => {};
    const world = new World(`steps:${undoable('a')}\n  - fail: Stop`, {
      a: () => 1,
      una: () => new Promise<void>((resolve) => (go = resolve)),
    });
    const id = await world.begin();
    expect(await codeOf(world.engine.cancel(id))).toBe('RS_RUN_ENDING');
    go();
    expect(await world.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(await codeOf(world.engine.cancel(id))).toBe('RS_RUN_ENDED');
  });
});

describe('children in an unwind', () => {
  const parent = (last: string): string => `
workflow: flow
steps:
${undoable('a')}
  - subWorkflow: child
  - ${last}
`;
  const child = (more = ''): string => `
workflow: child
steps:
  - id: x
    step: x
    compensate: { step: unx }
${more}
finally: [{ step: note }]
`;
  const all = { ...scripts, x: () => 'x', unx: () => null, note: () => null };

  it('that have completed are undone by their own unwind, once, without a second finally', async () => {
    const world = new World([parent('fail: Stop'), child()], all);
    const id = await world.begin();
    expect(await world.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(world.names).toEqual(['a', 'x', 'note', 'unx', 'una']);
    const [record] = await world.storage.listChildren(id);
    expect(record).toMatchObject({ status: 'completed', rollbackStatus: 'completed' });
  });

  it('that have failed have undone themselves, and are not undone again', async () => {
    const world = new World([parent('set: 1'), child('  - fail: Bad')], all);
    const id = await world.begin();
    expect(await world.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(world.names).toEqual(['a', 'x', 'unx', 'note', 'una']);
  });

  it('that still run are cancelled with compensation, and awaited', async () => {
    const world = new World(
      [
        `
workflow: flow
steps:
  - parallel:
      child: [{ subWorkflow: child }]
      bad: [{ sleep: 1m }, { fail: Stop }]
`,
        child('  - sleep: 1d'),
      ],
      all,
      { concurrency: 2 },
    );
    const id = await world.begin();
    const run = await world.end(id);
    expect(run).toMatchObject({ status: 'failed', error: { name: 'Stop' }, rollbackStatus: 'completed' });
    expect(world.names).toEqual(['x', 'unx', 'note']);
    expect((await world.storage.listChildren(id))[0]).toMatchObject({
      status: 'cancelled',
      rollbackStatus: 'completed',
    });
  });

  it('past their pivot keep what they did, and the parent says so', async () => {
    const world = new World([parent('fail: Stop'), child('  - pivot: gone')], all);
    const id = await world.begin();
    expect(await world.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'partial' });
    expect(world.names).toEqual(['a', 'x', 'note', 'una']);
  });

  it('that become stuck make the parent stuck; its operator moves both on', async () => {
    let mended = false;
    const world = new World([parent('fail: Stop'), child()], {
      ...all,
      unx: () => {
        if (!mended) throw new Error('no');
      },
    });
    const id = await world.begin();
    await world.pass(3_600_000);
    expect((await world.run(id)).status).toBe('compensation-stuck');
    const [record] = await world.storage.listChildren(id);
    expect(record?.status).toBe('compensation-stuck');
    mended = true;
    await world.engine.resumeCompensation(id);
    expect(await world.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(world.names.slice(-2)).toEqual(['unx', 'una']);
  });
});

describe('join', () => {
  it('any takes the first that completes and ends the others', async () => {
    const world = new World(`
steps:
  - id: race
    join: any
    parallel:
      slow: [{ sleep: 10d }, { set: slow }]
      failing: [{ sleep: 1h }, { fail: Bad }]
      fast: [{ sleep: 1d }, { set: fast }]
output: =$steps.race
`);
    const run = await world.end(await world.begin());
    expect(run.output).toEqual({ fast: 'fast' });
    expect((run.endedAt ?? 0) - (run.startedAt ?? 0)).toBe(86_400_000);
  });

  it('of a number waits for so many', async () => {
    const branches = [1, 2, 3].map((n) => `      b${n}: [{ sleep: ${n}h }, { set: ${n} }]`).join('\n');
    const world = new World(`steps:\n  - id: j\n    join: 2\n    parallel:\n${branches}\noutput: =$steps.j`);
    expect((await world.end(await world.begin())).output).toEqual({ b1: 1, b2: 2 });
  });

  it('fails as JoinFailed as soon as it can no longer be reached, with the errors by branch', async () => {
    const world = new World(`
steps:
  - id: j
    join: 2
    parallel:
      a: [{ sleep: 1h }, { fail: A }]
      b: [{ sleep: 2h }, { fail: B }]
      c: [{ sleep: 30d }]
`);
    const run = await world.end(await world.begin());
    expect(run.error).toMatchObject({
      name: 'JoinFailed',
      step: 'j',
      details: { errors: { a: { name: 'A' }, b: { name: 'B' } } },
    });
    expect((run.endedAt ?? 0) - (run.startedAt ?? 0)).toBe(2 * 3_600_000);
  });
});
