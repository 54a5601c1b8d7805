import { suspectAfter } from '../storage/index.js';

/** So many interruptions are suffered by a run that is driven with nothing beside it, before its step is given up. */
const sufferedAlone = 10;

/** From this many interruptions in a row on, a step that was under way fails with `Interrupted`. */
export const givenUpAfter = suspectAfter + sufferedAlone;

/**
 * How long a suspect is due before a busy engine claims nothing younger, so that it comes to drive nothing else: one to
 * two leases. The engine's name, which is random, says where between: so one of several begins, and the others join in
 * only if it has not come to an end meanwhile.
 */
export function patienceMs(owner: string, runLeaseDurationMs: number): number {
  return runLeaseDurationMs * (1 + Number.parseInt(owner.slice(-4), 16) / 0x10000);
}
