import { isTimeZone } from '../common/index.js';
import { nearest } from '../syntax/index.js';

interface CronField {
  readonly name: string;
  readonly lowest: number;
  readonly highest: number;
  /** Names of values, from `lowest` on. */
  readonly names: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const fields: readonly CronField[] = [
  { name: 'minute', lowest: 0, highest: 59, names: [] },
  { name: 'hour', lowest: 0, highest: 23, names: [] },
  { name: 'day of the month', lowest: 1, highest: 31, names: [] },
  { name: 'month', lowest: 1, highest: 12, names: months },
  { name: 'day of the week', lowest: 0, highest: 7, names: weekdays },
];

/** What is wrong with a cron expression; undefined if nothing is. */
export function cronProblem(text: string): string | undefined {
  if (text.trim().startsWith('@')) return `"${text}" is a short name; write the five fields`;
  const parts = text.trim().split(/\s+/);
  if (parts.length !== fields.length) {
    return `a cron expression has five fields (minute, hour, day of the month, month, day of the week), not ${parts.length}`;
  }
  for (const [index, field] of fields.entries()) {
    for (const part of (parts[index] ?? '').split(',')) {
      const problem = partProblem(part, field);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function partProblem(part: string, field: CronField): string | undefined {
  const match = /^(?:\*|([A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?)(?:\/(\d+))?$/.exec(part);
  if (match === null) return `"${part}" is no ${field.name} of a cron expression`;
  const [, from, to, step] = match;
  const bounds = [from, to].map((bound) => (bound === undefined ? undefined : numberOf(bound, field)));
  if ((from !== undefined && bounds[0] === undefined) || (to !== undefined && bounds[1] === undefined)) {
    return `"${part}" is no ${field.name}: ${field.lowest} to ${field.highest}${field.names.length > 0 ? ` or ${field.names.join(', ')}` : ''}`;
  }
  const [first, last] = bounds;
  if (first !== undefined && last !== undefined && first > last) return `"${part}" ends before it begins`;
  if (step !== undefined && (Number(step) < 1 || Number(step) > field.highest)) {
    return `"${part}" has a step that the ${field.name} does not have`;
  }
  return undefined;
}

function numberOf(text: string, field: CronField): number | undefined {
  const named = field.names.indexOf(text.toUpperCase());
  if (named >= 0) return named + field.lowest;
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  return value >= field.lowest && value <= field.highest ? value : undefined;
}

/** What is wrong with a time zone; undefined if nothing is. Only `UTC` and region names: `PST` means different things. */
export function timezoneProblem(text: string): { message: string; help: string } | undefined {
  if (text === 'UTC') return undefined;
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => zone.includes('/'));
  if (text.includes('/') && isTimeZone(text)) return undefined;
  const guess = nearest(text, zones) ?? zones.find((zone) => zone.toLowerCase().endsWith(`/${text.toLowerCase()}`));
  return {
    message: `"${text}" is no time zone`,
    help:
      guess === undefined
        ? 'write `UTC` or a region such as `Europe/Berlin`; abbreviations mean different things in different places'
        : `did you mean \`${guess}\`?`,
  };
}
