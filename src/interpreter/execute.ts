import type { JsonText, JsonValue } from '../common/index.js';
import { evaluateTemplate } from '../expression/index.js';
import { StepOutputs, Variables } from './bindings.js';
import { withDeadline } from './deadline.js';
import { Debts } from './debts.js';
import { Frame, type Services } from './frame.js';
import type { Body } from './plan.js';
import type { DurableContext, RunOutcome } from './port.js';
import { Failure, type RunError, languageError } from './run-error.js';
import { Scheduler } from './scheduler.js';
import { Scope, ScopeAborted } from './scope.js';
import { type Unwound, unwind } from './unwind.js';
import { Completed } from './verbs/complete.js';
import { runBody } from './walk.js';

/** How a run ended, once its unwind and its last steps are over. */
export interface RunEnd {
  readonly outcome: RunOutcome;
  /** Undefined where nothing failed. */
  readonly unwound: Unwound | undefined;
  /** A pivot was reached: what the run did is there to stay. */
  readonly pivotReached: boolean;
}

/**
 * Walks a definition from the top: what the context has a record of is read, what it has none of is
 * done. A home that suspends the run lets `select` throw.
 */
export function execute(
  context: DurableContext,
  services: Omit<Services, 'context' | 'scheduler' | 'debts' | 'phase'>,
): Promise<RunEnd> {
  const scheduler = new Scheduler(context);
  const run: Services = { ...services, context, scheduler, debts: new Debts(), phase: { status: 'running' } };
  return scheduler.run(() => runToEnd(run));
}

async function runToEnd(services: Services): Promise<RunEnd> {
  const { context, plan, debts, phase } = services;
  const frame = new Frame(services, new Scope(), new StepOutputs(), runVariables(services), [], context.meta.keyPrefix);
  const reached = await runCancellable(frame);
  const conclusion = await context.conclude(reached, {
    owed: debts.owed().length > 0,
    lastIfCompleted: plan.finally.length === 0 && !context.meta.reopened,
  });
  await frame.wait(conclusion);
  const { outcome, unwind: wanted } = conclusion.outcome;
  let unwound: Unwound | undefined;
  if (outcome.status !== 'completed') {
    phase.status = 'compensating';
    unwound = wanted ? await unwind(frame) : forgone(frame);
    context.note({ kind: 'unwind-ended', place: frame.place(null, 'run'), payload: { status: unwound.status } });
  }
  phase.status = outcome.status;
  const error = outcome.status === 'completed' ? undefined : outcome.error;
  if (outcome.status === 'failed') await runLast('onFailure', plan.onFailure, frame, error);
  await runLast('finally', plan.finally, frame, error);
  if (outcome.status === 'completed' && context.meta.reopened) {
    // A completed child whose parent is being undone: its outcome stays, what it did is undone.
    phase.status = 'compensating';
    unwound = await unwind(frame);
  }
  return { outcome, unwound, pivotReached: debts.forgiven };
}

/** The body, beside whatever may end it early: its deadline, and somebody who cancels the run. */
async function runCancellable(frame: Frame): Promise<RunOutcome> {
  const { context, scheduler } = frame.services;
  const scope = new Scope(frame.scope);
  const body = scheduler.spawn(() => runToOutcome(frame.with({ scope })));
  const cancellation = context.cancellation();
  const first = await frame.waitThrough(body, cancellation);
  if (first === cancellation) {
    scope.abort(context, frame.place(null, 'run'), 'Cancelled');
    await frame.waitThrough(body);
  }
  scope.end();
  if (first !== cancellation) return body.result();
  return { status: 'cancelled', error: cancelledError(cancellation.outcome.reason) };
}

export function cancelledError(reason: string | null): RunError {
  return languageError('Cancelled', reason ?? 'the run was cancelled', { step: null });
}

async function runToOutcome(frame: Frame): Promise<RunOutcome> {
  try {
    return { status: 'completed', output: await runWithinDeadline(frame) };
  } catch (error) {
    if (error instanceof ScopeAborted) return { status: 'cancelled', error: cancelledError(null) };
    if (!(error instanceof Failure)) throw error;
    return { status: 'failed', error: error.error, origins: error.origins };
  }
}

function runWithinDeadline(frame: Frame): Promise<JsonText | undefined> {
  const { context, plan } = frame.services;
  if (plan.timeoutMs === undefined) return runWorkflow(frame);
  const deadline = {
    place: frame.place(null, 'deadline'),
    until: context.meta.startedAt + plan.timeoutMs,
    why: 'run-deadline',
    error: languageError('RunTimeout', `the run did not end within ${plan.timeoutMs} ms of its start`, { step: null }),
  } as const;
  return withDeadline(frame, deadline, runWorkflow);
}

async function runWorkflow(frame: Frame): Promise<JsonText | undefined> {
  const { plan } = frame.services;
  let last: JsonValue | undefined;
  try {
    last = (await runBody(plan.steps, frame))?.value;
  } catch (error) {
    if (error instanceof Completed) return error.output;
    throw error;
  }
  const { output } = plan;
  return frame.decide(null, 'output', () =>
    output === undefined ? last : frame.evaluate(output, null, 'output', evaluateTemplate),
  );
}

/** Steps that run when the outcome stands. What fails in them is recorded and skips the rest of them alone. */
async function runLast(name: string, body: Body, frame: Frame, error: RunError | undefined): Promise<void> {
  const variables = error === undefined ? {} : { error: () => error };
  try {
    await runBody(body, frame.with({ variables, keyPrefix: frame.services.context.meta.id }));
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    const payload = { error: failure.error };
    frame.services.context.note({ kind: 'body-failed', place: frame.place(null, name), payload });
  }
}

/** The run was cancelled without compensation: each debt is recorded as not undone. */
function forgone(frame: Frame): Unwound {
  const { context, debts } = frame.services;
  const owed = debts.owed();
  for (const debt of owed) {
    const place = debt.frame.place(debt.key, '');
    context.note({ kind: 'compensation-skipped', place, payload: { why: 'cancelled without compensation' } });
  }
  return { status: owed.length === 0 ? 'not-applicable' : 'abandoned', keptBy: [] };
}

function runVariables({ context: { meta }, plan, phase }: Services): Variables {
  return new Variables({
    input: () => meta.input,
    constants: () => plan.constants,
    workflow: () => ({ name: meta.workflow, revision: meta.revision, hash: meta.hash }),
    run: () => ({ id: meta.id, key: meta.key, startedAt: meta.startedAt, status: phase.status }),
  });
}
