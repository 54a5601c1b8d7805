// The other process: for each run, of which a line on its standard input tells, it does about when that run comes to its point
// what its only argument says: { database, what: "signal" | "cancel" }. It prints what it was told, by run:
// `{ id: "accepted" | <code of the refusal> }`.
import { setTimeout as wait } from 'node:timers/promises';
import { createInterface } from 'node:readline';
import { SqliteStorage, createEngine } from '../../dist/index.js';

const { database, what } = JSON.parse(process.argv[2]);
const engine = createEngine({ storage: new SqliteStorage(database, { durability: 'process' }) });
const act = { signal: (id) => engine.signal(id, 'go', { by: 'signal' }), cancel: (id) => engine.cancel(id) }[what];

// Whoever wins makes it easier for the other one, so that the two meet however slow the machine is.
const stepMs = 4;
let delayMs = 0;
const told = {};
const answers = [];
for await (const line of createInterface({ input: process.stdin })) {
  const { id, at } = JSON.parse(line);
  await wait(Math.max(0, at + delayMs - Date.now()));
  const answer = act(id).then(
    () => 'accepted',
    ({ code }) => code ?? 'no code',
  );
  answers.push(
    answer.then((said) => {
      told[id] = said;
      delayMs += said === 'accepted' ? stepMs : -stepMs;
    }),
  );
}
await Promise.all(answers);
await engine.close();
console.log(JSON.stringify(told));
