import type { JsonValue } from '../../common/index.js';
import { evaluate, evaluateCondition, evaluateTemplate } from '../../expression/index.js';
import { callUntilDone } from '../call.js';
import { type BodyOutput, type Frame, recordedOutput } from '../frame.js';
import type { Reminder, WaitForItem } from '../plan.js';
import { pointInTime } from '../point-in-time.js';
import type { Gate } from '../port.js';
import { Failure, languageError } from '../run-error.js';
import { Scope, untilAborted } from '../scope.js';

/** Waits for a signal or its deadline; beside it, reminders go out. */
export async function runWaitFor(item: WaitForItem, frame: Frame): Promise<BodyOutput> {
  const { context, scheduler } = frame.services;
  const opened = await openGate(item, frame);
  const gate = context.signal(frame.place(item.key, 'gate'), {
    name: item.signal,
    deadline: opened.deadline,
    accept: (payload) => fits(item, frame, payload),
  });
  const { remind } = item;
  if (remind === undefined) {
    await frame.wait(gate);
  } else {
    const scope = new Scope(frame.scope);
    const reminders = scheduler.spawn(() =>
      untilAborted(sendReminders(remind, opened, frame.with({ scope, keyPrefix: context.meta.id }))),
    );
    await frame.waitThrough(gate);
    // The verdict stands; a reminder under way is told to end, and awaited for the grace period.
    if (!reminders.ended) scope.abort(context, frame.place(item.key, 'reminders'), 'the gate is decided');
    await frame.waitThrough(reminders);
    scope.end();
    reminders.result();
    frame.scope.throwIfAborted();
  }
  const { outcome } = gate;
  if (outcome.kind === 'received') return recordedOutput(item, frame, outcome.payload);
  return withoutAnswer(item, frame);
}

interface Opened {
  readonly at: number;
  readonly deadline: number | undefined;
}

async function openGate(item: WaitForItem, frame: Frame): Promise<Opened> {
  const { timeout } = item;
  const opened = await frame.decide(item.key, 'gate', async () => {
    const at = frame.services.clock.now();
    if (timeout === 'never') return { at };
    if (timeout.kind === 'for') return { at, deadline: at + timeout.ms };
    return { at, deadline: pointInTime(await frame.evaluate(timeout, item.key, 'until', evaluate), item.key) };
  });
  const { at, deadline } = opened?.value as { at: number; deadline?: number };
  return { at, deadline };
}

async function fits({ filter, key }: WaitForItem, frame: Frame, payload: JsonValue): ReturnType<Gate['accept']> {
  if (filter === undefined) return { fits: true };
  try {
    return { fits: await frame.evaluate(filter, key, 'filter', evaluateCondition, { signal: () => payload }) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { fits: false, error: error.error };
  }
}

async function withoutAnswer(item: WaitForItem, frame: Frame): Promise<BodyOutput> {
  const { onTimeout } = item;
  if (onTimeout === undefined) {
    throw new Failure(
      languageError('WaitTimeout', `nobody sent ${item.signal} to ${item.key} in time`, { step: item.key }),
      [frame.place(item.key, 'gate')],
    );
  }
  const value = await frame.decide(item.key, 'onTimeout', () =>
    frame.evaluate(onTimeout, item.key, 'onTimeout', evaluateTemplate),
  );
  return recordedOutput(item, frame, value);
}

/**
 * The k-th is due at opening + (k + 1) · every, none at or after the deadline. After a standstill of the
 * engine only the newest of those that were missed goes out. One that fails ends only itself.
 */
async function sendReminders(remind: Reminder, { at, deadline }: Opened, frame: Frame): Promise<void> {
  const { context, clock } = frame.services;
  const dueAt = (index: number): number => at + (index + 1) * remind.everyMs;
  for (let next = 0; deadline === undefined || dueAt(next) < deadline; next += 1) {
    const turn = frame.with({ turn: next });
    await frame.wait(context.sleep(turn.place(remind.key, 'reminder'), dueAt(next), 'reminder'));
    const newest = await turn.decide(remind.key, 'reminder', () => {
      const missed = Math.floor((clock.now() - at) / remind.everyMs) - 1;
      const last = deadline === undefined ? missed : Math.ceil((deadline - at) / remind.everyMs) - 2;
      return Math.max(next, Math.min(missed, last));
    });
    next = Number(newest?.value);
    const index = next;
    await sendReminder(remind, frame.with({ turn: index, variables: { iteration: () => index } }));
  }
}

async function sendReminder(remind: Reminder, frame: Frame): Promise<void> {
  try {
    await callUntilDone({ key: remind.key, call: remind, frame, direction: 'forward' });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}
