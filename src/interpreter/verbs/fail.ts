import type { JsonText } from '../../common/index.js';
import { type Template, evaluateTemplate } from '../../expression/index.js';
import type { Frame } from '../frame.js';
import type { FailItem, Placed } from '../plan.js';
import { Failure } from '../run-error.js';

export async function runFail(item: FailItem, frame: Frame): Promise<never> {
  const value = async (aspect: string, template: Placed<Template> | undefined): Promise<JsonText | undefined> =>
    template && frame.decide(item.key, aspect, () => frame.evaluate(template, item.key, aspect, evaluateTemplate));
  const message = (await value('message', item.message))?.value ?? item.error;
  const details = (await value('details', item.details))?.value ?? null;
  const error = {
    name: item.error,
    message: typeof message === 'string' ? message : JSON.stringify(message),
    step: item.key,
    attempt: null,
    details,
  };
  throw new Failure(error, [frame.place(item.key, '')]);
}
