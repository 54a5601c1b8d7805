import type { BodyOutput, Frame } from '../frame.js';
import type { GroupItem } from '../plan.js';
import { runBody } from '../walk.js';

export function runGroup(item: GroupItem, frame: Frame): Promise<BodyOutput> {
  return runBody(item.body, frame);
}
