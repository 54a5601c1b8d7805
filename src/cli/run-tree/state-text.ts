import type { StepHistory } from '../../engine/index.js';
import { durationText } from '../text.js';
import type { TreeItem } from './run-tree.js';
import type { StateName } from './states.js';

export const stateWords: Readonly<Record<StateName, string>> = {
  'not-reached': 'not reached',
  running: 'running',
  waiting: 'waiting',
  completed: 'completed',
  failed: 'failed',
  handled: 'failed (handled)',
  skipped: 'skipped',
  aborted: 'ended early',
  undone: 'undone',
  stuck: 'cannot be undone',
};

const countOrder: readonly StateName[] = [
  'stuck',
  'failed',
  'handled',
  'running',
  'waiting',
  'completed',
  'undone',
  'aborted',
  'skipped',
];

/** `2 failed, 1 running, 980 completed` */
export function countsText(counts: ReadonlyMap<StateName, number>): string {
  return countOrder
    .filter((state) => (counts.get(state) ?? 0) > 0)
    .map((state) => `${counts.get(state)} ${stateWords[state]}`)
    .join(', ');
}

/** How far a loop has come: `412 of 1000 turns, 3 failed`; nothing before its first turn. */
export function turnsText({ turns }: TreeItem): string | undefined {
  if (turns === undefined) return undefined;
  const { begun, ended, failed, total } = turns;
  const done = total === null ? `${Math.max(begun, ended)}` : `${ended} of ${total}`;
  const unit = (total ?? begun) === 1 ? 'turn' : 'turns';
  return `${done} ${unit}${failed === 0 ? '' : `, ${failed} failed`}`;
}

/** In a few words how it went with an item; empty where there is no more to say than its state. */
export function stateText(item: TreeItem, now: number): string {
  const turns = turnsText(item);
  if (turns !== undefined && item.state !== 'skipped') return turns;
  const [step, another] = item.steps;
  if (another !== undefined) return countsText(item.counts);
  if (step === undefined) return item.state === 'not-reached' ? '' : stateWords[item.state];
  switch (item.state) {
    case 'completed': {
      const owed = item.reversals.some(({ state }) => state === 'owed') ? ', still to be undone' : '';
      return step.kind === 'gate' || step.endedAt === undefined
        ? `${completedText(step)}${owed}`
        : `${completedText(step)} in ${durationText(step.endedAt - step.startedAt)}${attemptsText(step)}${owed}`;
    }
    case 'failed':
      return `failed${errorText(step)}${attemptsText(step)}`;
    case 'handled':
      return `failed${errorText(step)}${attemptsText(step)} (handled)`;
    case 'waiting':
      return waitText(step, now);
    default:
      return stateWords[item.state];
  }
}

function completedText(step: StepHistory): string {
  if (step.kind === 'gate') return step.state === 'received' ? 'answered' : 'nobody answered';
  return step.kind === 'sleep' ? 'slept' : 'completed';
}

function errorText(step: StepHistory): string {
  const error = step.kind === 'step' || step.kind === 'child' ? step.error : undefined;
  return error === undefined ? '' : `: ${error.name}`;
}

function attemptsText(step: StepHistory): string {
  return step.kind === 'step' && step.attempts > 1 ? `, ${step.attempts} attempts` : '';
}

/** What a step waits for, and how much longer: `for manager-approval, 47h59m left`. */
export function waitText(step: StepHistory, now: number): string {
  switch (step.kind) {
    case 'gate':
      return step.arrived ? `${step.signal} has arrived` : `waits for ${step.signal}${leftText(step.deadline, now)}`;
    case 'sleep':
      return `sleeps${leftText(step.dueAt, now)}`;
    case 'child':
      return `${step.workflow} is ${step.status ?? 'gone'}${leftText(step.deadline, now)}`;
    case 'step':
      return step.dueAt === undefined
        ? 'waits'
        : `attempt ${step.attempts + 1} ${step.dueAt > now ? `in ${durationText(step.dueAt - now)}` : 'is due'}`;
    case 'skipped':
      return stateWords.skipped;
  }
}

/** `, 3h20m left` */
export function leftText(until: number | null, now: number): string {
  if (until === null) return '';
  return until > now ? `, ${durationText(until - now)} left` : ', overdue';
}
