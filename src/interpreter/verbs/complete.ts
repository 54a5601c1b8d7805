import type { JsonText } from '../../common/index.js';
import { evaluateTemplate } from '../../expression/index.js';
import type { Frame } from '../frame.js';
import type { CompleteItem } from '../plan.js';

/** Takes the walk to the end of the run; no `onError` sees it. */
export class Completed extends Error {
  constructor(readonly output: JsonText | undefined) {
    super('the run is complete');
    this.name = 'Completed';
  }
}

export async function runComplete(item: CompleteItem, frame: Frame): Promise<never> {
  throw new Completed(
    await frame.decide(item.key, 'value', () => frame.evaluate(item.value, item.key, 'value', evaluateTemplate)),
  );
}
