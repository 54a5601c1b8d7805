import { medians } from '../lab.js';
import { rawCommits } from '../raw.js';
import { watched } from '../runs.js';

const pieceMs = 1;

/** A busy program that yields every millisecond: how late its event loop is, is the machine's doing alone. */
export async function workload({ forMs }) {
  return watched(async () => {
    const began = performance.now();
    while (performance.now() - began < forMs) {
      const before = performance.now();
      while (performance.now() - before < pieceMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
}

/** What driver, disk and machine do without Runsheet: the measure of all that follows. */
export async function measure(lab) {
  const rows = [];
  for (const [synchronous, rowsPerCommit] of [
    ['FULL', 1],
    ['FULL', 100],
    ['NORMAL', 1],
    ['NORMAL', 100],
  ]) {
    const forMs = lab.quick ? 200 : 1000;
    const { perSecond } = rawCommits(`${lab.newFolder()}/raw.db`, { synchronous, rowsPerCommit, forMs });
    const what = `synchronous=${synchronous}, rows a commit: ${rowsPerCommit}`;
    rows.push({ work: 'better-sqlite3 alone', what, value: perSecond, unit: 'commits/s' });
  }
  const late = medians(await lab.repeat(() => lab.workload('raw-limits', { forMs: 1000 })));
  const work = `a loop of ${pieceMs} ms pieces alone`;
  rows.push({ work, what: 'event loop late, 99th percentile', value: late.delayP99Ms, unit: 'ms' });
  rows.push({ work, what: 'event loop late, longest', value: late.delayMaxMs, unit: 'ms' });
  return rows;
}
