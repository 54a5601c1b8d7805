import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonValue, MemoryStorage, createEngine, defineHandler } from 'runsheet';
import { VirtualClock, mortal } from 'runsheet/testing';
import { definitionOf } from '../support/flow.js';

/*
 * A process is killed after some of its commits, and another one takes the run over. Whatever was
 * killed when: the same output, no completed step called again, repeated calls under their old key
 * with their old input, and the same order of operations.
 */

const flow = definitionOf(`
input: { orders: { type: array } }
steps:
  - id: orders
    forEach: $input.orders
    as: order
    concurrency: 2
    do:
      - id: lines
        doUntil: $steps.picked.left = 0
        do:
          - id: picked
            step: pick
            with: { order: =$order, turn: =$iteration, chance: =$floor($random() * 1000) }
            retry: { attempts: 3, delay: 1m }
      - when: $order % 2 = 0
        sleep: 10m
      - set: { order: =$order, turns: =$steps.picked.turn }
  - parallel:
      flaky:
        - id: flaky
          step: flaky
          with: { at: =$millis() }
          retry: { attempts: 3, delay: 30s }
      slow:
        - sleep: 20s
        - id: slow
          step: pick
          with: { order: 1, turn: 1, chance: 0 }
      broken:
        - id: broken
          step: broken
          retry: { attempts: 2, delay: 10s }
          onError:
            - errors: [Broken]
              do: [{ step: pick, id: mended, with: { order: 0, turn: 0, chance: 0 } }]
  - id: hurried
    timeout: 5m
    group: [{ sleep: 1d }]
    onError: [{ errors: [Timeout], do: [{ set: out of time }] }]
output:
  orders: =$steps.orders
  flaky: =$steps.flaky
  mended: =$steps.broken.left
  hurried: =$steps.hurried
`);

const input = { orders: [1, 2, 3] };
const expectedOutput = {
  orders: [1, 2, 3].map((order) => ({ order, turns: order })),
  flaky: 'after 2',
  mended: 0,
  hurried: 'out of time',
};

/** The operations of one walk, and how many of them had been issued when its last unit was committed. */
interface Walk {
  readonly operations: string[];
  durable: number;
}

interface Call {
  readonly key: string;
  readonly attempt: number;
  readonly input: JsonValue;
}

/** Everything that outlives the processes of one run. */
class World {
  readonly storage = new MemoryStorage();
  readonly clock = new VirtualClock();
  readonly calls: Call[] = [];
  /** Keys whose success is in the journal. */
  readonly completed = new Set<string>();

  readonly walks: Walk[] = [];

  /** Drives the run in one process until it ends (true) or the process dies. */
  async live(afterUnits: number, lastIsWritten: boolean): Promise<boolean> {
    const { clock } = this;
    let units = 0;
    const { storage, died } = mortal(this.storage, { afterUnits, lastIsWritten });
    const counting = new Proxy(storage, {
      get: (target, property) => {
        const member: unknown = Reflect.get(target, property, target);
        if (property !== 'commitUnits') return member;
        return (...args: unknown[]) => {
          units += 1;
          const walk = this.walks.at(-1);
          if (walk !== undefined && (lastIsWritten ? units <= afterUnits : units < afterUnits)) {
            walk.durable = walk.operations.length;
          }
          return Reflect.apply(member as (...all: unknown[]) => unknown, target, args);
        };
      },
    });
    let alive = true;
    const engine = createEngine({
      storage: counting,
      definitions: [flow],
      clock,
      handlers: this.#handlers(() => alive),
      onOperation: (_, operation) => {
        if (operation === 'walk') this.walks.push({ operations: [], durable: 0 });
        else this.walks.at(-1)?.operations.push(operation);
      },
    });
    await engine.start();
    const { id } = await engine.enqueue('flow', input, { key: 'the one' });
    const ended = engine.result(id).then((run) => {
      expect(run.error).toBeNull();
      expect(run.output).toEqual(expectedOutput);
      return true;
    });
    const survived = await clock.until(Promise.race([ended, died.then(() => false)]));
    alive = false;
    if (survived) await engine.stop();
    await this.#readCompleted(id);
    return survived;
  }

  #handlers(alive: () => boolean) {
    const record = (context: { idempotencyKey: string; attempt: number; input: unknown }): void => {
      if (!alive()) return;
      const call = { key: context.idempotencyKey, attempt: context.attempt, input: context.input as JsonValue };
      expect(this.completed, `${call.key} is called again after it had succeeded`).not.toContain(call.key);
      for (const earlier of this.calls) {
        if (earlier.key === call.key)
          expect(call.input, `${call.key} is repeated with another input`).toEqual(earlier.input);
      }
      this.calls.push(call);
    };
    const pick = defineHandler({
      name: 'pick',
      run: (context) => {
        record(context);
        const { order, turn } = context.input as { order: number; turn: number };
        if (context.attempt === 1 && turn === 1) throw new Error('once');
        return { turn, left: Math.max(0, order - turn) };
      },
    });
    const flaky = defineHandler({
      name: 'flaky',
      run: (context) => {
        record(context);
        if (context.attempt < 3) throw new Error('busy');
        return `after ${context.attempt - 1}`;
      },
    });
    const broken = defineHandler({
      name: 'broken',
      run: (context) => {
        record(context);
        throw Object.assign(new Error('always'), { name: 'Broken' });
      },
    });
    return [pick, flaky, broken];
  }

  async #readCompleted(id: string): Promise<void> {
    const record = await this.storage.getRun(id);
    const journal = await this.storage.readJournal(record?.run ?? 0, 0, 100_000);
    for (const { kind, step, occurrence } of journal) {
      if (kind === 'step-completed') this.completed.add(`${id}:${step}#${occurrence}:forward`);
    }
  }
}

async function survive(deaths: readonly { afterUnits: number; lastIsWritten: boolean }[]): Promise<World> {
  const world = new World();
  for (const { afterUnits, lastIsWritten } of deaths) {
    if (await world.live(afterUnits, lastIsWritten)) break;
  }
  await world.live(Number.POSITIVE_INFINITY, true);
  let known: Walk = { operations: [], durable: 0 };
  for (const walk of world.walks) {
    const prefix = Math.min(known.durable, walk.operations.length);
    expect(walk.operations.slice(0, prefix)).toEqual(known.operations.slice(0, prefix));
    if (walk.durable >= known.durable) known = walk;
  }
  return world;
}

describe('a run whose process is killed', () => {
  it('after each of its commits in turn, before or after it is written, comes to the same end', async () => {
    const { calls } = await survive([]);
    const units = calls.length * 2 + 20;
    for (let afterUnits = 1; afterUnits <= units; afterUnits += 1) {
      for (const lastIsWritten of [true, false]) await survive([{ afterUnits, lastIsWritten }]);
    }
  });

  it('many times at random comes to the same end', async () => {
    const death = fc.record({ afterUnits: fc.integer({ min: 1, max: 12 }), lastIsWritten: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(death, { minLength: 1, maxLength: 6 }), async (deaths) => {
        await survive(deaths);
      }),
      { numRuns: 60, seed: 20_261_129 },
    );
  });
});
