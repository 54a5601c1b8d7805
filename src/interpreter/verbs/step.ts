import { callUntilDone } from '../call.js';
import { type StepDebt, settleAttempt } from '../debts.js';
import { type BodyOutput, type Frame, recordedOutput } from '../frame.js';
import type { StepItem } from '../plan.js';
import { Failure } from '../run-error.js';

/** Calls a handler; where the step has a reversal, that is owed from the first attempt on. */
export async function runStep(item: StepItem, frame: Frame): Promise<BodyOutput> {
  const { compensate } = item;
  let debt: StepDebt | undefined;
  const end = await callUntilDone({
    key: item.key,
    call: item,
    frame,
    direction: 'forward',
    ...(compensate && {
      onStart: (attempt) => (debt = frame.services.debts.beginStep(item.key, compensate, frame.snapshot(), attempt)),
      onOutcome: (outcome) => debt && settleAttempt(debt, outcome),
    }),
  });
  if (!end.ok) throw new Failure(end.error, [frame.place(item.key, '')]);
  return recordedOutput(item, frame, end.value);
}
