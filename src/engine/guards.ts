import { RunsheetError } from '../common/index.js';
import { type Definition, walkItems } from '../definition/index.js';
import type { InboxGuard, JournalRow } from '../storage/index.js';
import { readStuck } from './entries.js';

/** Refuses to cancel a run whose outcome stands. */
export const cancelGuard: InboxGuard<RunsheetError> = {
  steps: [],
  refuse: ({ run, entries }) =>
    entries.some(settlesOutcome) || run.status.startsWith('compensat')
      ? new RunsheetError('RS_RUN_ENDING', `${run.id} is ending already and cannot be cancelled any more`)
      : undefined,
};

/** From then on a cancellation comes too late: the outcome stands, or the time of the run is up. */
function settlesOutcome({ kind, step, aspect }: JournalRow): boolean {
  return kind === 'run-outcome' || (kind === 'timer-fired' && step === null && aspect === 'deadline');
}

/** Refuses what an operator says about an unwind that is not stuck, or about which another word is on its way. */
export function operatorGuard(definition: Definition): InboxGuard<RunsheetError> {
  const steps: string[] = [];
  walkItems(definition.document, ({ key }) => steps.push(key));
  return {
    steps,
    refuse({ run, entries, messages }) {
      if (run.status !== 'compensation-stuck') {
        return new RunsheetError('RS_RUN_NOT_STUCK', `${run.id} is ${run.status}; its unwind is not stuck`);
      }
      const stuck = entries.findLast(({ kind }) => kind === 'compensation-stuck');
      const since = readStuck(stuck?.payload ?? null).afterInbox;
      if (!messages.some(({ kind, seq }) => kind === 'operator' && seq > since)) return undefined;
      return new RunsheetError('RS_RUN_NOT_STUCK', `somebody has decided about ${run.id} just now; look at it again`);
    },
  };
}
