// An engine in a process of its own, made to be steered, frozen and killed. Its only argument is JSON
// (`WorkerOrder` of worker-process.ts, its flows as canonical texts). It runs as `workerProgram` bundles it, beside its
// handlers. It prints `{ owner }` when it is ready; then, for each line
// `{ id, ask, args }` that it reads, `{ id, result }` or `{ id, error }`; a fault of the engine as
// `{ fault }`. It ends when its standard input does.
import { randomBytes } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { definitionFromCanonical } from '../../../dist/definition/index.js';
import { SqliteStorage, createEngine, loadHandlers } from '../../../dist/index.js';
import { VirtualClock } from '../../../dist/testing/index.js';
import { fasterClock } from './faster-clock.js';

const order = JSON.parse(process.argv[2]);
process.env.WORKER_NAME = order.name;

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const storage = new SqliteStorage(order.database, order.storage);
if (order.commits !== undefined) {
  const file = openSync(order.commits, 'a');
  const commitUnits = storage.commitUnits.bind(storage);
  storage.commitUnits = async (units, options) => {
    const results = await commitUnits(units, options);
    for (const [index, { run, epoch, entries }] of units.entries()) {
      const [from, to] = [entries[0]?.seq ?? null, entries.at(-1)?.seq ?? null];
      writeSync(file, `${JSON.stringify({ worker: order.name, run, epoch, from, to, result: results[index] })}\n`);
    }
    return results;
  };
}

/** What it has taken from dead engines, of its own accord too. */
const released = [];
const releaseDeadEngines = storage.releaseDeadEngines.bind(storage);
storage.releaseDeadEngines = async (now) => {
  const runs = await releaseDeadEngines(now);
  released.push(...runs);
  return runs;
};

const virtual = order.startAt === undefined ? undefined : new VirtualClock(order.startAt);
const clock = virtual ?? (order.faster && fasterClock(order.faster));

/** The engine's name is made of the first bytes that it asks for. */
let owner;
const engine = createEngine({
  storage,
  definitions: order.definitions.map(definitionFromCanonical),
  handlers: await loadHandlers(fileURLToPath(new URL('handlers', import.meta.url))),
  ...(clock && { clock }),
  ...order.engine,
  randomBytes() {
    const bytes = randomBytes(16);
    owner ??= `engine_${bytes.toString('hex')}`;
    return bytes;
  },
});
engine.onFault((error) => say({ fault: String(error) }));

const asks = {
  register: (canonical) => engine.register(definitionFromCanonical(canonical)),
  advance: (ms) => virtual.advance(ms),
  released: () => released,
  until: (id) => virtual.until(engine.result(id)),
};

const input = createInterface({ input: process.stdin });
input.on('line', (line) => {
  const { id, ask, args } = JSON.parse(line);
  Promise.resolve()
    .then(() => (Object.hasOwn(asks, ask) ? asks[ask](...args) : engine[ask](...args)))
    .then(
      (result) => say({ id, result: result ?? null }),
      (error) => say({ id, error: { code: error.code ?? error.name, message: error.message } }),
    );
});
input.on('close', () => process.exit());
say({ owner });
