import type { BodyOutput, Frame } from './frame.js';
import type { Body } from './plan.js';
import { Failure } from './run-error.js';
import { TaskGroup } from './scheduler.js';
import { Scope, ScopeAborted } from './scope.js';
import { runBody } from './walk.js';

/** How one of several bodies ended; undefined if it was ended from outside, or never began. */
export type Ending = { readonly output: BodyOutput } | Failure | undefined;

export interface Concurrency {
  /** Key of the item they belong to. */
  readonly key: string;
  readonly count: number;
  /** At most so many at once. */
  readonly limit: number;
  /** So many must complete: then, or when it can no longer be, the others are ended. Default: all. */
  readonly needed?: number;
  /** End the others at the first failure, and begin no more. */
  readonly stopOnFailure: boolean;
  /** The body of one and where it stands. `aspect` is its name in the journal. */
  begin(index: number, scope: Scope): { readonly body: Body; readonly frame: Frame; readonly aspect: string };
}

/**
 * Runs several bodies side by side, and sees each to its end, also where one failed: nothing is left
 * behind that could still write.
 *
 * @returns the endings by index, and the failures in the order in which they happened.
 */
export async function runConcurrently(
  frame: Frame,
  { key, count, limit, needed = count, stopOnFailure, begin }: Concurrency,
): Promise<{ endings: readonly Ending[]; failures: readonly Failure[] }> {
  const { context, scheduler } = frame.services;
  const scope = new Scope(frame.scope);
  const group = new TaskGroup<{ index: number; ending: Ending }>();
  const endings: Ending[] = Array.from({ length: count });
  const failures: Failure[] = [];
  let begun = 0;
  let running = 0;
  let completed = 0;
  for (;;) {
    while (begun < count && running < limit && !scope.aborted) {
      const index = begun;
      scheduler.spawn(async () => ({ index, ending: await runToEnd(key, begin(index, scope)) }), group);
      begun += 1;
      running += 1;
    }
    if (running === 0) break;
    await frame.waitThrough(group);
    const { index, ending } = group.take().result();
    running -= 1;
    endings[index] = ending;
    if (ending instanceof Failure) {
      failures.push(ending);
      const hopeless = needed < count && count - failures.length < needed;
      if (stopOnFailure || hopeless) scope.abort(context, frame.place(key, 'body'), ending.error.name);
    } else if (ending !== undefined) {
      completed += 1;
      if (completed === needed && running > 0) scope.abort(context, frame.place(key, 'body'), 'enough have completed');
    }
  }
  scope.end();
  frame.scope.throwIfAborted();
  return { endings, failures };
}

/** Keeps the end in the journal, with the place of the entry that holds its output. */
async function runToEnd(key: string, { body, frame, aspect }: ReturnType<Concurrency['begin']>): Promise<Ending> {
  const note = (payload: { output: string | null } | { error: string }): void =>
    frame.services.context.note({ kind: 'scope-ended', place: frame.place(key, aspect), payload });
  try {
    const output = await runBody(body, frame);
    note({ output: output?.from ?? null });
    return { output };
  } catch (error) {
    if (error instanceof ScopeAborted) return undefined;
    if (!(error instanceof Failure)) throw error;
    note({ error: error.error.name });
    return error;
  }
}
