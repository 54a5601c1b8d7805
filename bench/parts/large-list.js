import { defineHandler } from '../../dist/index.js';
import { medians } from '../lab.js';
import { rawCommits } from '../raw.js';
import { completed, startedEngine, watched } from '../runs.js';

const items = 10_000;
/** `step-started`, `step-completed`, `scope-ended`. */
const rowsPerItem = 3;

const flow = `workflow: large-list
input:
  list: { type: array }
steps:
  - forEach: =$input.list
    concurrency: 50
    maxIterations: ${items}
    do:
      - { id: one, step: double, with: { n: =$item } }
`;

const double = defineHandler({ name: 'double', run: ({ input }) => ({ n: input.n * 2 }) });

export async function workload({ folder, durability }) {
  const engine = await startedEngine({ file: `${folder}/runs.db`, durability, flow, handlers: [double] });
  const list = Array.from({ length: items }, (_, index) => index);
  await completed(engine, 'large-list', { list: list.slice(0, 3000) });
  const seen = await watched(() => completed(engine, 'large-list', { list }));
  await engine.close();
  return seen;
}

/** One run over a long list, fifty items at a time. */
export async function measure(lab) {
  const rows = [];
  for (const durability of ['power', 'process']) {
    const results = await lab.repeat(async () => {
      const synchronous = durability === 'power' ? 'FULL' : 'NORMAL';
      const raw = rawCommits(`${lab.newFolder()}/raw.db`, { synchronous, rowsPerCommit: 100, forMs: 300 });
      const { ms, delayP99Ms, delayMaxMs } = await lab.workload('large-list', { durability });
      const perSecond = items / (ms / 1000);
      return { perSecond, toRaw: ((perSecond * rowsPerItem) / (raw.perSecond * 100)) * 100, delayP99Ms, delayMaxMs };
    });
    const { perSecond, toRaw, delayP99Ms, delayMaxMs } = medians(results);
    const work = `forEach, ${items} items, 50 at once, ${durability}`;
    rows.push(
      {
        work,
        what: 'items',
        value: perSecond,
        unit: '/s',
        ...(durability === 'process' && { target: { atLeast: 20_000 } }),
      },
      { work, what: 'rows to raw rows, 100 a commit', value: toRaw, unit: '%' },
      { work, what: 'event loop late, 99th percentile', value: delayP99Ms, unit: 'ms', target: { atMost: 10 } },
      { work, what: 'event loop late, longest', value: delayMaxMs, unit: 'ms', target: { atMost: 30 } },
    );
  }
  return rows;
}
