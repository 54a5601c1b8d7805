import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isFlowFile } from '../check/index.js';
import { Source, limits } from '../syntax/index.js';
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
    else for (const file of await filesOf(path, io, isWanted)) sources.push(await readIn(path, file, io));
  }
  return sources;
}

/** @throws CommandFailure (not found, or usage where it cannot be read) */
export async function readFlow(file: string, io: Io): Promise<Source> {
  try {
    return Source.fromBytes(file, await bytesOf(pathOf(io, file)));
  } catch (error) {
    throw unreadable(file, error);
  }
}

/**
 * A file that `filesOf(path)` found. One of a folder that cannot be read is a mistake of that file alone, which says
 * nothing of the others; a link that leads out of the project is not followed.
 *
 * @throws CommandFailure where `path` is the file itself
 */
export async function readIn(path: string, file: string, io: Io): Promise<Source> {
  if (file === path) return readFlow(file, io);
  try {
    const [target, ...roots] = await Promise.all([file, path, io.cwd].map((each) => realpath(pathOf(io, each))));
    if (!roots.some((root) => target?.startsWith(root + sep))) {
      return Source.unreadable(file, 'it is a link that leads out of the project');
    }
    return Source.fromBytes(file, await bytesOf(pathOf(io, file)));
  } catch (error) {
    const isDangling = systemCodeOf(error) === 'ENOENT';
    const reason = error instanceof Error ? error.message : String(error);
    return Source.unreadable(file, isDangling ? 'it is a link that leads nowhere' : reason);
  }
}

/** The bytes of a regular file, as many as show that it is too large. Opening a pipe does not wait for its writer. */
async function bytesOf(path: string): Promise<Uint8Array> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error('it is not a regular file');
    const buffer = Buffer.alloc(Math.min(stats.size, limits.bytes + 4));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
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
