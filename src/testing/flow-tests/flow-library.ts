import { readFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type CheckedSource, checkSource, flowNameOf, isFlowFile } from '../../check/index.js';
import { Source } from '../../syntax/index.js';

/** A flow that was read from a file. */
export interface LibraryFlow extends CheckedSource {
  readonly path: string;
  /** What stands under `workflow`; absent where the file has mistakes before it gets so far. */
  readonly name?: string;
}

/** Reads and checks flows, each once: many files of tests share the same flows. */
export class FlowLibrary {
  readonly #files = new Map<string, Promise<LibraryFlow | undefined>>();
  readonly #folders = new Map<string, Promise<LibraryFlow[]>>();

  /** Undefined if there is no such file. */
  file(path: string): Promise<LibraryFlow | undefined> {
    const full = resolve(path);
    const known = this.#files.get(full) ?? readFlow(path);
    this.#files.set(full, known);
    return known;
  }

  /** The flows directly in a folder, in order of their file names; none if there is no such folder. */
  folder(path: string): Promise<LibraryFlow[]> {
    const full = resolve(path);
    const known = this.#folders.get(full) ?? this.#read(path);
    this.#folders.set(full, known);
    return known;
  }

  async #read(path: string): Promise<LibraryFlow[]> {
    const entries = await unlessMissing(readdir(path, { withFileTypes: true }));
    const names = (entries ?? []).filter((entry) => !entry.isDirectory() && isFlowFile(entry.name));
    const flows = await Promise.all(
      names
        .map(({ name }) => name)
        .sort()
        .map((name) => this.file(join(path, name))),
    );
    return flows.filter((flow) => flow !== undefined);
  }
}

async function readFlow(path: string): Promise<LibraryFlow | undefined> {
  const bytes = await unlessMissing(readFile(path));
  if (bytes === undefined) return undefined;
  const source = Source.fromBytes(path, bytes);
  const checked = checkSource(source);
  const name = checked.definition?.name ?? flowNameOf(source);
  return { ...checked, path, ...(name !== undefined && { name }) };
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined;
    throw error;
  }
}
