// `npm run bench:peers`, after `npm run build`: finished runs of three trivial steps, other engines beside Runsheet, as
// a table and in bench/peers/results.json.
//
//     node bench/peers/run.js [--rounds 3] [peer …]
//
// README.md here says how it is measured.
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hasStrace } from '../strace.js';
import { Bench } from './measure.js';
import { install, versionsOf, whatIsMissing } from './packages.js';
import { printLine, printTitles } from './print.js';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const peers = readdirSync(at('engines'))
  .map((file) => file.replace(/\.js$/, ''))
  .filter((name) => name !== 'runsheet');

const { values, positionals } = parseArgs({ allowPositionals: true, options: { rounds: { type: 'string' } } });
const rounds = Number(values.rounds ?? 3);
const chosen = positionals.length > 0 ? positionals : peers;
const unknown = chosen.filter((name) => !peers.includes(name));
if (unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
  console.error(
    unknown.length > 0 ? `no peer ${unknown.join(', ')}; there are ${peers.join(', ')}` : '--rounds is a number',
  );
  process.exit(2);
}
if (!existsSync(at('../../dist/index.js'))) {
  console.error('dist/ is missing; run `npm run build` first');
  process.exit(2);
}

const engines = {};
for (const name of ['runsheet', ...chosen]) engines[name] = (await import(`./engines/${name}.js`)).engine;
install(Object.values(engines));

const folder = mkdtempSync(join(tmpdir(), 'runsheet-peers-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
chmodSync(folder, 0o755);

const tmpfs = 0x01021994;
const notes = [
  ...(hasStrace() ? [] : ['strace is not on this machine, so fsyncs are NOT counted']),
  ...(statfsSync(folder).type === tmpfs
    ? [`${tmpdir()} is memory: syncs cost nothing there. Set TMPDIR to a disk`]
    : []),
];
const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version, platform: process.platform };
console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.platform}, node ${machine.node}, ${rounds} rounds`);
for (const note of notes) console.log(note);

const settings = Object.fromEntries(
  Object.entries(engines).map(([name, engine]) => [name, { versions: versionsOf(engine), settings: engine.settings }]),
);
const described = (name) => {
  const { versions, settings: how } = settings[name];
  return `${name}: ${Object.entries(versions).flat().join(' ')}\n  ${how}`;
};
console.log(described('runsheet'));

const bench = new Bench({ folder, rounds });
const measured = [];
const notMeasured = [];
for (const name of chosen) {
  const engine = engines[name];
  console.log(`\n${described(name)}`);
  try {
    const missing = whatIsMissing(engine);
    if (missing !== undefined) throw new Error(missing);
    printTitles();
    for (const variant of engine.variants) {
      for (const atOnce of [1, 10, 100]) {
        const line = { peer: name, ...(await bench.compare(name, engine, variant, atOnce)) };
        measured.push(line);
        printLine(line);
      }
      console.log(`  ${name} ${variant.name}: ${measured.at(-1).facts}`);
    }
  } catch (error) {
    notMeasured.push({ peer: name, why: error.message });
    console.log(`NOT MEASURED: ${error.message}`);
  }
}

const results = { machine, rounds, notes, settings, measured, notMeasured };
writeFileSync(at('results.json'), `${JSON.stringify(results, null, 2)}\n`);
if (notMeasured.length > 0) console.log(`\nnot measured: ${notMeasured.map(({ peer }) => peer).join(', ')}`);
