import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { Storage } from '../../src/storage/index.js';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Runs after the test, in reverse order. */
export function afterwards(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-'));
  afterwards(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function temporaryFile(): string {
  return join(temporaryFolder(), 'runs.db');
}

/** Opens it now and closes it after the test. */
export async function opened<S extends Storage>(storage: S): Promise<S> {
  afterwards(() => storage.close());
  await storage.open();
  return storage;
}
