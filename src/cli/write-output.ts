import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { exitCodes } from './exit-codes.js';
import { CommandFailure, systemCodeOf } from './failure.js';
import { type Io, pathOf } from './io.js';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'its path leads through a file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its file system is mounted read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'it would be larger than files may be here',
};

/**
 * Writes a file that a command was asked for.
 *
 * @param options.folders make those that are missing around it
 * @throws CommandFailure (usage) saying why it cannot be written
 */
export function writeOutput(
  file: string,
  content: string,
  io: Io,
  { folders = false }: { readonly folders?: boolean } = {},
): void {
  const path = pathOf(io, file);
  try {
    if (folders) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    const reason = reasons[code] ?? 'the system refuses it';
    throw new CommandFailure(exitCodes.usage, `${file} cannot be written: ${reason} (${code})`, { cause: error });
  }
}
