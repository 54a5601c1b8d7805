import type { JsonValue } from '../../common/index.js';
import { evaluate } from '../../expression/index.js';
import type { BodyOutput, Frame } from '../frame.js';
import type { SleepItem } from '../plan.js';
import { Failure, languageError } from '../run-error.js';

export async function runSleep(item: SleepItem, frame: Frame): Promise<BodyOutput> {
  const { duration } = item;
  const until = await frame.decide(item.key, 'until', async () => {
    if (duration.kind === 'for') return frame.services.clock.now() + duration.ms;
    return pointInTime(await frame.evaluate(duration, item.key, 'until', evaluate), item.key);
  });
  const timer = frame.services.context.sleep(frame.place(item.key, 'until'), Number(until?.value), 'sleep');
  await frame.wait(timer);
  return undefined;
}

/** ISO 8601 with an offset: without one the time would depend on the machine's zone. */
const isoWithOffset = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;

/** Reads what an `until` gave. @throws Failure `ExpressionError` if it is no point in time. */
function pointInTime(value: JsonValue | undefined, step: string): number {
  const time = typeof value === 'string' && isoWithOffset.test(value) ? Date.parse(value) : value;
  if (typeof time === 'number' && Number.isFinite(time)) return time;
  throw new Failure(
    languageError(
      'ExpressionError',
      `\`until\` of ${step} gave ${value === undefined ? 'nothing' : JSON.stringify(value)}, which is no point in time; ` +
        'it takes an ISO timestamp with offset ("2030-01-31T09:00:00Z") or milliseconds since 1970',
      { step },
    ),
  );
}
