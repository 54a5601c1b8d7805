import { defineHandler } from '../../dist/index.js';
import { median, medians } from '../lab.js';
import { rawCommits } from '../raw.js';
import { startedEngine } from '../runs.js';

const flow = `workflow: one-step
steps:
  - { id: only, step: note-time }
`;
const idleMs = 10;

export async function workload({ folder, durability, samples }) {
  let calledAt = 0;
  const noteTime = defineHandler({
    name: 'note-time',
    run() {
      calledAt = performance.now();
    },
  });
  const engine = await startedEngine({ file: `${folder}/runs.db`, durability, flow, handlers: [noteTime] });
  const delays = [];
  for (let sample = 0; sample < samples; sample += 1) {
    await new Promise((resolve) => setTimeout(resolve, idleMs));
    const before = performance.now();
    const { id } = await engine.enqueue('one-step', {});
    await engine.result(id);
    delays.push(calledAt - before);
  }
  await engine.close();
  const warm = delays.slice(Math.floor(samples / 5));
  return { medianMs: median(warm) };
}

/** From `enqueue` to the call of the first handler, in an engine that has nothing else to do. */
export async function measure(lab) {
  const rows = [];
  for (const durability of ['power', 'process']) {
    const synchronous = durability === 'power' ? 'FULL' : 'NORMAL';
    const results = await lab.repeat(async () => {
      const raw = rawCommits(`${lab.newFolder()}/raw.db`, { synchronous, rowsPerCommit: 1, forMs: 300 });
      const { medianMs } = await lab.workload('latency', { durability, samples: lab.quick ? 50 : 200 });
      return { commitMs: raw.medianMs, beyondMs: medianMs - raw.medianMs };
    });
    const { commitMs, beyondMs } = medians(results);
    const work = `enqueue to first handler, ${durability}`;
    rows.push({ work, what: 'beyond one raw commit', value: beyondMs, unit: 'ms', target: { atMost: 2 } });
    rows.push({ work, what: 'one raw commit', value: commitMs, unit: 'ms' });
  }
  return rows;
}
