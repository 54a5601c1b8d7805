import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { type Io, pathOf } from '../io.js';
import { packageFile, packageVersion } from '../package-files.js';
import { shellWord } from '../shell-word.js';
import { say } from '../terminal-text.js';
import { someOf } from '../text.js';
import { writeOutput } from '../write-output.js';

/** Of the files in the way; more would say no more. */
const mostNamed = 3;

const template = 'templates/project';
const manifest = 'package.json';

/** Files that npm leaves out of packages, or would take for the package's own, have other names in the template. */
const realNames: Readonly<Record<string, string>> = { gitignore: '.gitignore', 'package.template.json': manifest };

/** What projects have that are older than their flows. */
const mayBeThere: ReadonlySet<string> = new Set([...Object.values(realNames), 'tsconfig.json']);

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/**
 * Makes a small working project. Asks nothing, so that it runs in scripts, and replaces nothing: of what is there
 * already only `package.json`, `tsconfig.json` and `.gitignore` are allowed, and left as they are.
 *
 * @throws CommandFailure (conflict) naming the files in the way, before anything is written
 */
export async function init(directory: string, io: Io): Promise<ExitCode> {
  const folder = resolve(pathOf(io, directory));
  const files = templateFiles();
  const kept = [...files.keys()].filter((path) => existsSync(join(folder, path)));
  const inTheWay = kept.filter((path) => !mayBeThere.has(path));
  if (inTheWay.length > 0) {
    const list = someOf(
      inTheWay.map((path) => join(directory, path)),
      mostNamed,
    );
    throw new CommandFailure(
      exitCodes.conflict,
      `${list} ${inTheWay.length === 1 ? 'is' : 'are'} there already, so nothing was written; choose an empty folder`,
    );
  }
  for (const [path, text] of files) {
    if (kept.includes(path)) continue;
    const file = join(directory, path);
    writeOutput(
      file,
      path === manifest ? manifestFor(folder, text) : text.replaceAll('{version}', packageVersion()),
      io,
      { folders: true },
    );
    say(io, `wrote ${file}`);
  }
  for (const path of kept) say(io, `kept ${join(directory, path)}`);
  io.out(nextSteps(directory, folder));
  return exitCodes.fine;
}

/** By their path in the new project. */
function templateFiles(): Map<string, string> {
  const root = packageFile(template);
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
  return new Map(paths.map((path) => [realNames[path] ?? path, readFileSync(join(root, path), 'utf8')]));
}

function manifestFor(folder: string, text: string): string {
  const content = JSON.parse(text) as Manifest & { name: string };
  const own = JSON.parse(readFileSync(packageFile(manifest), 'utf8')) as Manifest;
  // What npm allows as a name.
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '');
  content.name = name === '' ? content.name : name;
  // What a new project shares with this package it gets in the versions that this package is tested with.
  content.dependencies = { runsheet: `^${packageVersion()}`, zod: own.dependencies.zod ?? '*' };
  for (const tool of Object.keys(content.devDependencies)) {
    content.devDependencies[tool] = own.devDependencies[tool] ?? '*';
  }
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

function nextSteps(directory: string, folder: string): string {
  const steps = [
    ...(directory === '.' ? [] : [`cd ${shellWord(directory)}`]),
    ...(existsSync(join(folder, 'node_modules', 'runsheet')) ? [] : ['npm install']),
    'npx runsheet validate',
    'npx runsheet test',
    `npx runsheet run weekly-report --input '{ "week": "2030-W01" }'`,
  ];
  return `Now:\n${steps.map((step) => `  ${step}\n`).join('')}`;
}
