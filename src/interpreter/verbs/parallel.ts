import type { JsonObject } from '../../common/index.js';
import { Output } from '../bindings.js';
import { type Ending, runConcurrently } from '../concurrent.js';
import type { BodyOutput, Frame } from '../frame.js';
import type { ParallelItem } from '../plan.js';
import { Failure, languageError } from '../run-error.js';

/**
 * All branches at once. With `join: all` the first failure is the item's, and with `abort` it ends the others; with a
 * number a failed branch is only a lost one until so many can no longer complete.
 */
export async function runParallel(item: ParallelItem, frame: Frame): Promise<BodyOutput> {
  const branches = item.branches.map((branch) => ({ ...branch, steps: frame.steps.fork() }));
  const { endings, failures } = await runConcurrently(frame, {
    key: item.key,
    count: branches.length,
    limit: branches.length,
    ...(item.join !== 'all' && { needed: item.join }),
    stopOnFailure: item.join === 'all' && item.onBranchError === 'abort',
    begin(index, scope) {
      const branch = branches[index];
      if (branch === undefined) throw new RangeError(`branch ${index}`);
      return { body: branch.body, frame: frame.with({ scope, steps: branch.steps }), aspect: branch.name };
    },
  });
  if (item.join === 'all') {
    const [first, ...others] = failures;
    if (first !== undefined) throw first.beside(others);
  } else if (endings.filter(isCompleted).length < item.join) {
    throw joinFailed(item, endings, failures);
  }
  for (const [index, { steps }] of branches.entries()) if (isCompleted(endings[index])) frame.steps.merge(steps);
  return new Output(`${item.key}#${frame.occurrence}`, () => {
    const outputs: JsonObject = {};
    for (const [index, { name }] of branches.entries()) {
      const ending = endings[index];
      if (isCompleted(ending) && ending.output !== undefined) outputs[name] = ending.output.value;
    }
    return outputs;
  });
}

function isCompleted(ending: Ending): ending is Exclude<Ending, Failure | undefined> {
  return ending !== undefined && !(ending instanceof Failure);
}

function joinFailed(item: ParallelItem, endings: readonly Ending[], failures: readonly Failure[]): Failure {
  const errors: JsonObject = {};
  for (const [index, { name }] of item.branches.entries()) {
    const ending = endings[index];
    if (ending instanceof Failure) errors[name] = ending.error;
  }
  const failed = Object.keys(errors).join(', ');
  const message = `${item.key} needs ${item.join} of ${item.branches.length} branches, but ${failed} failed`;
  return new Failure(
    languageError('JoinFailed', message, { step: item.key, details: { errors } }),
    failures.flatMap(({ origins }) => origins),
  );
}
