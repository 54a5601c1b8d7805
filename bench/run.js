// `npm run bench`, after `npm run build`: what the work costs, as a table and in bench/results.json.
//
//     node bench/run.js [--quick] [part …]
//
// docs/reference/performance.md says what each figure means.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Lab } from './lab.js';
import { parts } from './parts/index.js';
import { printRows } from './table.js';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

const { values, positionals } = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean' } } });
const quick = values.quick === true;
const unknown = positionals.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}
if (!existsSync(at('../dist/index.js'))) {
  console.error('dist/ is missing; run `npm run build` first');
  process.exit(2);
}

// Beside the project and not in the system's temporary folder, which is memory on many machines: fsync would be free.
const root = at('../.runsheet');
mkdirSync(root, { recursive: true });
const folder = mkdtempSync(`${root}/bench-`);
const rows = [];
try {
  const lab = new Lab({ folder, quick });
  if (!lab.hasStrace) console.error('strace is not on this machine, so fsyncs are not counted');
  for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
    console.error(`${name} …`);
    const found = (await parts[name].measure(lab)).map((row) => ({ part: name, ...row }));
    rows.push(...found);
    printRows(found);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version, platform: process.platform };
writeFileSync(at('results.json'), `${JSON.stringify({ machine, quick, rows }, null, 2)}\n`);
