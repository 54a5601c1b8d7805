import type { Frame } from '../frame.js';

export async function runRethrow(frame: Frame): Promise<never> {
  if (frame.caught === undefined) throw new Error('fault in the checker: rethrow outside onError');
  throw frame.caught;
}
