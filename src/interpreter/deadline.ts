import type { Frame } from './frame.js';
import type { Place, SleepReason } from './port.js';
import { Failure, type RunError } from './run-error.js';
import { Scope } from './scope.js';

export interface Deadline {
  readonly place: Place;
  /** Epoch milliseconds. */
  readonly until: number;
  readonly why: SleepReason;
  /** What the body fails with when the deadline comes first. */
  readonly error: RunError;
}

/**
 * Runs a body beside its deadline. When that comes first, what is open in the body is ended and seen
 * to its end; whatever it still comes to, it was too late.
 *
 * @throws Failure with the deadline's error, or whatever the body throws.
 */
export async function withDeadline<T>(
  frame: Frame,
  { place, until, why, error }: Deadline,
  body: (inner: Frame) => Promise<T>,
): Promise<T> {
  const { context, scheduler } = frame.services;
  const scope = new Scope(frame.scope);
  const task = scheduler.spawn(() => body(frame.with({ scope })));
  const timer = context.sleep(place, until, why);
  const first = await frame.waitThrough(task, timer);
  if (first === timer) {
    scope.abort(context, place, error.name);
    await frame.waitThrough(task);
  } else {
    context.cancel([timer], 'the body has ended');
  }
  scope.end();
  frame.scope.throwIfAborted();
  if (first === timer) throw new Failure(error, [place]);
  return task.result();
}
