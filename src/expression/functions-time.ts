import { parseDuration, readTimestamp } from '../common/index.js';

import { type Focus, type FunctionDefinition, builtIn, define, signature } from './built-ins.js';
import { evaluationOf } from './evaluation.js';
import { Fault } from './fault.js';
import { formatTime } from './format-time.js';
import { parseTime } from './parse-time.js';

/**
 * What depends on time or chance. JSONata reads the machine's clock and `Math.random`; here both come from the
 * surroundings of the evaluation, so that a replay gives the same value. (JSONata's timestamp is, besides,
 * shared by all evaluations of one expression.)
 */
export const timeFunctions: Readonly<Record<string, () => FunctionDefinition>> = {
  now: () =>
    define(function (this: Focus, picture?: string, timezone?: string) {
      return formatTime(evaluationOf(this.environment).surroundings.now, picture, timezone);
    }, builtIn('now')),

  fromMillis: () =>
    define(function (this: Focus, time?: number, picture?: string, timezone?: string) {
      return time === undefined ? undefined : formatTime(time, picture, timezone);
    }, builtIn('fromMillis')),

  millis: () =>
    define(function (this: Focus) {
      return evaluationOf(this.environment).surroundings.now;
    }, builtIn('millis')),

  random: () =>
    define(function (this: Focus) {
      return evaluationOf(this.environment).surroundings.random();
    }, builtIn('random')),

  shuffle: () =>
    define(function (this: Focus, list?: readonly unknown[]) {
      const { random } = evaluationOf(this.environment).surroundings;
      if (list === undefined) return undefined;
      const shuffled = [...list];
      for (let last = shuffled.length - 1; last > 0; last--) {
        const other = Math.floor(random() * (last + 1));
        [shuffled[last], shuffled[other]] = [shuffled[other], shuffled[last]];
      }
      return shuffled;
    }, builtIn('shuffle')),

  /** `$addDuration(time, duration)`: an ISO timestamp or epoch milliseconds, moved by `"3d"` or `"-2h30m"`. */
  addDuration: () =>
    define(
      function (this: Focus, time?: unknown, duration?: unknown) {
        if (time === undefined || duration === undefined) return undefined;
        const millis = typeof time === 'number' ? time : timeOf(String(time));
        return formatTime(millis + signedDuration(duration));
      },
      { implementation: (time: never, duration: never) => [time, duration], signature: signature('<(sn)s:s>') },
    ),

  toMillis: () =>
    define(function (this: Focus, timestamp?: string, picture?: string) {
      if (timestamp === undefined) return undefined;
      if (picture === undefined) return timeOf(timestamp);
      return parseTime(timestamp, picture, evaluationOf(this.environment).surroundings.now);
    }, builtIn('toMillis')),
};

function timeOf(timestamp: string): number {
  const time = readTimestamp(timestamp);
  if (time !== undefined) return time;
  const shown = JSON.stringify(timestamp.length > 60 ? `${timestamp.slice(0, 59)}…` : timestamp);
  throw new Fault(
    'failed',
    /T[\d:.]+$/.test(timestamp)
      ? `the time ${shown} has no offset; write \`Z\` (UTC) or \`+01:00\` after it`
      : `${shown} is not a valid time; write a date that exists, as in "2030-01-31T09:00:00Z" or "2030-01-31"`,
  );
}

function signedDuration(duration: unknown): number {
  if (typeof duration !== 'string') throw new Fault('type', 'the duration of `$addDuration` must be text such as "3d"');
  const sign = duration.startsWith('-') ? -1 : 1;
  try {
    return sign * parseDuration(duration.replace(/^[-+]/, ''));
  } catch (error) {
    throw new Fault(
      'failed',
      `the duration of \`$addDuration\`: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
