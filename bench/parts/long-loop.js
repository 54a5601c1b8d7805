import { defineHandler } from '../../dist/index.js';
import { median, medians } from '../lab.js';
import { completed, startedEngine } from '../runs.js';

const turns = 10_000;
/** Turns around which the cost of one is taken, and how many on either side. */
const places = [100, 1000, 10_000];
const around = 100;

const flow = `workflow: long-loop
input:
  turns: { type: integer }
steps:
  - doUntil: =$steps.turn.n >= $input.turns
    maxIterations: ${turns}
    do:
      - { id: turn, step: count, with: { n: =$iteration } }
`;

export async function workload({ folder }) {
  let calledAt = new Float64Array(turns + 1);
  const heap = new Map();
  const count = defineHandler({
    name: 'count',
    run({ input }) {
      const turn = input.n + 1;
      if (places.includes(turn)) {
        globalThis.gc();
        heap.set(turn, process.memoryUsage().heapUsed);
      }
      calledAt[turn] = performance.now();
      return { n: turn };
    },
  });
  const engine = await startedEngine({ file: `${folder}/runs.db`, durability: 'process', flow, handlers: [count] });
  // The first turns would otherwise be dear for want of compiled code, and later ones look cheap beside them.
  await completed(engine, 'long-loop', { turns: 3000 });
  calledAt = new Float64Array(turns + 1);
  const before = performance.now();
  await completed(engine, 'long-loop', { turns });
  const ms = performance.now() - before;
  await engine.close();
  const costs = places.map((place) => costAt(calledAt, place));
  return {
    turnsPerSecond: turns / (ms / 1000),
    at100: costs[0],
    at1000: costs[1],
    at10000: costs[2],
    heapGrowthBytes: (heap.get(places[2]) - heap.get(places[1])) / (places[2] - places[1]),
  };
}

/** Median of the times from one call to the next. */
function costAt(calledAt, place) {
  const costs = [];
  for (let turn = Math.max(2, place - around); turn <= Math.min(turns, place + around); turn += 1) {
    costs.push(calledAt[turn] - calledAt[turn - 1]);
  }
  return median(costs);
}

/** One run that turns ten thousand times: a turn costs the same early and late. */
export async function measure(lab) {
  const results = await lab.repeat(() => lab.workload('long-loop', {}, { nodeOptions: ['--expose-gc'] }));
  const ratios = results.map(({ at100, at1000, at10000 }) => ({ late: at10000 / at100, middle: at1000 / at100 }));
  const { turnsPerSecond, at100, heapGrowthBytes } = medians(results);
  const work = `doUntil, ${turns} turns of one step`;
  return [
    { work, what: 'turns', value: turnsPerSecond, unit: '/s' },
    { work, what: 'turn 100', value: at100, unit: 'ms' },
    { work, what: 'turn 1,000 to turn 100', value: medians(ratios).middle, unit: '×' },
    { work, what: 'turn 10,000 to turn 100', value: medians(ratios).late, unit: '×', target: { atMost: 1.2 } },
    {
      work,
      what: 'heap kept, turns 1,000 to 10,000',
      value: heapGrowthBytes,
      unit: 'bytes a turn',
      target: { atMost: 50 },
    },
  ];
}
