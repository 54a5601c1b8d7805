import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Verdict, handlersThatAnswer, judge } from './fuzz/judge.js';
import { type Mutant, mutants } from './fuzz/mutants.js';

/** `npm run test:fuzz` takes many more, from seeds of its own. */
const total = Number(process.env.FUZZ_RUNS ?? 5_000);
const firstSeed = Number(process.env.FUZZ_SEED ?? 1);

/** Every how many mutants one that is accepted is run as well. */
const runEvery = Number(process.env.FUZZ_RUN_EVERY ?? 20);

const chunk = 1_000;

/**
 * Real flows with a few changes. Whatever they hold: the checker neither crashes nor hangs, each diagnostic has its
 * place in the file, what it accepts can be registered and runs to an end that depends on values alone, and what
 * registration refuses it has refused under the same code.
 */
test(`${total} mutants of the real flows`, { timeout: 24 * 3_600_000 }, async () => {
  const handlers = await handlersThatAnswer();
  const verdicts: Partial<Record<Verdict, number>> = {};
  const faults: string[] = [];
  let known = 0;
  for (let done = 0; done < total && faults.length < 20; done += chunk) {
    const seed = firstSeed + done / chunk;
    const some: Mutant[] = fc.sample(mutants, { seed, numRuns: Math.min(chunk, total - done) });
    for (const [index, mutant] of some.entries()) {
      try {
        const verdict = await judge(mutant, handlers, { run: index % runEvery === 0 });
        verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
      } catch (error) {
        const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
        faults.push(`seed ${seed}, mutant ${index} of ${mutant.file}: ${reason}\n${mutant.text}`);
      }
    }
    if (process.env.FUZZ_RUNS !== undefined) console.log(done + some.length, verdicts, faults.slice(known));
    known = faults.length;
  }
  expect(faults).toEqual([]);
  // Changes that are all refused, or all let through, would show nothing.
  expect(verdicts.refused).toBeGreaterThan(total / 10);
  expect(verdicts.completed).toBeGreaterThan(total / 100);
});
