import type { Storage } from '../storage/index.js';

const users = new WeakMap<Storage, Set<object>>();

/** An engine uses a storage, which several may share. */
export function useStorage(storage: Storage, engine: object): void {
  const known = users.get(storage) ?? new Set();
  users.set(storage, known.add(engine));
}

/** Closes the storage, unless another engine uses it still. */
export async function leaveStorage(storage: Storage, engine: object): Promise<void> {
  const known = users.get(storage);
  known?.delete(engine);
  if (known === undefined || known.size === 0) await storage.close();
}
