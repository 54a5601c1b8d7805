import type { JsonText, JsonValue } from '../common/index.js';
import { evaluateTemplate } from '../expression/index.js';
import { StepOutputs, Variables } from './bindings.js';
import { withDeadline } from './deadline.js';
import { Frame, type Services } from './frame.js';
import type { DurableContext } from './port.js';
import { Failure, type RunError, languageError } from './run-error.js';
import { Scheduler } from './scheduler.js';
import { Scope } from './scope.js';
import { Completed } from './verbs/complete.js';
import { runBody } from './walk.js';

export type RunOutcome =
  | { readonly status: 'completed'; readonly output: JsonText | undefined }
  | { readonly status: 'failed'; readonly error: RunError };

/**
 * Walks a definition from the top: what the context has a record of is read, what it has none of is
 * done. Returns when the run is over; a home that parks the run never lets `select` return.
 */
export function execute(
  context: DurableContext,
  services: Omit<Services, 'context' | 'scheduler'>,
): Promise<RunOutcome> {
  const scheduler = new Scheduler(context);
  const run: Services = { ...services, context, scheduler };
  return scheduler.run(() => runToOutcome(run));
}

async function runToOutcome(services: Services): Promise<RunOutcome> {
  const frame = new Frame(services, new Scope(), new StepOutputs(), runVariables(services), []);
  try {
    return { status: 'completed', output: await runWithinDeadline(frame) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { status: 'failed', error: error.error };
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

function runVariables({ context: { meta }, plan }: Services): Variables {
  return new Variables({
    input: () => meta.input,
    constants: () => plan.constants,
    workflow: () => ({ name: meta.workflow, revision: meta.revision, hash: meta.hash }),
    run: () => ({ id: meta.id, key: meta.key, startedAt: meta.startedAt, status: 'running' }),
  });
}
