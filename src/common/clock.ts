/** A timer that can be called off. */
export interface Timer {
  cancel(): void;
}

/**
 * The only source of time in Runsheet. It is injected everywhere, so that tests can wait two weeks
 * in a millisecond (`VirtualClock` in `runsheet/testing`).
 */
export interface Clock {
  /** Wall-clock time in epoch milliseconds. */
  now(): number;
  /** A monotonic reading in milliseconds; only differences mean anything. */
  monotonic(): number;
  /**
   * Calls `callback` once, `delayMs` from now (any length, at once if ≤ 0).
   * `keepAlive: false` lets the process exit while the timer is pending; default true.
   */
  setTimer(delayMs: number, callback: () => void, options?: { keepAlive?: boolean }): Timer;
  /**
   * Calls `callback` once, when `now()` has come to `at`: also where the wall clock was set, or the machine was suspended,
   * neither of which a timer need notice. Default: a timer for what is left until then.
   */
  setAlarm?(at: number, callback: () => void): Timer;
}

/** An alarm of a clock, also of one that knows timers alone. */
export function setAlarm(clock: Clock, at: number, callback: () => void): Timer {
  return clock.setAlarm?.(at, callback) ?? clock.setTimer(at - clock.now(), callback);
}

/** Timers count monotonic time, so that the wall clock is looked at this often. */
const lookEveryMs = 5000;

/** `setTimeout` fires at once beyond 2^31 − 1 ms (24.8 days), so longer timers run in pieces. */
const longestPieceMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, callback, { keepAlive = true } = {}) {
    if (delayMs > longestPieceMs) return longTimer(delayMs, callback, keepAlive);
    const timeout = setTimeout(callback, Math.max(0, delayMs));
    if (!keepAlive) timeout.unref();
    return { cancel: () => clearTimeout(timeout) };
  },
  setAlarm(at, callback) {
    let timeout: NodeJS.Timeout;
    const look = (): void => {
      const leftMs = at - Date.now();
      if (leftMs <= 0) callback();
      else timeout = setTimeout(look, Math.min(leftMs, lookEveryMs));
    };
    // Never at once: whoever sets it could not cancel it yet.
    timeout = setTimeout(look, Math.max(0, Math.min(at - Date.now(), lookEveryMs)));
    return { cancel: () => clearTimeout(timeout) };
  },
};

function longTimer(delayMs: number, callback: () => void, keepAlive: boolean): Timer {
  const endsAt = performance.now() + delayMs;
  let timeout: NodeJS.Timeout;
  const arm = (): void => {
    const leftMs = endsAt - performance.now();
    timeout = setTimeout(leftMs > longestPieceMs ? arm : callback, Math.max(0, Math.min(leftMs, longestPieceMs)));
    if (!keepAlive) timeout.unref();
  };
  arm();
  return { cancel: () => clearTimeout(timeout) };
}
