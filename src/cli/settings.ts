import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { ProjectConfig } from './config.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import type { Io } from './io.js';
import { assertTrusted } from './trust.js';

const names = ['ts', 'js', 'mjs', 'yaml', 'yml', 'json'].map((extension) => `runsheet.config.${extension}`);

/**
 * The config that `--config` or `$RUNSHEET_CONFIG` names, else the file `runsheet.config.*` in the working directory
 * or the nearest folder above it that is still inside the project; undefined where there is none. One that is code is
 * not executed in an untrusted project: only its folder counts.
 *
 * @throws CommandFailure (not found; usage, for what is wrong in it, two files of one folder, or code that is named
 *   and may not be executed)
 */
export async function findConfig(flag: string | undefined, io: Io): Promise<ProjectConfig | undefined> {
  const named = flag ?? nonEmpty(io.env.RUNSHEET_CONFIG);
  const file = named === undefined ? nearestConfig(io) : resolve(io.cwd, named);
  if (file === undefined) return undefined;
  if (!existsSync(file))
    throw new CommandFailure(
      exitCodes.notFound,
      `there is no config file ${named}; leave it out to take runsheet.config.* of the project`,
    );
  const name = named ?? seenFrom(file, io);
  if (io.untrusted !== undefined && isCode(file)) {
    if (named !== undefined) assertTrusted(io, `the config ${name} is code`);
    return { name, folder: dirname(file), config: {}, isSkipped: true };
  }
  const { readConfig } = await import('./read-config.js');
  return { name, folder: dirname(file), config: await readConfig(file, name) };
}

/** What is loaded as a module; anything else is only read. */
export function isCode(file: string): boolean {
  return !/\.(ya?ml|json)$/.test(file);
}

/** What the uppermost folder of a project has. */
const projectMarks = ['package.json', '.git'];

/**
 * The folders in which the config may stand: from the working directory up to the one with a package.json or a
 * repository. What is above that is somebody else's, and a config may be code. Outside of projects nothing says where
 * one ends, so that only the working directory itself counts.
 */
function projectFolders(io: Io): string[] {
  const folders: string[] = [];
  for (let folder = resolve(io.cwd); ; folder = dirname(folder)) {
    folders.push(folder);
    if (projectMarks.some((mark) => existsSync(join(folder, mark)))) return folders;
    if (folder === dirname(folder)) return folders.slice(0, 1);
  }
}

function nearestConfig(io: Io): string | undefined {
  for (const folder of projectFolders(io)) {
    const [file, another] = names.map((name) => join(folder, name)).filter((each) => existsSync(each));
    if (another !== undefined) {
      const both = [file, another].map((each) => each && seenFrom(each, io)).join(' and ');
      throw new CommandFailure(exitCodes.usage, `${both} are both the config of the project; keep one`);
    }
    if (file !== undefined) return file;
  }
  return undefined;
}

/** A path, and who says so. */
export interface PathSetting {
  readonly path: string;
  /** `--db`, `RUNSHEET_DB` or the key `db` in the config; undefined: nobody, it is the default. */
  readonly givenBy: string | undefined;
}

/** What messages say after a path that is not as it should be: who named it, so that it can be mended there. */
export function namedBy({ givenBy }: PathSetting): string {
  return givenBy === undefined ? '' : `, which ${givenBy} names`;
}

/** Where the runs are kept: a path, or a URL as it was given. */
export function databaseSetting(flag: string | undefined, io: Io): PathSetting {
  return pathSetting(flag, 'RUNSHEET_DB', 'db', '.runsheet/runs.db', io);
}

export function handlersSetting(flag: string | undefined, io: Io): PathSetting {
  return pathSetting(flag, 'RUNSHEET_HANDLERS', 'handlers', 'handlers', io);
}

export function definitionsSetting(flag: string | undefined, io: Io): PathSetting {
  return pathSetting(flag, 'RUNSHEET_DEFINITIONS', 'definitions', 'definitions', io);
}

/** How many runs a worker drives at once. @throws CommandFailure (usage) for an environment that is no number */
export function concurrencySetting(flag: number | undefined, io: Io): number {
  const variable = nonEmpty(io.env.RUNSHEET_CONCURRENCY);
  if (flag === undefined && variable !== undefined && !/^[1-9]\d{0,5}$/.test(variable)) {
    throw new CommandFailure(exitCodes.usage, `RUNSHEET_CONCURRENCY must be a whole number from 1 on, not ${variable}`);
  }
  return flag ?? (variable === undefined ? undefined : Number(variable)) ?? io.project?.config.concurrency ?? 5;
}

/** The option, then the environment, then the config, then the default. */
function pathSetting(
  flag: string | undefined,
  variable: string,
  key: 'db' | 'handlers' | 'definitions',
  fallback: string,
  io: Io,
): PathSetting {
  if (flag !== undefined) return { path: flag, givenBy: `--${key}` };
  const outside = nonEmpty(io.env[variable]);
  if (outside !== undefined) return { path: outside, givenBy: variable };
  const configured = io.project?.config[key];
  if (configured === undefined) return { path: inProject(fallback, io), givenBy: undefined };
  return { path: inProject(configured, io), givenBy: `\`${key}\` in ${io.project?.name}` };
}

/** A path of the project, seen from the working directory. */
function inProject(path: string, io: Io): string {
  const isPlace = path === ':memory:' || /^\w+:\/\//.test(path) || isAbsolute(path);
  return io.project === undefined || isPlace ? path : seenFrom(join(io.project.folder, path), io);
}

function seenFrom(path: string, io: Io): string {
  return relative(io.cwd, path) || '.';
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
