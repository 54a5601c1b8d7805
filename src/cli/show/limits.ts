import { parseDuration } from '../../common/index.js';
import type { RunHistory } from '../../engine/index.js';
import { type TreeBody, isOpen, sectionsOf, treeOf } from '../run-tree/index.js';
import { durationText, timeText } from '../text.js';

/** When the time of a run, or of a block that it is in, is up. */
export interface Limit {
  /** Key of the block; null for the run. */
  readonly step: string | null;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** The limits that count now, the run's first. */
export function limitsOf(history: RunHistory): Limit[] {
  const { run, document } = history;
  if (document === null || run.endedAt !== null) return [];
  const blocks: Limit[] = [];
  const collect = ({ items }: TreeBody): void => {
    for (const { key, state, deadline, bodies } of items) {
      if (deadline !== undefined && isOpen(state)) blocks.push({ step: key, until: deadline });
      bodies.forEach(collect);
    }
  };
  sectionsOf(treeOf(document, history)).forEach(collect);
  const { timeout = 'never' } = document;
  // The unwind has no limit: what has to be undone is undone.
  const ownLimit = timeout !== 'never' && run.startedAt !== null && run.error === null;
  return [...(ownLimit ? [{ step: null, until: (run.startedAt ?? 0) + parseDuration(timeout) }] : []), ...blocks];
}

export function limitText({ step, until }: Limit, now: number): string {
  const left = until > now ? `${durationText(until - now)} left` : 'overdue';
  return `${step ?? 'the run'} until ${timeText(until)} (${left})`;
}
