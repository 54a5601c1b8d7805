import { evaluate } from '../../expression/index.js';
import type { BodyOutput, Frame } from '../frame.js';
import type { SleepItem } from '../plan.js';
import { pointInTime } from '../point-in-time.js';

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
