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
  /** The files are lost: nothing is acknowledged any more. */
  fail(error: Error): void;
  close(): void;
}

/** Why nothing that was written can be acknowledged; undefined while the files are in place. */
export type Verify = () => Error | undefined;

/** For `process`, for memory, and where SQLite syncs by itself in each COMMIT: committed is durable, if the files are in place. */
export class DurableOnCommit implements Durability {
  readonly waiting = { count: 0, bytes: 0 };
  readonly #verify: Verify;
  #isVerified = true;
  #failure: Error | undefined;

  constructor(verify: Verify) {
    this.#verify = verify;
  }

  wrote(): void {
    this.#isVerified = false;
  }

  whenDurable(waiter: Waiter): void {
    this.syncNow();
    if (this.#failure === undefined) waiter.durable();
    else waiter.failed(this.#failure);
  }

  syncNow(): void {
    if (this.#isVerified) return;
    this.#isVerified = true;
    this.#failure ??= this.#verify();
  }

  fail(error: Error): void {
    this.#failure ??= error;
  }

  close(): void {}
}
