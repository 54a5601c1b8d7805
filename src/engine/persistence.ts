import { type Clock, type ErrorCode, RunsheetError } from '../common/index.js';

/** Another program holds the lock, the disk is full, or it fails. */
const passing: ReadonlySet<ErrorCode> = new Set(['RS_STORAGE_BUSY', 'RS_STORAGE_FULL', 'RS_STORAGE_FAILED']);

const firstPauseMs = 50;
const longestPauseMs = 1000;

export interface Persistence {
  readonly clock: Clock;
  /** On the monotonic clock: nothing is begun after that. */
  readonly until: () => number;
  /** Told of the first failure. */
  readonly onTrouble: (error: unknown) => void;
}

/** Tries again, with pauses that double, what a storage may be able to do later. @throws as `attempt` did last */
export async function persist<T>(attempt: () => Promise<T>, { clock, until, onTrouble }: Persistence): Promise<T> {
  let told = false;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    try {
      return await attempt();
    } catch (error) {
      const mayPass = error instanceof RunsheetError && passing.has(error.code);
      if (!mayPass || clock.monotonic() + pauseMs >= until()) throw error;
      if (!told) onTrouble(error);
      told = true;
      await new Promise<void>((resolve) => void clock.setTimer(pauseMs, resolve));
    }
  }
}
