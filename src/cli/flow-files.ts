import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isFlowFile } from '../check/index.js';
import { Source } from '../syntax/index.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure, systemCodeOf } from './failure.js';
import { type Io, pathOf } from './io.js';

/**
 * The flow files that paths name: files as they are, folders by what is directly in them, `-` for stdin.
 *
 * @throws CommandFailure (not found) for a path that does not exist, or a folder without any flow
 */
export function readFlows(paths: readonly string[], io: Io): Promise<Source[]> {
  return readSources(paths, isFlowFile, '<stdin>', io);
}

/**
 * The same with the files of a folder that are wanted.
 *
 * @param stdinName what messages call the text on stdin
 */
export async function readSources(
  paths: readonly string[],
  isWanted: (name: string) => boolean,
  stdinName: string,
  io: Io,
): Promise<Source[]> {
  const sources: Source[] = [];
  for (const path of paths) {
    if (path === '-') sources.push(new Source(stdinName, await io.readStdin()));
    else for (const file of await filesOf(path, io, isWanted)) sources.push(await readFlow(file, io));
  }
  return sources;
}

/** @throws CommandFailure (not found, or usage where it cannot be read) */
export async function readFlow(file: string, io: Io): Promise<Source> {
  try {
    return Source.fromBytes(file, await readFile(pathOf(io, file)));
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** The paths of the flows in a folder, in order of their names; the path itself if it is a file. */
export async function filesOf(path: string, io: Io, isWanted = isFlowFile): Promise<string[]> {
  try {
    if (!(await stat(pathOf(io, path))).isDirectory()) return [path];
    const entries = await readdir(pathOf(io, path), { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isDirectory() && isWanted(entry.name)).map((entry) => entry.name);
    if (names.length > 0) return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw unreadable(path, error);
  }
  throw new CommandFailure(exitCodes.notFound, `there is no flow (*.yaml, *.yml, *.json) in the folder ${path}`);
}

function unreadable(path: string, error: unknown): CommandFailure {
  const code = systemCodeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new CommandFailure(
      exitCodes.notFound,
      `there is no ${path}; give the path of a flow or of a folder of flows`,
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new CommandFailure(exitCodes.usage, `${path} cannot be read: ${reason}`, { cause: error });
}
