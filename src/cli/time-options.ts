import { durationProblem, isDuration, parseDuration } from '../common/index.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';

/** Milliseconds of a duration. @throws CommandFailure (usage) that names the option */
export function durationOption(option: string, text: string): number {
  const problem = durationProblem(text);
  if (problem !== undefined) {
    // Some say which one is meant.
    const help = problem.endsWith('is no duration') ? '; write for example 30s, 5m, 2h30m or 7d' : '';
    throw new CommandFailure(exitCodes.usage, `${option}: ${problem}${help}`);
  }
  return parseDuration(text);
}

/**
 * Epoch milliseconds of a time: a duration from or before now, a date, or a date and time (of the machine's zone where
 * it names none).
 *
 * @throws CommandFailure (usage)
 */
export function timeOption(option: string, text: string, now: number, direction: 'from now' | 'back'): number {
  if (isDuration(text)) return direction === 'back' ? now - parseDuration(text) : now + parseDuration(text);
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(time)) {
    throw new CommandFailure(
      exitCodes.usage,
      `${option} takes a duration (2h, 7d) or a time (2030-01-31, 2030-01-31T09:00:00Z), not ${JSON.stringify(text)}`,
    );
  }
  return time;
}
