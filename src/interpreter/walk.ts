import { evaluateCondition } from '../expression/index.js';
import { withDeadline } from './deadline.js';
import type { BodyOutput, Frame } from './frame.js';
import type { Body, Item } from './plan.js';
import { Failure, languageError } from './run-error.js';
import { names } from './retry.js';
import { runBranch } from './verbs/branch.js';
import { runComplete } from './verbs/complete.js';
import { runFail } from './verbs/fail.js';
import { runForEach } from './verbs/for-each.js';
import { runGroup } from './verbs/group.js';
import { runLoop } from './verbs/loop.js';
import { runParallel } from './verbs/parallel.js';
import { runRethrow } from './verbs/rethrow.js';
import { runSet } from './verbs/set.js';
import { runSleep } from './verbs/sleep.js';
import { runStep } from './verbs/step.js';
import { runPivot } from './verbs/pivot.js';
import { runSubWorkflow } from './verbs/sub-workflow.js';
import { runWaitFor } from './verbs/wait-for.js';

/** Walks a list of items in order. First run, recovery and wake-up are this same walk. */
export async function runBody(body: Body, frame: Frame): Promise<BodyOutput> {
  let last: BodyOutput;
  for (const item of body) {
    const output = await runItem(item, frame);
    if (output === undefined) continue;
    last = output;
    if (item.name !== undefined) frame.steps.set(item.name, output);
  }
  return last;
}

async function runItem(item: Item, frame: Frame): Promise<BodyOutput> {
  frame.scope.throwIfAborted();
  if (item.when !== undefined && !(await isWanted(item, item.when, frame))) return undefined;
  if (item.onError.length === 0 && item.blockTimeoutMs === undefined) return runVerb(item, frame);
  try {
    return await (item.blockTimeoutMs === undefined
      ? runVerb(item, frame)
      : runBlock(item, item.blockTimeoutMs, frame));
  } catch (error) {
    if (!(error instanceof Failure) || item.onError.length === 0) throw error;
    return await handleFailure(item, error, frame);
  }
}

function runVerb(item: Item, frame: Frame): Promise<BodyOutput> {
  switch (item.verb) {
    case 'step':
      return runStep(item, frame);
    case 'set':
      return runSet(item, frame);
    case 'group':
      return runGroup(item, frame);
    case 'branch':
      return runBranch(item, frame);
    case 'parallel':
      return runParallel(item, frame);
    case 'forEach':
      return runForEach(item, frame);
    case 'doWhile':
    case 'doUntil':
      return runLoop(item, frame);
    case 'sleep':
      return runSleep(item, frame);
    case 'waitFor':
      return runWaitFor(item, frame);
    case 'subWorkflow':
      return runSubWorkflow(item, frame);
    case 'pivot':
      return runPivot(item, frame);
    case 'complete':
      return runComplete(item, frame);
    case 'fail':
      return runFail(item, frame);
    case 'rethrow':
      return runRethrow(frame);
  }
}

async function isWanted(item: Item, when: NonNullable<Item['when']>, frame: Frame): Promise<boolean> {
  const wanted = await frame.decide(item.key, 'when', () => frame.evaluate(when, item.key, 'when', evaluateCondition));
  if (wanted?.value === true) return true;
  frame.services.context.note({ kind: 'step-skipped', place: frame.place(item.key, '') });
  return false;
}

/** Runs a block beside its deadline, which is reckoned once. */
async function runBlock(item: Item, timeoutMs: number, frame: Frame): Promise<BodyOutput> {
  const until = await frame.decide(item.key, 'deadline', () => frame.services.clock.now() + timeoutMs);
  const deadline = {
    place: frame.place(item.key, 'deadline'),
    until: Number(until?.value),
    why: 'timeout',
    error: languageError('Timeout', `${item.key} did not end within ${timeoutMs} ms`, { step: item.key }),
  } as const;
  return withDeadline(frame, deadline, (inner) => runVerb(item, inner));
}

/**
 * The first entry that fits handles the failure, and its last output becomes the item's. What fails
 * in its body goes on in place of the first failure, which it keeps as its cause.
 */
async function handleFailure(item: Item, failure: Failure, frame: Frame): Promise<BodyOutput> {
  const { error } = failure;
  const variables = { error: () => error };
  const chosen = await frame.decide(item.key, 'onError', async () => {
    for (const [index, entry] of item.onError.entries()) {
      if (entry.errors !== undefined && !names(entry.errors, error.name)) continue;
      const { when } = entry;
      if (when === undefined) return index;
      if (await frame.evaluate(when, item.key, `onError.${index}`, evaluateCondition, variables)) return index;
    }
    return null;
  });
  const entry = typeof chosen?.value === 'number' ? item.onError[chosen.value] : undefined;
  if (entry === undefined) throw failure;
  const keyPrefix = frame.services.context.meta.handledAnew.get(`${item.key}#${frame.occurrence}`) ?? frame.keyPrefix;
  try {
    return await runBody(entry.body, frame.with({ variables, keyPrefix, caught: failure }));
  } catch (second) {
    if (!(second instanceof Failure) || second === failure) throw second;
    throw second.causedBy(failure);
  }
}
