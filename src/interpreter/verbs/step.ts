import { type JsonText, toJsonText } from '../../common/index.js';
import { evaluateCondition, evaluateTemplate } from '../../expression/index.js';
import type { Handler } from '../../handlers/index.js';
import { callHandler, parseStepInput } from '../attempt.js';
import { type BodyOutput, type Frame, recordedOutput } from '../frame.js';
import type { StepItem } from '../plan.js';
import { Failure, type RunError } from '../run-error.js';
import { allowsRetry, retryDelayMs } from '../retry.js';

/** Calls a handler until it succeeds or its policy gives up; between attempts the run may sleep for days. */
export async function runStep(item: StepItem, frame: Frame): Promise<BodyOutput> {
  const { services } = frame;
  const handler = services.handlers.get(item.handler);
  const firstStart = await readFirstStart(item, frame);
  const input = await resolveInput(item, handler, frame);
  const { occurrence } = frame;
  const idempotencyKey = `${services.context.meta.id}:${item.key}#${occurrence}:forward`;
  for (let number = 1; ; number += 1) {
    const handle = services.context.run(
      frame.place(item.key, String(number)),
      { number, input, idempotencyKey, owed: false },
      (abort) =>
        callHandler(
          services,
          { handler, step: item.key, occurrence, attempt: number, input, idempotencyKey, timeoutMs: item.timeoutMs },
          abort,
        ),
    );
    await frame.wait(handle);
    const { outcome } = handle;
    if (outcome.ok) return recordedOutput(item, frame, outcome.value);
    if (outcome.final === true || !(await wantsRetry(item, outcome.error, number, firstStart, frame))) {
      throw new Failure(outcome.error);
    }
    await backOff(item, number, frame);
  }
}

/**
 * The step's `with`, evaluated and accepted by the handler's schema before anything is called; later attempts use
 * what was journaled, whatever a formula would give by then.
 */
function resolveInput(item: StepItem, handler: Handler, frame: Frame): Promise<JsonText | undefined> {
  const { services } = frame;
  return frame.record('step-input', frame.place(item.key, 'input'), async () => {
    const value = item.input && (await frame.evaluate(item.input, item.key, 'input', evaluateTemplate));
    const text = value === undefined ? undefined : toJsonText(value, services.maxPayloadBytes);
    parseStepInput(services, handler, item.key, text);
    return text;
  });
}

/** From when `maxDuration` counts; journaled only where a policy has one. */
async function readFirstStart(item: StepItem, frame: Frame): Promise<number> {
  if (item.retry.maxDurationMs === undefined) return 0;
  const start = await frame.decide(item.key, 'first-start', () => frame.services.clock.now());
  return Number(start?.value);
}

async function wantsRetry(
  { key, retry }: StepItem,
  error: RunError,
  failedAttempts: number,
  firstStart: number,
  frame: Frame,
): Promise<boolean> {
  if (!allowsRetry(retry, error, failedAttempts)) return false;
  const { when, maxDurationMs } = retry;
  if (when === undefined && maxDurationMs === undefined) return true;
  const aspect = `retry.${failedAttempts}`;
  // Time and formulas may answer otherwise on a replay, so that this answer is journaled.
  const wanted = await frame.decide(key, aspect, async () => {
    if (maxDurationMs !== undefined && frame.services.clock.now() - firstStart >= maxDurationMs) return false;
    return when === undefined || frame.evaluate(when, key, aspect, evaluateCondition, { error: () => error });
  });
  return wanted?.value === true;
}

/** Waits for the next attempt's time, which is computed once, jitter included. */
async function backOff({ key, retry }: StepItem, failedAttempts: number, frame: Frame): Promise<void> {
  const place = frame.place(key, String(failedAttempts));
  const due = await frame.record('step-retrying', place, () => {
    const { random } = frame.surroundings(key, `back-off.${failedAttempts}`);
    return toJsonText(frame.services.clock.now() + retryDelayMs(retry, failedAttempts, random));
  });
  await frame.wait(frame.services.context.sleep(place, Number(due?.value), 'back-off'));
}
