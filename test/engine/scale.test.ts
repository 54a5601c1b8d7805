import { describe, expect, it } from 'vitest';
import { MemoryStorage, type Storage } from 'runsheet';
import { World } from '../support/world.js';

/** A storage that notes the size of each unit as it is committed. */
function measured(storage: Storage): { storage: Storage; units: { entries: number; bytes: number }[] } {
  const units: { entries: number; bytes: number }[] = [];
  const view = new Proxy(storage, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      if (property !== 'commitUnits') return member.bind(target) as unknown;
      return (...args: Parameters<Storage['commitUnits']>) => {
        for (const { entries } of args[0])
          units.push({ entries: entries.length, bytes: JSON.stringify(entries).length });
        return target.commitUnits(...args);
      };
    },
  });
  return { storage: view, units };
}

describe('size', () => {
  it('of a sequence: a thousand steps run in order', async () => {
    const steps = Array.from({ length: 1000 }, (_, n) => `  - { id: s${n}, step: h, with: { n: ${n} } }`);
    const world = new World(`steps:\n${steps.join('\n')}`, { h: (input) => (input as { n: number }).n });
    const run = await world.end(await world.begin());
    expect(run.output).toBe(999);
    expect(world.calls.map(({ input }) => (input as { n: number }).n)).toEqual(steps.map((_, n) => n));
  });

  it('of a loop: turn 10,000 writes as much as turn 100, and the run remembers as little', async () => {
    const { storage, units } = measured(new MemoryStorage());
    const world = new World(
      `
steps:
  - id: loop
    maxIterations: 10000
    doUntil: $steps.n.count = 10000
    do:
      - id: n
        step: count
        with: { count: =$steps.n.count ?? 0 }
`,
      { count: (input) => ({ count: (input as { count: number }).count + 1 }) },
      { storage },
    );
    const run = await world.end(await world.begin());
    expect(run).toMatchObject({ status: 'completed', output: { count: 10_000 } });
    // One unit a turn: what the handler gave, the condition, the next start. Its bytes grow by digits alone.
    // (The first start is written with the run itself, and the last unit ends it.)
    const turns = units.slice(0, -1);
    expect(turns).toHaveLength(9999);
    expect(new Set(turns.map(({ entries }) => entries))).toEqual(new Set([3]));
    const early = turns[99]?.bytes ?? 0;
    const late = turns.at(-1)?.bytes ?? 0;
    expect(late - early).toBeLessThan(20);
  });

  it('of a list: 10,000 items pass through without one unit being larger than it may', async () => {
    const { storage, units } = measured(new MemoryStorage());
    const world = new World(
      `steps: [{ id: e, forEach: '[1..10000]', maxIterations: 10000, concurrency: 2000, do: [{ step: h, with: { n: =$item } }] }]`,
      { h: (input) => (input as { n: number }).n },
      { storage },
    );
    const run = await world.end(await world.begin());
    expect((run.output as number[]).length).toBe(10_000);
    expect((run.output as number[])[9999]).toBe(10_000);
    expect(Math.max(...units.map(({ entries }) => entries))).toBeLessThan(1100);
  });
});
