// One process that begins runs with the transactions that insert them, on a SQLite file, until all have ended; made to be
// killed. Its only argument is JSON: { database, durability, log, keys, atOnce, dieAt }. It prints `ready` when it begins to
// enqueue. Into `log` go, a line of JSON each, what it was told of (`{ begun }`, `{ acknowledged, key }`: ids of runs) and
// the calls of its handler (`{ called }`: the key).
// With `dieAt` it kills itself: when the transaction of its first run is `asked` for; when it is `committed`, and the sync of
// the log is about to begin; when it is `acknowledged` to the engine; or when the first handler is `called`.
import { fdatasync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { SqliteStorage, createEngine, defineHandler } from '../../dist/index.js';
import { readWorkflow, sealDefinition } from '../../dist/definition/index.js';
import { Source } from '../../dist/syntax/index.js';

const { database, durability, log, keys, atOnce, dieAt } = JSON.parse(process.argv[2]);
const flow = 'workflow: flow\nsteps: [{ id: a, step: note }, { id: b, step: note }, { id: c, step: note }]\n';
const definition = sealDefinition(readWorkflow(new Source('flow.yaml', flow)).document);

const descriptor = openSync(log, 'a');
const write = (line) => writeSync(descriptor, `${JSON.stringify(line)}\n`);
const dieIf = (moment) => {
  if (dieAt === moment) process.kill(process.pid, 'SIGKILL');
};

let isStarting = false;
const storage = new SqliteStorage(database, {
  durability,
  fileSync: {
    start(fd, done) {
      if (isStarting) dieIf('committed');
      fdatasync(fd, done);
    },
    now(fd) {
      if (isStarting) dieIf('committed');
      fdatasyncSync(fd);
    },
  },
});
const startRun = storage.startRun.bind(storage);
storage.startRun = async (...args) => {
  dieIf('asked');
  isStarting = true;
  const started = await startRun(...args);
  write({ begun: started.run.id });
  dieIf('acknowledged');
  return started;
};

/** From then on there is nothing due that the engine knows of, and it begins runs at once. */
const hasLooked = new Promise((resolve) => {
  const nextDueAt = storage.nextDueAt.bind(storage);
  storage.nextDueAt = async (...args) => {
    setTimeout(resolve, 1);
    return nextDueAt(...args);
  };
});

const engine = createEngine({
  storage,
  definitions: [definition],
  concurrency: atOnce,
  handlers: [
    defineHandler({
      name: 'note',
      async run({ idempotencyKey }) {
        write({ called: idempotencyKey });
        dieIf('called');
        await wait(Math.random() * 5);
      },
    }),
  ],
});
await engine.recover();
await engine.start();
await hasLooked;
// What a process before has left behind comes first.
for (const { id } of (await engine.listRuns({ limit: 1000 })).runs) await engine.result(id);
console.log('ready');
const waiting = [...keys];
const enqueue = async () => {
  for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
    const { id } = await engine.enqueue('flow', {}, { key });
    write({ acknowledged: id, key });
    await engine.result(id);
  }
};
await Promise.all(Array.from({ length: atOnce }, enqueue));
await engine.close();
