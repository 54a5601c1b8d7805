import { evaluateCondition } from '../../expression/index.js';
import type { BodyOutput, Frame } from '../frame.js';
import type { LoopItem } from '../plan.js';
import { Failure, languageError } from '../run-error.js';
import { runBody } from '../walk.js';

/** `doWhile` asks before each turn, `doUntil` after it; each answer is journaled. */
export async function runLoop(item: LoopItem, frame: Frame): Promise<BodyOutput> {
  frame.steps.clear(item.names);
  let last: BodyOutput;
  for (let turn = 0; ; turn += 1) {
    if (item.verb === 'doWhile' && !(await isTrue(item, frame, turn))) return last;
    if (turn === item.maxIterations) throw tooManyTurns(item, frame);
    last = await runBody(item.body, frame.with({ turn, variables: { iteration: () => turn } }));
    if (item.verb === 'doUntil' && (await isTrue(item, frame, turn + 1))) return last;
  }
}

/** The condition, once `completed` turns are over. */
async function isTrue(item: LoopItem, frame: Frame, completed: number): Promise<boolean> {
  const inTurn = frame.with({ turn: completed, variables: { iteration: () => completed } });
  const answer = await inTurn.decide(item.key, 'condition', () =>
    inTurn.evaluate(item.condition, item.key, 'condition', evaluateCondition),
  );
  return answer?.value === true;
}

function tooManyTurns(item: LoopItem, frame: Frame): Failure {
  return new Failure(
    languageError(
      'LoopLimitExceeded',
      `${item.key} is not over after ${item.maxIterations} turns; raise its maxIterations if that is as it should be`,
      { step: item.key },
    ),
    [frame.place(item.key, '')],
  );
}
