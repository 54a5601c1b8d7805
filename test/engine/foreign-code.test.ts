import { describe, expect, it } from 'vitest';
import { createEngine } from '../../src/index.js';
import type { Definition } from '../../src/definition/index.js';
import { MemoryStorage } from '../../src/storage/index.js';
import { definitionOf } from '../support/flow.js';

const throwing = (): never => {
  throw new Error('no');
};
const rejecting = (): Promise<never> => Promise.reject(new Error('no'));

describe('what is only informed of something harms nobody', () => {
  it.each([
    ['throws', throwing],
    ['rejects', rejecting],
  ])('a listener or logger that %s', async (_, fail) => {
    const rejections: unknown[] = [];
    const onRejection = (error: unknown): void => void rejections.push(error);
    process.on('unhandledRejection', onRejection);
    const logger = { debug: fail, info: fail, warn: fail, error: fail };
    const definitions = [definitionOf('steps: [{ set: 1 }]')];
    const engine = createEngine({ storage: new MemoryStorage(), definitions, logger });
    engine.subscribe(fail);
    engine.onFault(fail);
    await engine.start();
    const run = await engine.enqueue(definitions[0]?.name ?? '');
    expect(await engine.result(run.id)).toMatchObject({ status: 'completed' });
    await engine.close();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onRejection);
    expect(rejections).toEqual([]);
  });
});

it('closing one of two engines on one storage leaves it to the other', async () => {
  const storage = new MemoryStorage();
  const definitions = [definitionOf('steps: [{ set: 1 }]')];
  const name = definitions[0]?.name ?? '';
  const one = createEngine({ storage, definitions });
  const other = createEngine({ storage, definitions });
  await one.start();
  await other.start();
  await one.close();
  const run = await other.enqueue(name);
  expect(await other.result(run.id)).toMatchObject({ status: 'completed' });
  await other.close();
  await expect(storage.getRun(run.id)).rejects.toThrow();
});

describe('two contents of one revision are refused', () => {
  const [one, other] = ['steps: [{ set: 1 }]', 'steps: [{ set: 2 }]'].map((text) => definitionOf(text)) as [
    Definition,
    Definition,
  ];

  it('when an engine is created, and when one is registered', async () => {
    const storage = new MemoryStorage();
    expect(() => createEngine({ storage, definitions: [one, other] })).toThrow(/there are two contents of/);
    const engine = createEngine({ storage, definitions: [one, one] });
    await engine.register(one);
    await expect(engine.register(other)).rejects.toMatchObject({ code: 'RS_DEFINITION_CONFLICT' });
    await engine.close();
  });
});

describe('an input or a payload that JSON cannot hold is refused by name', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
  it.each<[string, unknown, string]>([
    ['too deep', { v: deep }, 'RS_NOT_JSON'],
    ['a bigint', { v: 1n }, 'RS_NOT_JSON'],
    [
      'a cycle',
      Object.assign(
        {},
        {
          get v(): unknown {
            return this;
          },
        },
      ),
      'RS_NOT_JSON',
    ],
    ['too large', { v: 'x'.repeat(2e6) }, 'RS_PAYLOAD_TOO_LARGE'],
  ])('%s', async (_, value, code) => {
    const flow = definitionOf('inputSchema: true\nsteps: [{ waitFor: s, timeout: never }]');
    const engine = createEngine({ storage: new MemoryStorage(), definitions: [flow] });
    await engine.start();
    await expect(engine.enqueue(flow.name, value as never)).rejects.toMatchObject({ code });
    const { id } = await engine.enqueue(flow.name, {} as never);
    await expect(engine.signal(id, 's', value as never)).rejects.toMatchObject({ code });
    await engine.close();
  });
});
