/** Somebody who may be told of a commit only once it would survive whatever the durability promises. */
export interface Waiter {
  /** How much is held back by waiting: a unit, and its size in bytes. */
  readonly bytes: number;
  durable(): void;
  failed(error: Error): void;
}

/** When what is committed may be acknowledged. */
export interface Durability {
  /** A COMMIT that wrote something has returned. */
  wrote(): void;
  /** Tells `waiter` as soon as all that has been written so far is durable; in the order of the calls. */
  whenDurable(waiter: Waiter): void;
  /** Makes all that has been written so far durable before it returns, and tells those who wait. */
  syncNow(): void;
  /** Who waits now. */
  readonly waiting: { readonly count: number; readonly bytes: number };
  close(): void;
}

/** For `process`, for memory, and where SQLite syncs by itself in each COMMIT: committed is durable. */
export const durableOnCommit: Durability = {
  wrote: () => undefined,
  whenDurable: (waiter) => waiter.durable(),
  syncNow: () => undefined,
  waiting: { count: 0, bytes: 0 },
  close: () => undefined,
};
