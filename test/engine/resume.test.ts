import { NoEffectError, NonRetryableError } from 'runsheet';
import { describe, expect, it } from 'vitest';
import { World, codeOf, failing } from '../support/world.js';

describe('a resumed run', () => {
  it('goes on as a new run with what had succeeded, under the old keys and inputs', async () => {
    let broken = true;
    const world = new World(
      `
input: { n: { type: integer } }
steps:
  - id: a
    step: a
    with: { at: =$millis() }
  - id: d
    waitFor: go
    timeout: 1h
  - id: c
    step: c
    with: { a: =$steps.a, d: =$steps.d }
    retry: { attempts: 2, delay: 1s }
output: =$steps.c
`,
      {
        a: () => 'a',
        c: () => {
          if (broken) throw new Error('down');
          return 'c';
        },
      },
    );
    const id = await world.begin({ n: 1 }, { key: 'k' });
    await world.engine.signal(id, 'go', 'signal');
    expect((await world.end(id)).status).toBe('failed');
    broken = false;
    const resumed = await world.engine.resume(id);
    const run = await world.end(resumed.id);
    expect(run).toMatchObject({ status: 'completed', output: 'c', resumedFrom: id, key: 'k' });
    expect(world.names).toEqual(['a', 'c', 'c', 'c']);
    expect(world.calls.at(-1)).toMatchObject({ key: 'c#0:forward', input: { a: 'a', d: 'signal' } });
    expect(world.calls.at(-1)?.context).toMatchObject({ attempt: 1, idempotencyKey: `${id}:c#0:forward` });
    expect(await world.run(id)).toMatchObject({ status: 'failed', resumedBy: resumed.id, key: null });
    expect(await codeOf(world.engine.resume(id))).toBe('RS_RUN_NOT_RESUMABLE');
  });

  it('calls error handling, reminders and last steps anew, under keys of its own', async () => {
    let broken = true;
    const world = new World(
      `
steps:
  - id: a
    step: a
    onError: [{ do: [{ id: b, step: b }, { rethrow: it }] }]
  - id: d
    waitFor: go
    timeout: 3h
    remind: { id: r, every: 2h, step: r }
finally: [{ id: c, step: c }]
`,
      {
        a: () => {
          if (broken) throw new NonRetryableError('down');
        },
        b: () => 'b',
        c: () => 'c',
        r: () => 'r',
      },
    );
    const first = await world.begin();
    expect((await world.end(first)).status).toBe('failed');
    const second = (await world.engine.resume(first)).id;
    expect((await world.end(second)).status).toBe('failed');
    broken = false;
    const third = (await world.engine.resume(second)).id;
    expect((await world.end(third)).status).toBe('failed');
    const fourth = (await world.engine.resume(third)).id;
    await world.end(fourth);
    const keys = world.calls.map(({ context }) => context.idempotencyKey);
    expect(keys).toEqual([
      ...[`${first}:a#0:forward`, `${first}:b#0:forward`, `${first}:c#0:forward`],
      ...[`${first}:a#0:forward`, `${second}:b#0:forward`, `${second}:c#0:forward`],
      ...[`${first}:a#0:forward`, `${third}:r#0:forward`, `${third}:c#0:forward`],
      ...[`${fourth}:r#0:forward`, `${fourth}:c#0:forward`],
    ]);
  });

  it('passes on signals that came early and that nobody took', async () => {
    let broken = true;
    const world = new World(
      `steps: [{ id: c, step: c, retry: { attempts: 2, delay: 1h } }, { id: d, waitFor: go, timeout: 1d }]`,
      {
        c: () => {
          if (broken) throw new Error('down');
        },
      },
    );
    const id = await world.begin();
    await world.engine.signal(id, 'go', 'early');
    expect((await world.end(id)).status).toBe('failed');
    broken = false;
    expect((await world.end((await world.engine.resume(id)).id)).output).toBe('early');
  });

  it.each([
    ['a run that its file failed', `steps: [{ fail: No }]`],
    ['a run past its timeout', `timeout: 1m\nsteps: [{ sleep: 1h }]`],
    ['a run that was undone', `steps: [{ step: a, compensate: { step: una } }, { step: c, retry: { attempts: 1 } }]`],
    ['a run that has completed', `steps: []`],
  ])('refuses %s', async (_, flow) => {
    const world = new World(flow, { a: () => 'a done', c: failing('Broken'), una: () => null });
    const id = await world.begin();
    await world.end(id);
    expect(await codeOf(world.engine.resume(id))).toBe('RS_RUN_NOT_RESUMABLE');
  });
});

/** What a run that fell called, and what the run called that goes on with it once all is mended. */
async function fallAndResume(flow: string | readonly string[], broken: readonly string[]) {
  const down = new Set(broken);
  const names = [
    ...[flow]
      .flat()
      .join()
      .matchAll(/step: (\w+)/g),
  ].map(([, name]) => name ?? '');
  const work = (name: string) => (): string => {
    if (down.has(name)) throw new NonRetryableError(`${name} is down`);
    return `${name} done`;
  };
  const world = new World(flow, Object.fromEntries(names.map((name) => [name, work(name)])));
  const first = await world.begin();
  expect((await world.end(first)).status).toBe('failed');
  const before = world.calls.length;
  return {
    world,
    first,
    called: world.names,
    /** @param still what stays broken */
    goOn: async (still: readonly string[] = []) => {
      down.clear();
      for (const name of still) down.add(name);
      const { id } = await world.engine.resume(first);
      const run = await world.end(id);
      const calls = world.calls.slice(before).map(({ name, context }) => ({
        name,
        own: context.idempotencyKey.startsWith(`${id}:`),
      }));
      return {
        run,
        again: calls.map(({ name }) => name),
        own: calls.filter((call) => call.own).map(({ name }) => name),
      };
    },
  };
}

describe('what a failure was handled by', () => {
  const paid = `
steps:
  - id: charge
    step: charge
    onError: [{ do: [{ id: invoice, step: invoice }] }]
  - id: ship
    step: ship
output: =$steps.charge & ", " & $steps.ship
`;

  it('stays, so that nobody is charged who was sent an invoice', async () => {
    const { called, goOn } = await fallAndResume(paid, ['charge', 'ship']);
    expect(called).toEqual(['charge', 'invoice', 'ship']);
    const { run, again } = await goOn();
    expect(again).toEqual(['ship']);
    expect(run.output).toBe('invoice done, ship done');
  });

  it('is gone on with where it fell itself, under the key of its first call', async () => {
    const { world, first, called, goOn } = await fallAndResume(
      paid.replace('[{ id: invoice,', '[{ step: tell }, { id: invoice,'),
      ['charge', 'invoice'],
    );
    expect(called).toEqual(['charge', 'tell', 'invoice']);
    const { run, again, own } = await goOn();
    expect({ again, own, output: run.output }).toEqual({
      again: ['invoice', 'ship'],
      own: [],
      output: 'invoice done, ship done',
    });
    expect(world.calls[3]?.context.idempotencyKey).toBe(`${first}:invoice#0:forward`);
  });

  it('is done anew, under keys of its own, if it let the failure go on', async () => {
    const flow = paid.replace('{ id: invoice, step: invoice }', '{ step: tell }, { rethrow: somebody must look }');
    const { goOn } = await fallAndResume(flow, ['charge']);
    const { run, again, own } = await goOn(['charge']);
    expect({ again, own, status: run.status }).toEqual({ again: ['charge', 'tell'], own: ['tell'], status: 'failed' });
  });

  it('is done anew alone where it stands in error handling that goes on', async () => {
    const inner = '{ step: b, onError: [{ do: [{ step: c }, { rethrow: so }] }] }';
    const { goOn } = await fallAndResume(`steps: [{ step: a, onError: [{ do: [${inner}, { rethrow: it }] }] }]`, [
      'a',
      'b',
    ]);
    const { again, own } = await goOn(['a', 'b']);
    // `b` has failed and was not handled: it is called again under its key. `a` was handled.
    expect({ again, own }).toEqual({ again: ['b', 'c'], own: ['c'] });
  });

  it('takes what it had handled itself with it where it is done anew', async () => {
    const inner = '{ step: b, onError: [{ do: [{ step: c }] }] }';
    const flow = `steps: [{ step: a, onError: [{ do: [${inner}, { rethrow: it }] }] }]`;
    const { goOn } = await fallAndResume(flow, ['a', 'b']);
    const { again, own } = await goOn(['a', 'b']);
    expect({ again, own }).toEqual({ again: ['a', 'b', 'c'], own: ['b', 'c'] });
  });

  it('cannot be taken back past a pivot', async () => {
    const flow = `steps: [{ step: a, onError: [{ do: [{ pivot: no way back }, { rethrow: it }] }] }]`;
    const { world, first } = await fallAndResume(flow, ['a']);
    expect(await codeOf(world.engine.resume(first))).toBe('RS_RUN_NOT_RESUMABLE');
  });

  it('stays where it was an error of a turn, with `onItemError: continue`', async () => {
    const flow = `
steps:
  - forEach: [1, 2]
    as: each
    onItemError: continue
    do: [{ step: a }]
  - { step: b }
`;
    const { goOn } = await fallAndResume(flow, ['a', 'b']);
    expect((await goOn()).again).toEqual(['b']);
  });

  it('stays where a lost branch had it', async () => {
    const flow = `
steps:
  - id: race
    parallel: { lost: [{ step: a }], won: [{ sleep: 1s }, { step: b }] }
    join: any
  - { step: c }
output: =$steps.race
`;
    const { goOn } = await fallAndResume(flow, ['a', 'c']);
    const { run, again } = await goOn();
    expect({ again, output: run.output }).toEqual({ again: ['c'], output: { won: 'b done' } });
  });
});

describe('where side by side', () => {
  it('a branch failed and ended the others, all of them go on', async () => {
    const flow = `
steps:
  - parallel:
      fails: [{ sleep: 1m }, { step: a }]
      has: [{ step: b }]
      sleeps: [{ sleep: 1h }, { step: c }]
      waits: [{ id: g, waitFor: go, timeout: 2h, onTimeout: nobody }]
output: =$steps.g
`;
    const { called, goOn } = await fallAndResume(flow, ['a']);
    expect(called).toEqual(['b', 'a']);
    const { run, again } = await goOn();
    expect({ again, output: run.output }).toEqual({ again: ['a', 'c'], output: 'nobody' });
  });

  it('a call was cut short by the failure, it is made again under its key and number', async () => {
    const flow = `steps: [{ parallel: { fails: [{ sleep: 1m }, { step: a }], slow: [{ step: slow }] } }]`;
    let [broken, calls] = [true, 0];
    const world = new World(flow, {
      a: () => {
        if (broken) throw new NonRetryableError('down');
      },
      slow: () => ((calls += 1) === 1 ? new Promise(() => {}) : 'done'),
    });
    const first = await world.begin();
    expect((await world.end(first)).status).toBe('failed');
    broken = false;
    const { id } = await world.engine.resume(first);
    expect((await world.end(id)).status).toBe('completed');
    const slow = world.calls.filter(({ name }) => name === 'slow').map(({ context }) => context);
    expect(slow.map(({ attempt, idempotencyKey }) => [attempt, idempotencyKey])).toEqual([
      [1, `${first}:slow@0.slow.0#0:forward`],
      [1, `${first}:slow@0.slow.0#0:forward`],
    ]);
  });

  it('several have failed, all of them begin anew', async () => {
    const flow = `
steps:
  - parallel: { one: [{ step: a }], two: [{ step: b }], three: [{ step: c }] }
    onBranchError: wait
`;
    const { goOn } = await fallAndResume(flow, ['a', 'b']);
    const { run, again } = await goOn();
    expect({ again: again.sort(), status: run.status }).toEqual({ again: ['a', 'b'], status: 'completed' });
  });

  it('too few came to a good end, those that failed begin anew', async () => {
    const flow = `
steps:
  - parallel: { one: [{ step: a }], two: [{ step: b }], three: [{ step: c }] }
    join: 2
`;
    const { goOn } = await fallAndResume(flow, ['a', 'b']);
    const { run, again } = await goOn();
    expect({ again: again.sort(), status: run.status }).toEqual({ again: ['a', 'b'], status: 'completed' });
  });

  it('a child is begun anew, it counts as begun after what is taken over, and is undone before it', async () => {
    const child = `workflow: child\nsteps: [{ step: x, compensate: { step: unx } }, { sleep: 2m }, { step: c, retry: { attempts: 1 } }]`;
    const flow = `
steps:
  - parallel:
      child: [{ subWorkflow: child }]
      own: [{ sleep: 1m }, { step: a, compensate: { step: una }, retry: { attempts: 5, delay: 10m } }]
  - { fail: No }
`;
    let broken = true;
    const work = (): void => {
      if (broken) throw new NoEffectError('down');
    };
    const done = () => 'done';
    const world = new World([flow, child], { a: work, c: work, x: done, unx: done, una: done });
    const first = await world.begin();
    expect(await world.end(first)).toMatchObject({ status: 'failed', error: { name: 'ChildFailed' } });
    expect(world.names).toEqual(['x', 'a', 'c', 'unx']);
    broken = false;
    const { id } = await world.engine.resume(first);
    expect(await world.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'completed', error: { name: 'No' } });
    expect(world.names.slice(4)).toEqual(['a', 'x', 'c', 'unx', 'una']);
  });
});

describe('the child of a run that is gone on with', () => {
  const child = `workflow: child\nsteps: [{ step: charge }, { sleep: 1m }, { step: ship }]`;

  it('is gone on with where it failed, and charges nobody a second time', async () => {
    const { world, first, called, goOn } = await fallAndResume([`steps: [{ subWorkflow: child }]`, child], ['ship']);
    expect(called).toEqual(['charge', 'ship']);
    const { run, again } = await goOn();
    expect({ again, output: run.output }).toEqual({ again: ['ship'], output: 'ship done' });
    const [old] = await world.storage.listChildren(first);
    const [heir] = await world.storage.listChildren(run.id);
    expect(heir).toMatchObject({ resumedFrom: old?.id, status: 'completed' });
    expect(world.calls.at(-1)?.context.idempotencyKey).toBe(`${old?.id}:ship@2#0:forward`);
  });

  it('is gone on with where its parent cut it short', async () => {
    const flow = `steps: [{ parallel: { one: [{ subWorkflow: child }], two: [{ sleep: 10s }, { step: a }] } }]`;
    const { called, goOn } = await fallAndResume([flow, child], ['a']);
    expect(called).toEqual(['charge', 'a']);
    const { run, again } = await goOn();
    expect({ again, status: run.status }).toEqual({ again: ['a', 'ship'], status: 'completed' });
  });

  it('is gone on with at any depth', async () => {
    const middle = `workflow: middle\nsteps: [{ step: pick }, { subWorkflow: child }, { step: tell }]`;
    const { goOn } = await fallAndResume([`steps: [{ subWorkflow: middle }]`, middle, child], ['ship']);
    const { run, again } = await goOn();
    expect({ again, output: run.output }).toEqual({ again: ['ship', 'tell'], output: 'tell done' });
  });

  it('is gone on with where it was past its time, and its parent ended it', async () => {
    const { goOn } = await fallAndResume([`steps: [{ subWorkflow: child, timeout: 50s }]`, child], []);
    const { run, again } = await goOn();
    expect({ again, output: run.output }).toEqual({ again: ['ship'], output: 'ship done' });
  });

  it('keeps a run from being gone on with that its own file failed', async () => {
    const failing = `workflow: child\nsteps: [{ step: charge }, { fail: No }]`;
    const { world, first } = await fallAndResume([`steps: [{ subWorkflow: child }]`, failing], []);
    await expect(world.engine.resume(first)).rejects.toThrow(/it failed with No, which going on could not change/);
    expect((await world.run(first)).resumedBy).toBeNull();
  });

  it('is not gone on with by itself', async () => {
    const { world, first } = await fallAndResume([`steps: [{ subWorkflow: child }]`, child], ['ship']);
    const [failed] = await world.storage.listChildren(first);
    await expect(world.engine.resume(failed?.id ?? '')).rejects.toThrow(`it is a child of ${first}; resume that one`);
  });
});

describe('the time of a block', () => {
  it.each([
    ['it was up', '{ sleep: 90m }'],
    ['the failure was inside', '{ sleep: 50m }, { step: a }, { sleep: 30m }'],
  ])('begins anew where %s', async (_, inside) => {
    const { goOn } = await fallAndResume(`steps: [{ group: [${inside}], timeout: 1h }]`, ['a']);
    expect((await goOn()).run.status).toBe('completed');
  });

  it('is not given again where its end was handled', async () => {
    const flow = `
steps:
  - { group: [{ sleep: 2h }], timeout: 1h, onError: [{ do: [{ step: b }] }] }
  - { step: a }
`;
    const { world, goOn } = await fallAndResume(flow, ['a']);
    const at = world.clock.now();
    expect((await goOn()).again).toEqual(['a']);
    expect(world.clock.now() - at).toBeLessThan(1000);
  });
});

it('a run that an older Runsheet drove, which did not keep where it failed, is not resumed', async () => {
  const world = new World(`steps: [{ step: a, retry: { attempts: 1 } }]`, { a: failing('Broken') });
  const id = await world.begin();
  await world.end(id);
  const { storage } = world;
  const read = storage.readJournal.bind(storage);
  storage.readJournal = async (...args) =>
    (await read(...args)).map((row) =>
      row.kind === 'run-outcome' ? { ...row, payload: row.payload?.replace(/,"origins":.*\]/, '') ?? null } : row,
    );
  await expect(world.engine.resume(id)).rejects.toThrow(/an older one, has not kept where it failed/);
});

it('a step that is done anew does not show as interrupted', async () => {
  const { world, goOn } = await fallAndResume(`steps: [{ id: a, step: a }]`, ['a']);
  const { run } = await goOn();
  const started = (await world.journal(run.id)).filter(({ kind }) => kind === 'step-started');
  expect(started.map(({ payload }) => JSON.parse(payload ?? '{}') as object)).toMatchObject([{}, { resumed: true }]);
  expect(started.some(({ payload }) => payload?.includes('"restart"'))).toBe(false);
});
