import fc from 'fast-check';
import { type Handler, defineHandler } from 'runsheet';
import { describe, expect, it } from 'vitest';
import { definitionOf } from '../support/flow.js';
import { type Scenario, type Survived, everyDeath, survive } from '../support/lives.js';

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

function handlers(): Handler[] {
  const pick = defineHandler({
    name: 'pick',
    run: (context) => {
      const { order, turn } = context.input as { order: number; turn: number };
      if (context.attempt === 1 && turn === 1) throw new Error('once');
      return { turn, left: Math.max(0, order - turn) };
    },
  });
  const flaky = defineHandler({
    name: 'flaky',
    run: ({ attempt }) => {
      if (attempt < 3) throw new Error('busy');
      return `after ${attempt - 1}`;
    },
  });
  const broken = defineHandler({
    name: 'broken',
    run: () => {
      throw Object.assign(new Error('always'), { name: 'Broken' });
    },
  });
  return [pick, flaky, broken];
}

const scenario: Scenario = { definitions: [flow], handlers, input };

function expectItsEnd({ run }: Survived): void {
  expect(run.error).toBeNull();
  expect(run.output).toEqual(expectedOutput);
}

describe('a run whose process is killed', () => {
  it('after each of its commits in turn, before or after it is written, comes to the same end', async () => {
    const undisturbed = await survive(scenario, []);
    expectItsEnd(undisturbed);
    for (const death of everyDeath(undisturbed.units)) expectItsEnd(await survive(scenario, [death]));
  });

  it('many times at random comes to the same end', async () => {
    const death = fc.record({ afterUnits: fc.integer({ min: 1, max: 12 }), lastIsWritten: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(death, { minLength: 1, maxLength: 6 }), async (deaths) => {
        expectItsEnd(await survive(scenario, deaths));
      }),
      { numRuns: 60, seed: 20_261_129 },
    );
  });
});
