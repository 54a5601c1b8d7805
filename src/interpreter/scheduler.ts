import type { DurableContext, Handle } from './port.js';

/** What a coroutine can wait for: an operation's handle, another coroutine, or the next of several. */
export type Source = Handle<unknown> | Joinable;

/**
 * A cooperative scheduler: the branches of a run are coroutines of which at most one has the turn.
 * It gives the turn up only in `wait` or at its end, not while it awaits anything else (an
 * evaluation, say), and when none can run, one `select` over all that is waited for decides who is
 * next. The order of operations is thus the same on every replay, which is what homes that replay
 * by position need, and what makes all homes agree.
 */
export class Scheduler {
  readonly #context: DurableContext;
  readonly #ready = new Queue<Coroutine>();
  readonly #waiters = new Map<Handle<unknown>, Coroutine>();
  /** The keys of `#waiters`, as `select` takes them. */
  readonly #handles = new Set<Handle<unknown>>();
  #added: Handle<unknown>[] = [];
  #running: Coroutine | undefined;
  #endTurn: () => void = () => {};

  constructor(context: DurableContext) {
    this.#context = context;
  }

  /** Runs `body`, and all that it spawns, until `body` ends. */
  async run<T>(body: () => Promise<T>): Promise<T> {
    const root = this.spawn(body);
    for (;;) {
      const next = this.#ready.take();
      if (next !== undefined) {
        await this.#giveTurn(next);
        const relief = this.#context.relieve?.();
        if (relief !== undefined) await relief;
      } else if (root.ended) {
        return root.result();
      } else {
        if (this.#handles.size === 0) throw new Error('fault in the interpreter: a run that waits for nothing');
        const added = this.#added;
        this.#added = [];
        const handle = await this.#context.select(this.#handles, added);
        const waiter = this.#waiters.get(handle);
        if (waiter === undefined) throw new Error('fault in the home: select answered what nobody waits for');
        this.#wake(waiter, handle);
      }
    }
  }

  /** Starts a coroutine; it gets its first turn after those that are ready now. */
  spawn<T>(body: () => Promise<T>, group?: TaskGroup<T>): Task<T> {
    const task = new Task<T>();
    const end = (): void => {
      group?.add(task);
      for (const joinable of [task, group]) {
        if (joinable?.waiter !== undefined) this.#wake(joinable.waiter, joinable);
      }
      this.#endTurn();
    };
    this.#ready.add({
      sources: [],
      woken: undefined,
      resume: () => {
        body().then(
          (value) => {
            task.end({ ok: true, value });
            end();
          },
          (error: unknown) => {
            task.end({ ok: false, error });
            end();
          },
        );
      },
    });
    return task;
  }

  /** Gives up the turn until one of the sources is ready (a handle) or has ended (a task); answers which. */
  wait<S extends readonly Source[]>(sources: S): Promise<S[number]> {
    const settled = sources.find((source) => (source instanceof Joinable ? source.ended : source.immediate));
    if (settled !== undefined) return Promise.resolve(settled);
    const coroutine = this.#running;
    if (coroutine === undefined) throw new Error('fault in the interpreter: only who has the turn can wait');
    coroutine.sources = sources;
    for (const source of sources) {
      if (source instanceof Joinable) source.waiter = coroutine;
      else {
        this.#waiters.set(source, coroutine);
        this.#handles.add(source);
        this.#added.push(source);
      }
    }
    return new Promise<S[number]>((resolve) => {
      coroutine.resume = (woken) => resolve(woken as S[number]);
      this.#endTurn();
    });
  }

  #giveTurn(coroutine: Coroutine): Promise<void> {
    this.#running = coroutine;
    return new Promise((resolve) => {
      this.#endTurn = () => {
        this.#running = undefined;
        resolve();
      };
      coroutine.resume(coroutine.woken);
    });
  }

  #wake(coroutine: Coroutine, by: Source): void {
    for (const source of coroutine.sources) {
      if (source instanceof Joinable) source.waiter = undefined;
      else {
        this.#waiters.delete(source);
        this.#handles.delete(source);
      }
    }
    coroutine.sources = [];
    coroutine.woken = by;
    this.#ready.add(coroutine);
  }
}

interface Coroutine {
  sources: readonly Source[];
  /** The source it was woken by. */
  woken: Source | undefined;
  resume: (woken: Source | undefined) => void;
}

/** What can be waited for beside handles. */
export abstract class Joinable {
  /** The coroutine that waits for it, if any; the scheduler's business. */
  waiter: Coroutine | undefined;
  abstract get ended(): boolean;
}

/** A coroutine seen from outside: whether it has ended, and with what. */
export class Task<T> extends Joinable {
  #ending: { ok: true; value: T } | { ok: false; error: unknown } | undefined;

  get ended(): boolean {
    return this.#ending !== undefined;
  }

  end(ending: { ok: true; value: T } | { ok: false; error: unknown }): void {
    this.#ending = ending;
  }

  /** What the body returned; throws what it threw. */
  result(): T {
    if (this.#ending === undefined) throw new Error('fault in the interpreter: result of a task that runs');
    if (!this.#ending.ok) throw this.#ending.error;
    return this.#ending.value;
  }
}

/** Tasks of which whoever waits for the group gets the next one that ends, in the order of their ends. */
export class TaskGroup<T> extends Joinable {
  readonly #ended = new Queue<Task<T>>();

  get ended(): boolean {
    return this.#ended.size > 0;
  }

  /** A task has ended; the scheduler's business. */
  add(task: Task<T>): void {
    this.#ended.add(task);
  }

  take(): Task<T> {
    const task = this.#ended.take();
    if (task === undefined) throw new Error('fault in the interpreter: no task of the group has ended');
    return task;
  }
}

/** First in, first out, without moving the rest at each take. */
class Queue<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  add(item: T): void {
    this.#items.push(item);
  }

  take(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    }
    return item;
  }
}
