import { type JsonValue, toJsonText } from '../../common/index.js';
import { problemsText } from '../../definition/index.js';
import { evaluateTemplate } from '../../expression/index.js';
import { type BodyOutput, type Frame, recordedOutput } from '../frame.js';
import type { SubWorkflowItem } from '../plan.js';
import { Failure, type RunError, languageError } from '../run-error.js';

/** A run of its own, whose end this item waits for; which revision is settled when it starts. */
export async function runSubWorkflow(item: SubWorkflowItem, frame: Frame): Promise<BodyOutput> {
  const { context, debts } = frame.services;
  const chosen = await frame.decide(item.key, 'child', () => chooseChild(item, frame));
  const { revision, hash, input } = chosen?.value as { revision: number; hash: string; input: JsonValue };
  const place = frame.place(item.key, 'child');
  const handle = context.child(place, {
    workflow: item.workflow,
    revision,
    hash,
    input: toJsonText(input),
    timeoutMs: item.timeoutMs,
  });
  debts.beginChild(item.key, frame.snapshot(), handle);
  await frame.wait(handle);
  const { outcome } = handle;
  switch (outcome.kind) {
    case 'completed':
      return recordedOutput(item, frame, outcome.output);
    case 'failed':
      throw new Failure(childFailed(item, outcome.run, outcome.error), [place]);
    case 'timeout': {
      // Whatever is done in its stead must not come on top of what it does.
      const undone = outcome.isToEnd
        ? context.unwindChild(frame.place(item.key, 'timeout'), outcome.run, 'unwind')
        : undefined;
      if (undone !== undefined) await frame.wait(undone);
      const message = `${outcome.run} (${item.workflow}) did not end within ${item.timeoutMs} ms`;
      const details = { run: outcome.run, workflow: item.workflow, rollback: undone?.outcome ?? null };
      throw new Failure({ ...languageError('Timeout', message, { step: item.key }), details }, [place]);
    }
    case 'aborted':
      throw new Error('fault in the home: a child aborted in a scope that is not');
  }
}

async function chooseChild(item: SubWorkflowItem, frame: Frame): Promise<JsonValue> {
  const { children, maxPayloadBytes } = frame.services;
  const given = item.input === undefined ? {} : await frame.evaluate(item.input, item.key, 'input', evaluateTemplate);
  const child = await children.resolve(item.workflow, item.revision);
  if (child === undefined) {
    const wanted = item.revision === undefined ? item.workflow : `${item.workflow} revision ${item.revision}`;
    const error = languageError('ChildFailed', `no definition of ${wanted} is registered`, { step: item.key });
    throw new Failure({ ...error, details: { run: null, workflow: item.workflow, error: null } });
  }
  const checked = await child.validate(given);
  if (!checked.ok) {
    throw new Failure(
      languageError(
        'ValidationError',
        `the input of ${item.workflow} is not valid: ${problemsText(checked.problems)}`,
        {
          step: item.key,
          details: { problems: checked.problems.map(({ path, message }) => ({ path, message })) },
        },
      ),
    );
  }
  toJsonText(checked.value, maxPayloadBytes);
  return { revision: child.revision, hash: child.hash, input: checked.value };
}

function childFailed(item: SubWorkflowItem, run: string, error: RunError): RunError {
  return {
    ...languageError('ChildFailed', `${run} (${item.workflow}) failed: ${error.message}`, { step: item.key }),
    details: { run, workflow: item.workflow, error },
  };
}
