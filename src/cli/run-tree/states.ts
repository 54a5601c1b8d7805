import type { Color } from '../../common/index.js';
import type { Item } from '../../definition/index.js';
import type { ReversalHistory, StepHistory } from '../../engine/index.js';

/** How it went with an item of a run. */
export type StateName =
  | 'not-reached'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'failed'
  /** Failed, and an `onError`, or what it stands in, went on all the same. */
  | 'handled'
  | 'skipped'
  /** Ended by something around it, before it was over. */
  | 'aborted'
  | 'undone'
  | 'stuck';

const byUrgency: readonly StateName[] = [
  'stuck',
  'running',
  'waiting',
  'failed',
  'handled',
  'undone',
  'completed',
  'aborted',
  'skipped',
  'not-reached',
];

/** The state that asks most for attention. */
export function mostUrgent(states: readonly StateName[]): StateName | undefined {
  return byUrgency.find((state) => states.includes(state));
}

/** Something is still to happen. */
export function isOpen(state: StateName): boolean {
  return state === 'running' || state === 'waiting';
}

/** @param isEnded whether the run has: what still seems to run was then left where it was */
export function stateOfStep(
  step: StepHistory,
  reversal: ReversalHistory | undefined,
  item: Item | undefined,
  isEnded: boolean,
): StateName {
  switch (reversal?.state) {
    case 'undone':
      return 'undone';
    case 'stuck':
      return 'stuck';
    case 'running':
    case 'retrying':
      return 'running';
    default:
      return forwardState(step, item, isEnded);
  }
}

function forwardState(step: StepHistory, item: Item | undefined, isEnded: boolean): StateName {
  switch (step.state) {
    case 'running':
      return isEnded ? 'aborted' : 'running';
    case 'retrying':
    case 'sleeping':
    case 'waiting':
      return isEnded ? 'aborted' : 'waiting';
    case 'completed':
    case 'slept':
    case 'received':
      return 'completed';
    case 'failed':
      return 'failed';
    case 'timed-out':
      return item !== undefined && 'waitFor' in item && item.onTimeout !== undefined ? 'completed' : 'failed';
    case 'aborted':
    case 'skipped':
      return step.state;
  }
}

/** The colour of a state on a terminal; faint what has not happened. */
export const terminalColors: Readonly<Record<StateName, Color>> = {
  'not-reached': 'faint',
  running: 'cyan',
  waiting: 'yellow',
  completed: 'green',
  failed: 'red',
  handled: 'yellow',
  skipped: 'faint',
  aborted: 'yellow',
  undone: 'magenta',
  stuck: 'red',
};
