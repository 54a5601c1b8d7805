import { parseDuration } from '../common/index.js';

import { type Focus, type FunctionDefinition, builtIn, define, signature } from './built-ins.js';
import { evaluationOf } from './evaluation.js';
import { Fault } from './fault.js';

/**
 * What depends on time or chance. JSONata reads the machine's clock and `Math.random`; here both come from the
 * surroundings of the evaluation, so that a replay gives the same value. (JSONata's timestamp is, besides,
 * shared by all evaluations of one expression.)
 */
export const timeFunctions: Readonly<Record<string, () => FunctionDefinition>> = {
  now() {
    const format = builtIn('fromMillis').implementation;
    return define(function (this: Focus, picture?: string, timezone?: string) {
      const { now } = evaluationOf(this.environment).surroundings;
      return format.apply(this, [now, picture, timezone] as never[]);
    }, builtIn('now'));
  },

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
        const millis = typeof time === 'number' ? time : parseTimestamp(this, [time]);
        const moved = new Date(millis + signedDuration(duration));
        if (!Number.isNaN(moved.getTime())) return moved.toISOString();
        throw new Fault('failed', '`$addDuration` leaves the years that a timestamp can hold');
      },
      { implementation: (time: never, duration: never) => [time, duration], signature: signature('<(sn)s:s>') },
    ),

  /** JSONata completes a time without a date from the machine's clock, one without an offset from its zone. */
  toMillis: () =>
    define(function (this: Focus, timestamp?: string, picture?: string) {
      if (typeof timestamp === 'string' && typeof picture === 'string') refuseAmbiguous(timestamp, picture);
      return parseTimestamp(this, [timestamp, picture]);
    }, builtIn('toMillis')),
};

function parseTimestamp(focus: Focus, args: [timestamp: unknown, picture?: unknown]): number {
  const [timestamp, picture] = args;
  if (typeof timestamp === 'string' && picture === undefined && /T[\d:.]+$/.test(timestamp)) {
    throw new Fault(
      'failed',
      `the time ${JSON.stringify(timestamp)} has no offset; write \`Z\` (UTC) or \`+01:00\` after it`,
    );
  }
  const { now } = evaluationOf(focus.environment).surroundings;
  const parse = builtIn('toMillis').implementation as (this: unknown, ...args: unknown[]) => number;
  return parse.apply({ ...focus, environment: { timestamp: new Date(now) } }, args);
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

/**
 * JSONata makes a regular expression of a picture, and markers with nothing to part them (`[Y][M][D]`) can
 * share out a row of digits in very many ways, all of which are tried when none fits.
 */
function refuseAmbiguous(timestamp: string, picture: string): void {
  let chain = 0;
  let longest = 0;
  for (const [part] of picture.matchAll(/\[[^\]]*\]|[^[]+|\[/g)) {
    if (part.startsWith('[')) longest = Math.max(longest, ++chain);
    else if (/[^A-Za-z0-9]/.test(part)) chain = 0;
  }
  let ways = 1;
  for (let marker = 0; marker < longest; marker++) ways *= (timestamp.length - marker) / (marker + 1);
  if (ways > 1e7) {
    throw new Fault(
      'limit',
      'the picture of `$toMillis` can be read in too many ways; put something between its parts',
    );
  }
}
