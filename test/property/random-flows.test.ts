import fc from 'fast-check';
import type { Death } from 'runsheet/testing';
import { expect, it } from 'vitest';
import { family } from './flow-arbitrary.js';
import { violationsOf } from './invariants.js';
import { type Act, type Course, live } from './lives.js';

/*
 * Random flows of all verbs, whose steps and reversals fail at random, to which somebody sends signals and cancellations at
 * random times, whose one or two processes are killed at random, whose failures are resumed, and whose operator goes on or gives up. Every run ends, and what
 * `invariants.ts` says holds of what is left behind.
 *
 * RUNSHEET_PROPERTY_RUNS, RUNSHEET_PROPERTY_SEED and RUNSHEET_PROPERTY_PATH: how many, and where to begin. A course goes
 * the same way each time: seed and path show a violation again.
 */

const { RUNSHEET_PROPERTY_RUNS, RUNSHEET_PROPERTY_SEED, RUNSHEET_PROPERTY_PATH } = process.env;

const act: fc.Arbitrary<Act> = fc.record({
  atMs: fc.nat(90_000),
  what: fc.constantFrom(
    'signal',
    'signal',
    'signal',
    'signal',
    'signal',
    'signal',
    'cancel',
    'cancel-without-compensation',
  ),
  choice: fc.nat(100_000),
});

const deaths: fc.Arbitrary<readonly Death[]> = fc.array(
  fc.record({ afterUnits: fc.integer({ min: 1, max: 15 }), lastIsWritten: fc.boolean() }),
  { maxLength: 4 },
);

const course: fc.Arbitrary<Course> = fc.record({
  family,
  luck: fc.nat(1_000_000),
  acts: fc.array(act, { maxLength: 12 }),
  deaths: fc.array(deaths, { minLength: 1, maxLength: 2 }),
  storage: fc.constantFrom('memory', 'memory', 'memory', 'memory', 'memory', 'memory', 'memory', 'sqlite'),
  concurrency: fc.integer({ min: 1, max: 4 }),
  lagMs: fc.constantFrom(0, 0, 5, 50),
});

it(
  'random flows, whatever happens to them, end, and what must hold of their unwind and their signals holds',
  async () => {
    let [resumed, sideBySide, onSqlite] = [0, 0, 0];
    await fc.assert(
      fc.asyncProperty(course, async (drawn) => {
        const lived = await live(drawn);
        expect(violationsOf(lived)).toEqual([]);
        resumed += lived.resumed;
        sideBySide += drawn.deaths.length > 1 ? 1 : 0;
        onSqlite += drawn.storage === 'sqlite' ? 1 : 0;
      }),
      {
        numRuns: Number(RUNSHEET_PROPERTY_RUNS ?? 100),
        seed: Number(RUNSHEET_PROPERTY_SEED ?? 20_261_130),
        ...(RUNSHEET_PROPERTY_PATH !== undefined && { path: RUNSHEET_PROPERTY_PATH }),
      },
    );
    if (RUNSHEET_PROPERTY_RUNS !== undefined || RUNSHEET_PROPERTY_PATH !== undefined) return;
    // It was about these, too.
    expect(Math.min(resumed, sideBySide, onSqlite), `${resumed}, ${sideBySide}, ${onSqlite}`).toBeGreaterThan(0);
  },
  24 * 3_600_000,
);

it('the first attempt of a resumed run may begin beside a handler that goes on after its time-out', async () => {
  const conduct = { fails: 0, how: 'plain', takesMs: 40_000, listens: false } as const;
  const parent = {
    body: [{ verb: 'step', conduct, attempts: 1, timeoutMs: 600 } as const],
    onFailure: [],
    finally: [],
  };
  const rest = { luck: 0, acts: [], deaths: [[], []], storage: 'memory', concurrency: 1, lagMs: 5 } as const;
  const lived = await live({ family: { parent, children: [], undoes: true }, ...rest });
  expect(violationsOf(lived)).toEqual([]);
  expect(lived.calls.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
  expect(new Set(lived.calls.map(({ key }) => key)).size).toBe(1);
  expect(new Set(lived.calls.map(({ run }) => run)).size).toBe(4);
});
