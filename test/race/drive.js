// One of two processes on a SQLite file: it drives many runs, each of which comes to a point at a time of its own. Its only
// argument is JSON: { database, flow, count, leadMs }. It prints a line `{ id, at }` for each run that it begins, and at the
// end what became of each: `[{ id, status, output, done, undone }, …]`.
import { setTimeout as wait } from 'node:timers/promises';
import { SqliteStorage, createEngine, defineHandler } from '../../dist/index.js';
import { readWorkflow, sealDefinition } from '../../dist/definition/index.js';
import { Source } from '../../dist/syntax/index.js';

const { database, flow, count, leadMs } = JSON.parse(process.argv[2]);
const definition = sealDefinition(readWorkflow(new Source('flow.yaml', flow)).document);
const done = new Map();
const undone = new Map();

const engine = createEngine({
  storage: new SqliteStorage(database, { durability: 'process' }),
  definitions: [definition],
  handlers: [
    defineHandler({
      name: 'work',
      async run({ input, run }) {
        done.set(run.id, (done.get(run.id) ?? 0) + 1);
        await wait(Math.max(0, input.at - Date.now()));
      },
    }),
    defineHandler({ name: 'undo', run: ({ run }) => void undone.set(run.id, (undone.get(run.id) ?? 0) + 1) }),
    defineHandler({ name: 'tidy', run: () => 'tidied' }),
  ],
  concurrency: 1000,
});

await engine.start();
const runs = [];
let open = 0;
/** On a slow machine fewer come, so that none is driven much later than it should be. */
const mostOpen = 500;
for (let index = 0; index < count; index += 1) {
  const at = Date.now() + leadMs;
  const { id } = await engine.enqueue(definition.name, { at });
  runs.push(id);
  console.log(JSON.stringify({ id, at }));
  open += 1;
  void engine.result(id).then(() => (open -= 1));
  do await wait(2);
  while (open >= mostOpen);
}
const ends = [];
for (const id of runs) {
  const { status, output } = await engine.result(id);
  ends.push({ id, status, output, done: done.get(id) ?? 0, undone: undone.get(id) ?? 0 });
}
await engine.close();
console.log(JSON.stringify(ends));
