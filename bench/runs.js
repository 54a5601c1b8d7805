import { monitorEventLoopDelay } from 'node:perf_hooks';
import Database from 'better-sqlite3';
import { sealDefinition, readWorkflow } from '../dist/definition/index.js';
import { SqliteStorage, createEngine } from '../dist/index.js';
import { Source } from '../dist/syntax/index.js';

/** What workloads do with an engine: make it, put runs through it, watch the process meanwhile. */

export function definitionOf(text) {
  const source = new Source('bench.yaml', text);
  const { document, diagnostics } = readWorkflow(source);
  if (document === undefined) throw new Error(JSON.stringify(diagnostics));
  return sealDefinition(document, source);
}

export async function startedEngine({ file, durability, flow, handlers, concurrency = 1, clock }) {
  const engine = createEngine({
    storage: new SqliteStorage(file, { durability }),
    definitions: [definitionOf(flow)],
    handlers,
    concurrency,
    ...(clock && { clock }),
  });
  await engine.start();
  return engine;
}

/** Puts `count` runs through the engine, always `atOnce` of them; each is awaited to its end. */
export async function putThrough(engine, workflow, { count, atOnce }) {
  let begun = 0;
  const one = async () => {
    while (begun < count) {
      begun += 1;
      await completed(engine, workflow, {});
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

export async function completed(engine, workflow, input) {
  const { id } = await engine.enqueue(workflow, input);
  const run = await engine.result(id);
  if (run.status !== 'completed') throw new Error(`a run ended as ${run.status}: ${JSON.stringify(run.error)}`);
  return run;
}

const delayResolutionMs = 1;

/** Does `work` and tells how long it took, its processor time, and how late the event loop was meanwhile. All in ms. */
export async function watched(work) {
  const delay = monitorEventLoopDelay({ resolution: delayResolutionMs });
  delay.enable();
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  await work();
  const ms = performance.now() - before;
  const { user, system } = process.cpuUsage(cpuBefore);
  delay.disable();
  // The histogram holds the time between two looks, which are meant to be `delayResolutionMs` apart.
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - delayResolutionMs);
  return { ms, cpuMs: (user + system) / 1000, delayP99Ms: late(delay.percentile(99)), delayMaxMs: late(delay.max) };
}

/**
 * Counts the transactions that wrote something, of all databases opened from now on. The storage does
 * not tell, so that its driver is asked; a workload that is timed must not do this.
 */
export function countCommits() {
  const counter = { commits: 0 };
  const { prepare } = Database.prototype;
  Database.prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql);
    if (sql !== 'commit') return statement;
    const changes = prepare.call(this, 'select total_changes()').pluck();
    let seen = changes.get();
    const run = statement.run;
    statement.run = () => {
      const result = run.call(statement);
      const now = changes.get();
      if (now !== seen) counter.commits += 1;
      seen = now;
      return result;
    };
    return statement;
  };
  return counter;
}
