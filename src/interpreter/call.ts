import { type JsonText, type JsonValue, toJsonText } from '../common/index.js';
import { evaluateCondition, evaluateTemplate } from '../expression/index.js';
import { type ReversalFacts, callHandler, parseStepInput } from './attempt.js';
import type { Frame } from './frame.js';
import type { Call } from './plan.js';
import type { AttemptOutcome, BegunHandle } from './port.js';
import { allowsRetry, retryDelayMs } from './retry.js';
import type { RunError } from './run-error.js';

/** A handler to be called until it succeeds or its policy gives up, forwards or backwards. */
export interface CallPlan {
  /** Key of the item. */
  readonly key: string;
  readonly call: Call;
  readonly frame: Frame;
  readonly direction: 'forward' | 'compensate';
  /** What earlier passes came to: the input stays, attempts are numbered on, and the policy counts anew. */
  readonly earlier?: EarlierPass;
  readonly reversal?: ReversalFacts;
  /** Which attempt at resolving the input this is, where earlier ones failed. Default 0. */
  readonly inputPass?: number;
  /** Told of the outcome of each attempt that has begun, before anything follows from it. */
  readonly onOutcome?: (outcome: AttemptOutcome) => void;
  /** Told of the first attempt. */
  readonly onStart?: (attempt: BegunHandle<AttemptOutcome>) => void;
}

export interface EarlierPass {
  readonly input: JsonText | undefined;
  readonly attempts: number;
}

export type CallEnd =
  | { readonly ok: true; readonly value: JsonText | undefined }
  | { readonly ok: false; readonly error: RunError; readonly pass: EarlierPass };

/**
 * The input is evaluated, and accepted by the handler's schema, before anything is called; later
 * attempts use what was journaled, whatever a formula would give by then. Between attempts the run may sleep for days.
 *
 * @throws Failure if the input cannot be had: then nothing was called
 */
export async function callUntilDone(plan: CallPlan): Promise<CallEnd> {
  const { key, call, frame, direction, earlier } = plan;
  const { services } = frame;
  const handler = services.handlers.get(call.handler);
  const firstStart = call.retry.maxDurationMs === undefined ? 0 : await readFirstStart(plan);
  const input = earlier === undefined ? await resolveInput(plan) : earlier.input;
  const { occurrence } = frame;
  const idempotencyKey = keyOf(plan);
  for (let tries = 1; ; tries += 1) {
    const number = usedUp(plan) + tries;
    const handle = services.context.run(
      frame.place(key, aspectOf(plan, number)),
      { direction, number, input, secrets: call.secrets, idempotencyKey, owed: plan.onOutcome !== undefined },
      (abort) =>
        callHandler(
          services,
          {
            handler,
            step: key,
            occurrence,
            attempt: number,
            input,
            secrets: call.secrets,
            idempotencyKey,
            timeoutMs: call.timeoutMs,
            reversal: plan.reversal,
          },
          abort,
        ),
    );
    if (tries === 1) plan.onStart?.(handle);
    await frame.waitThrough(handle);
    const { outcome } = handle;
    if (handle.begun !== undefined) plan.onOutcome?.(outcome);
    frame.scope.throwIfAborted();
    if (outcome.ok) return outcome;
    if (outcome.final === true || !(await wantsRetry(plan, outcome.error, tries, firstStart))) {
      return { ok: false, error: outcome.error, pass: { input, attempts: number } };
    }
    await backOff(plan, number, tries);
    if (await isTooLate(plan, number, firstStart)) {
      return { ok: false, error: outcome.error, pass: { input, attempts: number } };
    }
  }
}

function usedUp({ earlier }: CallPlan): number {
  return earlier?.attempts ?? 0;
}

function keyOf({ key, frame, direction }: CallPlan): string {
  return idempotencyKeyOf(frame, key, direction);
}

/** The same for every attempt and restart; never made from the attempt. */
export function idempotencyKeyOf(frame: Frame, key: string, direction: 'forward' | 'compensate'): string {
  return `${frame.keyPrefix}:${key}#${frame.occurrence}:${direction}`;
}

function aspectOf({ direction }: CallPlan, number: number): string {
  return direction === 'forward' ? String(number) : `compensate.${number}`;
}

function resolveInput({ key, call, frame, direction, inputPass = 0 }: CallPlan): Promise<JsonText | undefined> {
  const { services } = frame;
  const handler = services.handlers.get(call.handler);
  const { input, secrets } = call;
  const [kind, aspect] =
    direction === 'forward'
      ? (['step-input', 'input'] as const)
      : (['compensation-input', `compensate.input.${inputPass}`] as const);
  const accept = (value: JsonValue | undefined): JsonText | undefined => {
    const text = value === undefined ? undefined : toJsonText(value, services.maxPayloadBytes);
    parseStepInput(services, { handler, step: key, input: text, secrets });
    return text;
  };
  return frame.record(kind, frame.place(key, aspect), () => {
    const value = input && frame.evaluate(input, key, aspect, evaluateTemplate);
    return value instanceof Promise ? value.then(accept) : accept(value);
  });
}

/** From when `maxDuration` counts; journaled only where a policy has one. */
async function readFirstStart(plan: CallPlan): Promise<number> {
  const { key, frame } = plan;
  const aspect = aspectOf(plan, usedUp(plan));
  const start = await frame.decide(key, `first-start.${aspect}`, () => frame.services.clock.now());
  return Number(start?.value);
}

async function wantsRetry(plan: CallPlan, error: RunError, tries: number, firstStart: number): Promise<boolean> {
  const { key, call, frame } = plan;
  if (!allowsRetry(call.retry, error, tries)) return false;
  const { when, maxDurationMs } = call.retry;
  if (when === undefined && maxDurationMs === undefined) return true;
  const aspect = `retry.${aspectOf(plan, usedUp(plan) + tries)}`;
  // Time and formulas may answer otherwise on a replay, so that this answer is journaled.
  const wanted = await frame.decide(key, aspect, async () => {
    const dueIn = maxDurationMs === undefined ? 0 : delayMs(plan, usedUp(plan) + tries, tries);
    if (maxDurationMs !== undefined && frame.services.clock.now() + dueIn - firstStart > maxDurationMs) return false;
    return when === undefined || frame.evaluate(when, key, aspect, evaluateCondition, { error: () => error });
  });
  return wanted?.value === true;
}

/** Waits for the next attempt's time, which is computed once, jitter included. */
async function backOff(plan: CallPlan, number: number, tries: number): Promise<void> {
  const { key, frame } = plan;
  const place = frame.place(key, aspectOf(plan, number));
  const due = await frame.record('step-retrying', place, () =>
    toJsonText(frame.services.clock.now() + delayMs(plan, number, tries)),
  );
  await frame.wait(frame.services.context.sleep(place, Number(due?.value), 'back-off'));
}

/** The same whenever it is asked for: its jitter follows from run and place. */
function delayMs(plan: CallPlan, number: number, tries: number): number {
  const { key, call, frame } = plan;
  const { random } = frame.surroundings(key, `back-off.${aspectOf(plan, number)}`);
  return retryDelayMs(call.retry, tries, random);
}

/** Nobody was there when the next attempt was due, and by now it is too late for one. */
async function isTooLate(plan: CallPlan, number: number, firstStart: number): Promise<boolean> {
  const { key, call, frame } = plan;
  const { maxDurationMs } = call.retry;
  if (maxDurationMs === undefined) return false;
  const late = await frame.decide(
    key,
    `late.${aspectOf(plan, number)}`,
    () => frame.services.clock.now() - firstStart > maxDurationMs,
  );
  return late?.value === true;
}
