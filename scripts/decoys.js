// node scripts/decoys.js <folder>: makes a `node_modules` of decoys, one for each package that is installed here. Whoever loads
// one has resolved a module from outside the checkout, and fails with a message that says so.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const target = process.argv[2];
if (target === undefined) throw new Error('usage: node scripts/decoys.js <folder>');
const installed = fileURLToPath(new URL('../node_modules', import.meta.url));

const packages = readdirSync(installed).flatMap((name) =>
  name.startsWith('@') ? readdirSync(join(installed, name)).map((part) => `${name}/${part}`) : [name],
);
// Types are looked for in every folder above, and none of them is loaded when a program runs.
for (const name of [...packages, 'runsheet'].filter((name) => !/^(\.|@types\/)/.test(name))) {
  const folder = join(target, name);
  mkdirSync(folder, { recursive: true });
  const manifest = { name, version: '0.0.0', exports: { '.': './decoy.cjs', './*': './decoy.cjs' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(folder, 'decoy.cjs'),
    `throw new Error(${JSON.stringify(`\`${name}\` was resolved from outside the checkout (${folder})`)});\n`,
  );
}
