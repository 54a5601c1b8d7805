import type { JsonValue } from '../../common/index.js';
import { evaluateList, evaluateTemplate } from '../../expression/index.js';
import { Output } from '../bindings.js';
import { type Ending, runConcurrently } from '../concurrent.js';
import type { BodyOutput, Frame } from '../frame.js';
import type { ForEachItem } from '../plan.js';
import { Failure, languageError } from '../run-error.js';

/** One turn an element; the output is a list in the order of the input, whatever the order of the ends. */
export async function runForEach(item: ForEachItem, frame: Frame): Promise<BodyOutput> {
  const list = await readList(item, frame);
  if (list.length > item.maxIterations) throw tooLong(item, list.length, frame);
  const { endings, failures } = await runConcurrently(frame, {
    key: item.key,
    count: list.length,
    limit: item.concurrency,
    stopOnFailure: item.onItemError === 'stop',
    begin(turn, scope) {
      const variables = { [item.as]: () => list[turn] ?? null, index: () => turn };
      return {
        body: item.body,
        frame: frame.with({ scope, steps: frame.steps.fork(), turn, variables }),
        aspect: 'turn',
      };
    },
  });
  const [first, ...others] = failures;
  if (first !== undefined && item.onItemError === 'stop') throw first.beside(others);
  return new Output(`${item.key}#${frame.occurrence}`, () => endings.map(entryOf));
}

async function readList(item: ForEachItem, frame: Frame): Promise<readonly JsonValue[]> {
  const { list } = item;
  const recorded = await frame.decide(item.key, 'list', () =>
    list.kind === 'formula'
      ? frame.evaluate(list, item.key, 'list', evaluateList)
      : frame.evaluate(list, item.key, 'list', evaluateTemplate),
  );
  const value = recorded?.value;
  if (!Array.isArray(value)) throw new Error('fault in the expressions: a forEach list that is none');
  return value;
}

/** Null for a turn without output; with `onItemError: continue` a failed turn's entry is its error. */
function entryOf(ending: Ending): JsonValue {
  if (ending instanceof Failure) return { error: ending.error };
  return ending?.output?.value ?? null;
}

function tooLong(item: ForEachItem, length: number, frame: Frame): Failure {
  return new Failure(
    languageError(
      'LoopLimitExceeded',
      `${item.key} got a list of ${length}, more than its maxIterations of ${item.maxIterations}; ` +
        'raise maxIterations if that is as it should be',
      { step: item.key },
    ),
    [frame.place(item.key, '')],
  );
}
