import { evaluateTemplate } from '../../expression/index.js';
import type { BodyOutput, Frame } from '../frame.js';
import { recordedOutput } from '../frame.js';
import type { SetItem } from '../plan.js';

export async function runSet(item: SetItem, frame: Frame): Promise<BodyOutput> {
  const value = await frame.decide(item.key, 'value', () =>
    frame.evaluate(item.value, item.key, 'value', evaluateTemplate),
  );
  return recordedOutput(item, frame, value);
}
