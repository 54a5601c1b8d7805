import { describe, expect, it } from 'vitest';
import { LiveReader } from '../../../src/cli/live/live-reader.js';
import { type Screen, renderLive } from '../../../src/cli/live/live-view.js';
import { widthOf } from '../../../src/common/index.js';
import { HistoryReader } from '../../../src/engine/index.js';
import { World } from '../../support/world.js';

const wide: Screen = { columns: 100, rows: 60, color: false };

/** What is on the screen for a run as it is now. */
async function screenOf(world: World, id: string, screen: Screen = wide, advice: string[] = []): Promise<string> {
  const record = await world.storage.getRun(id);
  if (record === undefined) throw new Error(`no run ${id}`);
  const run = await new LiveReader(world.storage, record, (...about) => new HistoryReader(...about)).read();
  const lines = renderLive({ run, advice }, world.clock.now(), screen);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(screen.columns);
  expect(lines.length).toBeLessThanOrEqual(screen.rows);
  return lines
    .map((line) => `${line}\n`)
    .join('')
    .replaceAll(id, 'wf_1');
}

const order = `
workflow: order
steps:
  - id: reserve
    step: work
    with: { takes: 3s }
    compensate: { step: undo }
  - id: rare
    when: false
    step: work
  - id: each
    forEach: [1, 2, 3, 4, 5]
    concurrency: 2
    onItemError: continue
    do:
      - id: pick
        step: work
        retry: { attempts: 2, delay: 1s, jitter: false }
        with: { takes: 10s, fails: =$item = 2 }
  - id: both
    timeout: 2h
    parallel:
      paper:
        - id: decision
          waitFor: approval
          timeout: 1h
      parcel:
        - id: kid
          subWorkflow: kid
  - id: last
    step: work
    with: { fails: true }
onFailure:
  - id: tell
    step: work
`;

const kid = 'workflow: kid\nsteps:\n  - id: nap\n    sleep: 30m\n';

function newWorld(): World {
  const world: World = new World([order, kid], {
    work: async (input) => {
      const { takes, fails } = (input ?? {}) as { takes?: string; fails?: boolean };
      const seconds = Number(/\d+/.exec(takes ?? '0')?.[0]);
      if (seconds > 0) {
        await new Promise<void>((resolve) => world.clock.setTimer(seconds * 1000, () => resolve()));
      }
      if (fails === true) throw Object.assign(new Error('no luck'), { name: 'NoLuck' });
      return 1;
    },
    undo: () => null,
  });
  return world;
}

describe('the live view', () => {
  it('follows a run: states, times, turns in counts, branches, children, the unwind', async () => {
    const world = newWorld();
    const id = await world.begin({}, { workflow: 'order' });
    await world.pass(1_999);
    expect(await screenOf(world, id)).toBe(`order  wf_1  running  2s
  ⠋ reserve  2s
  · rare
  · each
  · both
  · last
`);
    await world.pass(1_000);
    await world.pass(10_500);
    expect(await screenOf(world, id)).toBe(`order  wf_1  running  13.5s
  ✓ reserve  3s
  – rare  skipped
  ⠴ each  1 of 5 turns
    ⠴ pick  1 running, 1 waiting, 1 completed
  · both
  · last
`);
    await world.pass(60_000);
    expect(await screenOf(world, id)).toBe(`order  wf_1  waiting  1m13s
  ✓ reserve  3s
  – rare  skipped
  ✓ each  5 of 5 turns, 1 failed
    ✗ pick  1 failed (handled), 4 completed
  ◦ both  1h59m left
    ◦ paper
      ◦ decision  waits for approval, 59m20s left
    ◦ parcel
      ◦ kid  kid is sleeping
        ◦ nap  sleeps, 29m20s left
  · last
`);
    await world.engine.signal(id, 'approval', null);
    await world.pass(31 * 60_000);
    const run = await world.end(id);
    expect(run.status).toBe('failed');
    expect(await screenOf(world, id)).toMatch(
      new RegExp(`^order  wf_1  failed  .*  NoLuck: no luck
  ↶ reserve  undone
  – rare  skipped
  ✓ each  5 of 5 turns, 1 failed
    ✗ pick  1 failed \\(handled\\), 4 completed
  ✓ both
    ✓ paper
      ✓ decision  answered
    ✓ parcel
      ✓ kid  30m
  ✗ last  failed: NoLuck, 3 attempts: no luck
  ✓ tell  0ms
$`),
    );
  });

  it('fits a small screen: what is over goes first, what is open stays', async () => {
    const world = newWorld();
    const id = await world.begin({}, { workflow: 'order' });
    await world.pass(80_000);
    expect(await screenOf(world, id, { columns: 30, rows: 9, color: false })).toBe(`order  ${id.slice(0, 22)}…
  … 4 more lines
  ◦ both  1h59m left
    ◦ paper
      ◦ decision  waits for a…
    ◦ parcel
      ◦ kid  kid is sleeping
        ◦ nap  sleeps, 29m13s…
  · last
`);
    for (let rows = 1; rows < 14; rows += 1) {
      for (const columns of [1, 5, 20, 60]) await screenOf(world, id, { columns, rows, color: false });
    }
  });

  it('breaks commands so that they can be copied, cuts all else by columns, wide characters as two', async () => {
    const world = new World('workflow: wide\nsteps:\n  - id: warten\n    waitFor: go\n    timeout: never\n');
    const id = await world.begin({}, { workflow: 'wide', key: '注文番号一二三四五六七八九十' });
    const screen = await screenOf(world, id, { columns: 60, rows: 10, color: false }, [
      `runsheet signal ${id} approval --data '{ "approved": <boolean> }'`,
    ]);
    expect(screen).toBe(`wide  waiting  1ms
  wf_1 (注文番号一二三四五六…
  ◦ warten  waits for go
  runsheet signal wf_1 \\
    approval --data '{ "approved": <boolean> }'
`);
  });

  it('colours marks and never counts colours as columns', async () => {
    const world = newWorld();
    const id = await world.begin({}, { workflow: 'order' });
    const record = await world.storage.getRun(id);
    if (record === undefined) throw new Error('no run');
    const run = await new LiveReader(world.storage, record, (...about) => new HistoryReader(...about)).read();
    const lines = renderLive({ run, advice: [] }, world.clock.now(), { ...wide, columns: 12, color: true });
    expect(lines[1]).toMatch(/^ {2}\u001b\[36m⠋\u001b\[0m reserve/);

    for (const line of lines) expect(widthOf(line.replace(/\u001b\[[\d;]*m/g, ''))).toBeLessThanOrEqual(12);
  });
});
