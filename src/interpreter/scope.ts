import type { DurableContext, Handle, Place } from './port.js';

/**
 * The extent of a body: the run, a branch, a turn, a block with a deadline. What is open in it can be
 * ended as a whole, and nothing begins in it afterwards.
 */
export class Scope {
  readonly #parent: Scope | undefined;
  readonly #children = new Set<Scope>();
  readonly #open = new Set<Handle<unknown>>();
  #aborted: ScopeAborted | undefined;

  constructor(parent?: Scope) {
    this.#parent = parent;
    if (parent === undefined) return;
    this.#aborted = parent.#aborted;
    parent.#children.add(this);
  }

  /** Waited-for handles are open: an abort ends them. */
  open(handles: readonly Handle<unknown>[]): void {
    for (const handle of handles) this.#open.add(handle);
  }

  closed(handles: readonly Handle<unknown>[]): void {
    for (const handle of handles) this.#open.delete(handle);
  }

  /** The body is over; its scope no longer counts. */
  end(): void {
    if (this.#parent !== undefined) this.#parent.#children.delete(this);
  }

  get aborted(): boolean {
    return this.#aborted !== undefined;
  }

  /** @throws ScopeAborted if this scope, or one around it, was aborted. */
  throwIfAborted(): void {
    if (this.#aborted !== undefined) throw this.#aborted;
  }

  /**
   * Ends all that is open in this scope and those inside it. The walk goes on until each has
   * come to its end; the place says where the extent stands, for the journal.
   */
  abort(context: DurableContext, place: Place, cause: string): void {
    if (this.#aborted !== undefined) return;
    context.note({ kind: 'scope-aborted', place, payload: { cause } });
    const handles: Handle<unknown>[] = [];
    this.#mark(new ScopeAborted(cause), handles);
    if (handles.length > 0) context.cancel(handles, cause);
  }

  #mark(aborted: ScopeAborted, handles: Handle<unknown>[]): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = aborted;
    handles.push(...this.#open);
    for (const child of this.#children) child.#mark(aborted, handles);
  }
}

/** Unwinds the coroutines of an aborted scope; no `onError` sees it. */
export class ScopeAborted extends Error {
  constructor(readonly reason: string) {
    super(`ended: ${reason}`);
    this.name = 'ScopeAborted';
  }
}

/** Ends quietly where the body ends because its scope was aborted. */
export async function untilAborted(body: Promise<void>): Promise<void> {
  try {
    await body;
  } catch (error) {
    if (!(error instanceof ScopeAborted)) throw error;
  }
}
