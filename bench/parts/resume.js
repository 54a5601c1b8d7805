import { defineHandler, systemClock } from '../../dist/index.js';
import { medians } from '../lab.js';
import { startedEngine } from '../runs.js';

/** Three entries a turn. */
const turns = 3333;

const flow = `workflow: resumed
steps:
  - doUntil: =$steps.turn.n >= ${turns}
    maxIterations: ${turns}
    do:
      - { id: turn, step: count, with: { n: =$iteration } }
  - sleep: 1d
  - { id: after, step: count, with: { n: 0 } }
`;

/** `prepare` drives a run until it sleeps; without it a process of a day later drives it on. */
export async function workload({ file, prepare }) {
  let firstCallAt;
  const handlers = [
    defineHandler({
      name: 'count',
      run({ input }) {
        firstCallAt ??= performance.now();
        return { n: input.n + 1 };
      },
    }),
  ];
  if (prepare) {
    const engine = await startedEngine({ file, durability: 'process', flow, handlers });
    const asleep = new Promise((resolve) => {
      engine.subscribe(({ type }) => type === 'workflow:sleeping' && resolve());
    });
    await engine.enqueue('resumed', {});
    await asleep;
    await engine.close();
    return {};
  }
  const clock = { ...systemClock, now: () => systemClock.now() + 2 * 24 * 3_600_000 };
  const began = performance.now();
  const engine = await startedEngine({ file, durability: 'process', flow, handlers, clock });
  const started = performance.now();
  const { runs } = await engine.listRuns({ statuses: ['sleeping', 'running'] });
  await engine.result(runs[0].id);
  await engine.close();
  return { openMs: started - began, resumeMs: firstCallAt - started };
}

/** A new process takes a run with ten thousand journal entries up again. */
export async function measure(lab) {
  const results = await lab.repeat(async () => {
    const file = `${lab.newFolder()}/runs.db`;
    await lab.workload('resume', { file, prepare: true });
    return lab.workload('resume', { file, prepare: false });
  });
  const { openMs, resumeMs } = medians(results);
  const work = `resume of a run of ${turns * 3} entries`;
  return [
    { work, what: 'to its first new step', value: resumeMs, unit: 'ms', target: { atMost: 150 } },
    { work, what: 'opening the storage before', value: openMs, unit: 'ms' },
  ];
}
