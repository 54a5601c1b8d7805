import type { RetryPolicy } from './plan.js';
import { type RunError, neverRetried, uncatchable } from './run-error.js';

/** Applies where a flow says nothing: 3 attempts, 1 s, doubling, at most 30 s, with jitter. */
export const defaultRetry: RetryPolicy = {
  attempts: 3,
  delayMs: 1000,
  backoff: 'exponential',
  maxDelayMs: 30_000,
  jitter: true,
  maxDurationMs: undefined,
  errors: undefined,
  exceptErrors: undefined,
  when: undefined,
};

/** Limit of one attempt where a flow says nothing. */
export const defaultTimeoutMs = 5 * 60_000;

/** Whether the policy's counts and names allow another attempt; its `when` and `maxDuration` come on top. */
export function allowsRetry(policy: RetryPolicy, error: RunError, failedAttempts: number): boolean {
  if (failedAttempts >= policy.attempts) return false;
  if (neverRetried.has(error.name) && !uncatchable.has(error.name)) return false;
  if (policy.errors !== undefined && !names(policy.errors, error.name)) return false;
  return policy.exceptErrors === undefined || !names(policy.exceptErrors, error.name);
}

export function names(list: readonly string[], name: string): boolean {
  return list.includes('*') || list.includes(name);
}

/**
 * How long to wait after the n-th failed attempt (from 1). Jitter spreads it evenly over the upper
 * half, and the cap comes last, so that nothing exceeds it (as "equal jitter" in Marc Brooker,
 * "Exponential Backoff and Jitter", AWS Architecture Blog, 2015).
 *
 * @param random uniform in [0, 1)
 */
export function retryDelayMs(policy: RetryPolicy, failedAttempts: number, random: () => number): number {
  const grown = policy.delayMs * growth(policy.backoff, failedAttempts);
  const capped = Math.min(grown, policy.maxDelayMs);
  return Math.round(policy.jitter ? capped / 2 + (capped / 2) * random() : capped);
}

function growth(backoff: RetryPolicy['backoff'], failedAttempts: number): number {
  switch (backoff) {
    case 'constant':
      return 1;
    case 'linear':
      return failedAttempts;
    case 'exponential':
      return 2 ** (failedAttempts - 1);
  }
}
