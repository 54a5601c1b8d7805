import { describe, expect, it } from 'vitest';
import { World } from '../support/world.js';

const cyclic = (): object => {
  const value: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  value.self = value;
  return value;
};
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const throwing = (name: string): Error =>
  Object.defineProperty(new Error('m'), name, {
    get() {
      throw new Error('no');
    },
  });
const causes = (): Error => {
  const error = new Error('first');
  error.cause = error;
  return error;
};
const doubled = (): unknown => {
  let value: unknown = ['x'];
  for (let depth = 0; depth < 60; depth += 1) value = [value, value];
  return value;
};
const deep = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

const flow = (more = ''): string => `
steps:
  - id: a
    step: a
    retry: { attempts: 2, delay: 1s }
${more}
output: =$steps.a
`;

describe('whatever a handler throws is described, in bounded size, and fails its step by its policy', () => {
  it.each<[string, unknown]>([
    ['a revoked proxy', revoked()],
    ['an object without a prototype that holds itself', cyclic()],
    ['a symbol', Symbol('s')],
    ['nothing', undefined],
    ['a message that throws', throwing('message')],
    ['a name that throws', throwing('name')],
    ['a code that throws', throwing('code')],
    ['a cause that throws', throwing('cause')],
    ['details that throw', throwing('details')],
    ['a symbol as its message', Object.assign(new Error(), { message: Symbol('s') })],
    ['a cause that is itself', causes()],
    ['a cause that cannot be read', new Error('m', { cause: revoked() })],
    ['a cause without a text', new Error('m', { cause: Object.create(null) })],
    ['deep details', Object.assign(new Error('m'), { details: deep(6000) })],
    ['details of shared parts', Object.assign(new Error('m'), { details: doubled() })],
    ['large details', Object.assign(new Error('m'), { details: { text: 'x'.repeat(20e6) } })],
    ['a large message', new Error('x'.repeat(20e6))],
    ['a large name', Object.assign(new Error('m'), { name: 'x'.repeat(20e6) })],
    ['a large text', 'x'.repeat(20e6)],
    ['a list of shared parts', doubled()],
    [
      'a proxy that throws',
      new Proxy(new Error('m'), {
        get() {
          throw new Error('no');
        },
      }),
    ],
  ])('%s', async (_, thrown) => {
    const world = new World(flow(), {
      a: () => {
        throw thrown;
      },
    });
    const run = await world.end(await world.begin());
    expect(run.status).toBe('failed');
    expect(world.names).toEqual(['a', 'a']);
    expect(JSON.stringify(run.error).length).toBeLessThan(300 * 1024);
  });

  it.each(['Cancelled', 'RunTimeout'])('an error called %s is its own', async (name) => {
    const handled = flow("    onError: [{ errors: ['*'], do: [{ set: =$error.name }] }]");
    for (const error of [Object.assign(new Error('m'), { name }), Object.assign(new Error('m'), { code: name })]) {
      const world = new World(handled, {
        a: () => {
          throw error;
        },
      });
      expect(await world.end(await world.begin())).toMatchObject({ status: 'completed', output: name });
      expect(world.names).toEqual(['a', 'a']);
    }
  });
});

describe('what a handler returns and JSON cannot hold is its SerializationError, which is not retried', () => {
  it.each<[string, () => unknown, string]>([
    ['too deep', () => deep(5000), 'more than 1000 deep'],
    ['an invalid date', () => ({ at: new Date(Number.NaN) }), 'an invalid Date (at $.at)'],
    ['NaN in a box', () => [Object(Number.NaN)], 'NaN (at $[0])'],
    ['a bigint in a box', () => ({ n: Object(1n) as unknown }), 'a bigint (at $.n)'],
    ['a getter that throws', () => ({ a: throwing('message') }), 'a Error (at $.a)'],
    [
      'a toJSON that throws',
      () => ({
        a: {
          toJSON() {
            throw new Error('no');
          },
        },
      }),
      'what throws when it is read (at $.a)',
    ],
    ['a revoked proxy', () => [revoked()], 'what throws when it is read (at $[0])'],
    ['a response', () => ({ a: new Headers() }), 'a Headers (at $.a)'],
  ])('%s', async (_, value, message) => {
    const world = new World(flow(), { a: value });
    const run = await world.end(await world.begin());
    expect(run.error).toMatchObject({ name: 'SerializationError', step: 'a' });
    expect(run.error?.message).toContain(message);
    expect(world.names).toEqual(['a']);
  });

  it('a toJSON is asked once, and its first answer counts', async () => {
    let asked = 0;
    const world = new World(flow(), { a: () => ({ toJSON: () => (asked += 1) }) });
    expect(await world.end(await world.begin())).toMatchObject({ status: 'completed', output: 1 });
    expect(asked).toBe(1);
  });

  it('shared parts are bounded before they are written', async () => {
    const world = new World(flow(), { a: doubled });
    expect((await world.end(await world.begin())).error).toMatchObject({ name: 'PayloadTooLarge' });
    expect(world.names).toEqual(['a']);
  });
});

describe('a call that the end of its scope cuts short', () => {
  const race = (more = ''): string => `
steps:
  - parallel:
      a: [{ id: a, step: a, compensate: { step: una, with: { why: =$error.name }${more} } }]
      b: [{ sleep: 1m }, { fail: Bee }]
`;
  const own = Object.assign(new Error('gone'), { name: 'Gone' });

  it.each<[string, (reason: unknown) => unknown]>([
    ['the reason', (reason) => reason],
    ['an error of its own', () => own],
  ])('is Cancelled, also where it throws %s', async (_, thrown) => {
    const world = new World(race(), {
      a: (_input, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(thrown(signal.reason) as Error)),
        ),
      una: () => null,
    });
    const id = await world.begin();
    await world.end(id);
    expect(world.calls.at(-1)).toMatchObject({ name: 'una', input: { why: 'Cancelled' } });
    const entry = (await world.journal(id)).find(({ kind }) => kind === 'step-failed');
    expect(JSON.parse(entry?.payload ?? '')).toMatchObject({ error: { name: 'Cancelled', step: 'a', attempt: 1 } });
  });
});

it('the reversal of a step inside onError is given the error of that step alone', async () => {
  const world = new World(
    `
steps:
  - id: a
    step: a
    retry: { attempts: 1 }
    onError:
      - do:
          - { id: fix, step: fix, compensate: { step: unfix, with: { why: '=$error.name ?? "none"' } } }
  - fail: End
`,
    {
      a: () => {
        throw new Error('no');
      },
      fix: () => null,
      unfix: () => null,
    },
  );
  await world.end(await world.begin());
  expect(world.calls.at(-1)).toMatchObject({ name: 'unfix', input: { why: 'none' } });
});
