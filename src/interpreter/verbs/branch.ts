import { evaluateCondition } from '../../expression/index.js';
import type { BodyOutput, Frame } from '../frame.js';
import type { BranchItem } from '../plan.js';
import { runBody } from '../walk.js';

/** The first arm whose condition holds; later ones are not looked at. */
export async function runBranch(item: BranchItem, frame: Frame): Promise<BodyOutput> {
  const taken = await frame.decide(item.key, 'arm', async () => {
    for (const [index, { when }] of item.arms.entries()) {
      if (when === undefined) return index;
      if (await frame.evaluate(when, item.key, `arm.${index}`, evaluateCondition)) return index;
    }
    throw new Error('fault in the checker: a branch without else');
  });
  return runBody(item.arms[Number(taken?.value)]?.body ?? [], frame);
}
