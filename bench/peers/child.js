// One engine at work, in a process and a runtime of its own: `child.js <engine> <spec>`. The outcome is written to a
// file, since engines print what they like.
import { writeFileSync } from 'node:fs';
import { markForStrace } from '../strace.js';

/** The warm-up: so long, and longer until so many runs have ended, but no longer than that. */
const warmUp = { leastMs: 1000, runs: 1000, mostMs: 4000 };
const forMs = 2500;
const stuckMs = 30_000;
const closingMs = 5_000;

const [name, text] = process.argv.slice(2);
const spec = JSON.parse(text);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Keeps `atOnce` runs under way and counts those that end within `forMs`, after the warm-up. Both borders are ends of
 * runs, so that an engine that ends them in batches is counted in whole batches.
 */
async function keepBusy(runOnce, { atOnce, count }) {
  const began = performance.now();
  let finished = 0;
  let from;
  let to;
  const note = () => {
    finished += 1;
    const at = performance.now();
    const isBorder = from === undefined ? isWarm(at - began, finished) : to === undefined && at - from.at >= forMs;
    if (!isBorder) return;
    if (count) markForStrace();
    const { user, system } = process.cpuUsage();
    const border = { at, finished, cpuMs: (user + system) / 1000 };
    if (from === undefined) from = border;
    else to = border;
  };
  const one = async () => {
    while (to === undefined) {
      await runOnce();
      note();
      // An engine that never lets go of the event loop would otherwise keep every timer from its turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const stuck = pause(warmUp.mostMs + forMs + stuckMs).then(() => {
    throw new Error(`only ${finished} runs ended`);
  });
  await Promise.race([Promise.all(Array.from({ length: atOnce }, one)), stuck]);
  return { runs: to.finished - from.finished, ms: to.at - from.at, cpuMs: to.cpuMs - from.cpuMs };
}

function isWarm(ms, runs) {
  return ms >= warmUp.mostMs || (ms >= warmUp.leastMs && runs >= warmUp.runs);
}

async function outcome() {
  try {
    const { engine } = await import(`./engines/${name}.js`);
    const opened = await engine.open(spec);
    try {
      return { ...(await keepBusy(opened.runOnce, spec)), facts: opened.facts };
    } finally {
      await Promise.race([opened.close(), pause(closingMs)]);
    }
  } catch (error) {
    console.error(error);
    return { failed: String(error?.message ?? error) };
  }
}

// An exit ends the servers that the engine has started; death by a signal would leave them.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
writeFileSync(spec.resultFile, JSON.stringify(await outcome()));
process.exit(0);
