import type { JsonObject } from '../../common/index.js';
import { Output } from '../bindings.js';
import { runConcurrently } from '../concurrent.js';
import type { BodyOutput, Frame } from '../frame.js';
import type { ParallelItem } from '../plan.js';
import { Failure } from '../run-error.js';

/** All branches at once. The first failure is the item's; with `abort` it ends the others. */
export async function runParallel(item: ParallelItem, frame: Frame): Promise<BodyOutput> {
  const branches = item.branches.map((branch) => ({ ...branch, steps: frame.steps.fork() }));
  const { endings, failures } = await runConcurrently(frame, {
    key: item.key,
    count: branches.length,
    limit: branches.length,
    stopOnFailure: item.onBranchError === 'abort',
    begin(index, scope) {
      const branch = branches[index];
      if (branch === undefined) throw new RangeError(`branch ${index}`);
      return { body: branch.body, frame: frame.with({ scope, steps: branch.steps }), aspect: branch.name };
    },
  });
  const [first, ...others] = failures;
  if (first !== undefined) throw first.beside(others);
  for (const { steps } of branches) frame.steps.merge(steps);
  return new Output(`${item.key}#${frame.occurrence}`, () => {
    const outputs: JsonObject = {};
    for (const [index, { name }] of branches.entries()) {
      const ending = endings[index];
      if (ending instanceof Failure || ending?.output === undefined) continue;
      outputs[name] = ending.output.value;
    }
    return outputs;
  });
}
