import type { BodyOutput, Frame } from '../frame.js';
import type { PivotItem } from '../plan.js';

/** The point of no return, for the whole run and wherever it stands. */
export async function runPivot(item: PivotItem, frame: Frame): Promise<BodyOutput> {
  await frame.wait(frame.services.context.pivot(frame.place(item.key, '')));
  frame.services.debts.forgive();
  return undefined;
}
