import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { NonRetryableError } from 'runsheet';

/**
 * Writes a file so that it is there whole or not at all, whenever the process dies. Doing it twice is
 * doing it once: a repeated call writes the same text under the same name.
 */
export async function writeWhole(file: string, text: string, idempotencyKey: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${shortHash(idempotencyKey)}.tmp`;
  const handle = await open(draft, 'w');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

/** Reads a text file. @throws NonRetryableError FileMissing, naming it, if it is not there. */
export async function readText(file: string, signal: AbortSignal): Promise<string> {
  try {
    return await readFile(file, { encoding: 'utf8', signal });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new NonRetryableError(`there is no file ${file}`, { name: 'FileMissing', cause: error });
    }
    throw error;
  }
}

/** A name made of a key that may hold any characters. */
export const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
