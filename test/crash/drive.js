// One process that drives one run on a SQLite file until it ends, made to be killed. Its only
// argument is JSON: { database, flow, handlers, input, key, log }. It prints `ready` when it begins
// and the run as JSON at the end; into `log` goes each operation of each walk, and after each commit
// that was acknowledged how many of them it made durable.
import { openSync, readFileSync, writeSync } from 'node:fs';
import { createJiti } from 'jiti';
import { SqliteStorage, createEngine, loadHandlers } from '../../dist/index.js';
import { readWorkflow, sealDefinition } from '../../dist/definition/index.js';
import { Source } from '../../dist/syntax/index.js';

const { database, flow, handlers, input, key, log } = JSON.parse(process.argv[2]);
const source = new Source(flow, readFileSync(flow, 'utf8'));
const definition = sealDefinition(readWorkflow(source).document, source);
const jiti = createJiti(import.meta.url);

const descriptor = openSync(log, 'a');
// A kill may cut a line short: only one that has its mark at the end is whole.
const write = (line) => writeSync(descriptor, `${line};\n`);
writeSync(descriptor, '\n');
let operations = 0;

const storage = new SqliteStorage(database);
const commitUnits = storage.commitUnits.bind(storage);
storage.commitUnits = async (units, options) => {
  const made = operations;
  const results = await commitUnits(units, options);
  if (results.every((result) => result === 'committed')) write(`durable ${made}`);
  return results;
};

const engine = createEngine({
  storage,
  definitions: [definition],
  handlers: await loadHandlers(handlers, { importModule: (path) => jiti.import(path) }),
  onOperation(_, operation) {
    operations = operation === 'walk' ? 0 : operations + 1;
    write(operation);
  },
});
await engine.recover();
const { id } = await engine.enqueue(definition.name, input, { key });
console.log('ready');
await engine.start({ only: id });
const run = await engine.result(id);
await engine.close();
console.log(JSON.stringify(run));
