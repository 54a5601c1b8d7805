import type { Clock } from '../common/index.js';

const longMs = 3_600_000;

/**
 * Keeps the process from ending while there is nothing to do, not even a time to wait for: a worker without runs, a
 * run that waits for somebody. Node would end it in mid-sentence. Returns how to end that.
 */
export function keepAlive(clock: Clock): () => void {
  const arm = (): ReturnType<Clock['setTimer']> => clock.setTimer(longMs, () => (timer = arm()));
  let timer = arm();
  return () => timer.cancel();
}
