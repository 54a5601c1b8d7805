import { durationMeant, durationProblem, isDuration, parseDuration } from '../common/index.js';
import { type MappingEntry, type SyntaxNode, isText, nearest } from '../syntax/index.js';
import { cronProblem, timezoneProblem } from './cron.js';
import { plainLetters } from './plain-letters.js';
import { type Report, describe, listed, quoted, valueRange } from './report.js';

/** Says that a value is of the wrong kind: "`timeout` must be a duration, not a list". */
export function wrongKind(entry: MappingEntry, expected: string, report: Report, help: string): void {
  report.error(
    'RS2001',
    valueRange(entry),
    `\`${entry.key.value}\` must be ${expected}, not ${describe(entry.value)}`,
    help,
  );
}

/** The text of a field, or undefined after having said that it is none. */
export function textOf(entry: MappingEntry, expected: string, report: Report): string | undefined {
  const { value } = entry;
  if (isText(value)) return value.value;
  wrongKind(entry, expected, report, textHelp(entry, expected));
  return undefined;
}

function textHelp({ key, value }: MappingEntry, expected: string): string {
  if (value.kind === 'scalar') {
    return value.value === null
      ? `write ${expected} behind \`${key.value}:\``
      : `put it in quotes: "${String(value.value)}"`;
  }
  const [only, second] = value.kind === 'sequence' ? value.items : [];
  if (only?.kind === 'scalar' && second === undefined) return `write \`${key.value}: ${String(only.value)}\``;
  return `write ${expected} on the line of \`${key.value}:\``;
}

export function text(entry: MappingEntry, report: Report): void {
  textOf(entry, 'a text', report);
}

export function note(entry: MappingEntry, report: Report): void {
  if (entry.value.kind !== 'scalar' || entry.value.value !== null) textOf(entry, 'a note', report);
}

const patterns = {
  workflow: {
    rule: /^[A-Za-z][A-Za-z0-9_.-]*$/,
    words: 'the letters A to Z and a to z, digits, `_`, `.` and `-`, beginning with a letter',
  },
  name: {
    rule: /^[A-Za-z_][A-Za-z0-9_.-]*$/,
    words: 'the letters A to Z and a to z, digits, `_`, `.` and `-`, beginning with a letter or `_`',
  },
  identifier: {
    rule: /^[A-Za-z_][A-Za-z0-9_]*$/,
    words: 'the letters A to Z and a to z, digits and `_`, beginning with a letter or `_`',
  },
};

const longestWorkflowName = 128;

export function workflowName(entry: MappingEntry, report: Report): void {
  const value = named(entry, 'a workflow name', 'workflow', report);
  if (value !== undefined && value.length > longestWorkflowName) {
    report.error(
      'RS2010',
      entry.value.range,
      `the name is longer than ${longestWorkflowName} characters`,
      'shorten it',
    );
  }
}

/** A name that is written out: of a handler, a signal, an error, a policy. */
export function name(entry: MappingEntry, expected: string, report: Report): void {
  named(entry, expected, 'name', report);
}

export function identifier(entry: MappingEntry, report: Report): void {
  const value = named(entry, 'a name', 'identifier', report);
  if (value === undefined || !unsafeNames.has(value)) return;
  report.error(
    'RS2010',
    entry.value.range,
    `${quoted(value)} cannot be a name, since every JavaScript object has one of that name`,
    'choose another name',
  );
}

function named(
  entry: MappingEntry,
  expected: string,
  pattern: keyof typeof patterns,
  report: Report,
): string | undefined {
  const value = textOf(entry, expected, report);
  if (value === undefined || patterns[pattern].rule.test(value)) return value;
  report.error('RS2010', entry.value.range, `${quoted(value)} is not ${expected}`, nameHelp(entry, value, pattern));
  return undefined;
}

function nameHelp({ key }: MappingEntry, value: string, pattern: keyof typeof patterns): string {
  if (pattern === 'identifier' && /^\$\w+$/.test(value))
    return `write \`${key.value}: ${value.slice(1)}\`, without \`$\``;
  if (/^=|^\$|\{/.test(value)) return 'such names are written out, never computed: choose between them with `branch`';
  if (key.value === 'waitFor' && isDuration(durationMeant(value) ?? value))
    return `to wait for a time write \`sleep: ${durationMeant(value) ?? value}\``;
  if (key.value === 'retry' && /\d/.test(value))
    return `write \`retry: { attempts: ${/\d+/.exec(value)?.[0] ?? '3'} }\``;
  const file = /([^/\\]+)\.(ya?ml|json)$/.exec(value)?.[1];
  const meant = mendedName(file ?? value, key.value === 'fail', pattern);
  if (meant === undefined) return `it may have ${patterns[pattern].words}`;
  if (file !== undefined) return `write the name that stands in the file behind \`workflow:\`, such as \`${meant}\``;
  return `write \`${meant}\`${key.value === 'fail' ? '; words for people stand in `message`' : ''}`;
}

/** `manager-approval` for "manager approval", `NotEnoughStock` for the error "Not enough stock". */
function mendedName(value: string, isError: boolean, pattern: keyof typeof patterns): string | undefined {
  const words = plainLetters(value)
    .split(/[^A-Za-z0-9_.-]+/)
    .filter((word) => word !== '');
  const joint = pattern === 'identifier' ? '_' : '-';
  const name = isError ? words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') : words.join(joint);
  return patterns[pattern].rule.test(name) && name.length <= 40 ? name : undefined;
}

/** Names that are keys: of branches, constants, retry policies. */
export function keyName(entry: MappingEntry, what: string, pattern: 'name' | 'identifier', report: Report): void {
  const { key } = entry;
  if (patterns[pattern].rule.test(key.value)) return;
  report.error(
    'RS2010',
    key.range,
    `${quoted(key.value)} is no name of a ${what}`,
    `it may have ${patterns[pattern].words}`,
  );
}

/** Members of every JavaScript object: as names of outputs they would be lost or do harm. The parser refuses them as keys. */
const unsafeNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export function id(entry: MappingEntry, report: Report): void {
  const value = textOf(entry, 'an id', report);
  if (value === undefined) return;
  if (unsafeNames.has(value)) {
    report.error(
      'RS2011',
      entry.value.range,
      `${quoted(value)} cannot be an id, since every JavaScript object has one of that name`,
      'choose another name',
    );
  }
  if (patterns.identifier.rule.test(value)) return;
  const mended = mendedId(value);
  const why = value.includes('-') ? `: in a formula \`$steps.${value}\` would be a subtraction` : '';
  const help = mended === undefined ? `it may have ${patterns.identifier.words}` : `write \`${mended}\``;
  report.error('RS2011', entry.value.range, `${quoted(value)} is not an id${why}`, help);
}

/** Undefined where hardly anything of it would be left, as of `承認`. */
function mendedId(value: string): string | undefined {
  const plain = plainLetters(value);
  if (/[^\P{L}A-Za-z]/u.test(plain)) return undefined;
  const mended = plain.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^(?=\d)/, '_');
  return /[A-Za-z0-9]/.test(mended) ? mended : undefined;
}

export function count(entry: MappingEntry, report: Report): void {
  const { value } = entry;
  if (
    value.kind === 'scalar' &&
    typeof value.value === 'number' &&
    Number.isSafeInteger(value.value) &&
    value.value >= 1
  ) {
    return;
  }
  report.error(
    'RS2012',
    valueRange(entry),
    `\`${entry.key.value}\` must be a whole number of at least 1, not ${describe(value)}`,
    countHelp(entry),
  );
}

function countHelp({ key, value }: MappingEntry): string {
  const number = Number(value.kind === 'scalar' && value.value !== null ? value.value : NaN);
  if (isText(value) && /^\d+$/.test(value.value)) return `leave the quotes out: \`${number}\``;
  if (key.value === 'attempts' && number === 0) return 'write 1 for one try that is not repeated';
  if (number <= 0) return 'write 1 or more, or leave it out';
  if (number > 1) return `write \`${Math.floor(number)}\` or \`${Math.ceil(number)}\``;
  const figure = isText(value) ? /\d+/.exec(value.value)?.[0] : undefined;
  return `write a number, such as \`${key.value}: ${figure ?? '3'}\``;
}

export function boolean(entry: MappingEntry, report: Report): void {
  const { value } = entry;
  if (value.kind !== 'scalar' || typeof value.value !== 'boolean') {
    wrongKind(entry, '`true` or `false`', report, booleanHelp(value));
  }
}

/** For `yes`, `"true"`, `On`: the boolean that is meant. */
export function booleanHelp(value: SyntaxNode): string {
  const text = value.kind === 'scalar' ? String(value.value) : '';
  if (/^(true|yes|y|on|1)$/i.test(text)) return 'write `true`';
  return /^(false|no|n|off|0)$/i.test(text) ? 'write `false`' : 'write `true` or `false`';
}

export function oneOf(entry: MappingEntry, words: readonly string[], report: Report): void {
  const { value } = entry;
  if (isText(value) && words.includes(value.value)) return;
  const guess = value.kind === 'scalar' ? wordMeant(String(value.value), words) : undefined;
  const message = `\`${entry.key.value}\` must be ${listed(words)}, not ${describe(value)}`;
  report.error(
    'RS2017',
    valueRange(entry),
    message,
    guess === undefined ? `write for example \`${words[0] ?? ''}\`` : `did you mean \`${guess}\`?`,
  );
}

function wordMeant(given: string, words: readonly string[]): string | undefined {
  const same = Object.hasOwn(sameWords, given.toLowerCase()) ? sameWords[given.toLowerCase()] : undefined;
  return nearest(given, words) ?? same?.find((word) => words.includes(word));
}

/** Words of other tools and of plain speech, with those that say the same here. */
const sameWords: Readonly<Record<string, readonly string[]>> = {
  fixed: ['constant'],
  static: ['constant'],
  none: ['constant'],
  double: ['exponential'],
  ignore: ['continue', 'wait'],
  skip: ['continue'],
  proceed: ['continue', 'wait'],
  continue: ['wait'],
  fail: ['stop', 'abort'],
  break: ['stop', 'abort'],
  halt: ['stop', 'abort'],
  stop: ['abort'],
  cancel: ['abort'],
  both: ['all'],
  every: ['all'],
  first: ['any'],
  one: ['any'],
  race: ['any'],
  some: ['any'],
  enqueue: ['queue'],
  wait: ['queue'],
  buffer: ['queue'],
  parallel: ['allow'],
  concurrent: ['allow'],
  forbid: ['skip'],
  drop: ['skip'],
};

/** A date, with or without a time. */
function isTimestamp(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?$/.test(text);
}

export interface DurationRules {
  /** Whether `never` may stand here. */
  readonly never?: boolean;
  /** Whether no time at all makes sense here, as for the delay between two tries. */
  readonly zero?: boolean;
}

export function duration(entry: MappingEntry, rules: DurationRules, report: Report): void {
  const { key, value } = entry;
  if (value.kind === 'scalar' && typeof value.value === 'number') {
    const number = String(value.value);
    report.error(
      'RS2013',
      value.range,
      `\`${key.value}: ${number}\` has no unit: which is meant?`,
      unitHelp(key.value, number),
    );
    return;
  }
  if (value.kind === 'mapping' && value.entries.some((each) => each.key.value === 'until')) {
    const help = '`{ until: … }` is for `sleep` and for the `timeout` of `waitFor`';
    report.error('RS2015', key.range, `\`${key.value}\` must be a duration, not a point in time`, help);
    return;
  }
  const given = textOf(entry, rules.never === true ? 'a duration or `never`' : 'a duration', report);
  if (given !== undefined) durationText(entry, given, rules, report);
}

function durationText(entry: MappingEntry, given: string, rules: DurationRules, report: Report): void {
  const { range } = entry.value;
  const key = entry.key.value;
  if (given === 'never') {
    if (rules.never !== true)
      report.error('RS2015', range, `\`${key}\` cannot be \`never\``, 'write a duration, such as `15m`');
    return;
  }
  const problem = durationProblem(given);
  if (problem !== undefined) {
    const bare = /^\d+(\.\d+)?$/.test(given);
    const help =
      given.startsWith('=') || given.startsWith('$')
        ? 'durations are written out, never computed'
        : durationHelp(key, given);
    report.error(bare ? 'RS2013' : 'RS2014', range, problem, bare ? unitHelp(key, given) : help);
  } else if (rules.zero !== true && parseDuration(given) === 0) {
    report.error('RS2016', range, `\`${key}: ${given}\` is no time at all`, 'leave it out, or write how long is meant');
  }
}

function durationHelp(key: string, given: string): string {
  if (isTimestamp(given) && (key === 'sleep' || key === 'timeout')) return `write \`${key}: { until: ="${given}" }\``;
  const months = /^(\d+)\s*(mo|month|months|monat|monate)$/i.exec(given)?.[1];
  if (months !== undefined) return `write days, such as \`${Number(months) * 30}d\`: months differ in length`;
  if (/^\d+M$/.test(given)) return `write \`${given.toLowerCase()}\` if minutes are meant`;
  const meant = durationMeant(given) ?? durationMeant(`1 ${given}`);
  return meant === undefined ? 'write for example `30s`, `15m`, `2h30m` or `14d`' : `write \`${meant}\``;
}

function unitHelp(key: string, number: string): string {
  return `write \`${key}: ${number}s\`, \`${number}m\` or \`${number}h\``;
}

export function cron(entry: MappingEntry, report: Report): void {
  const value = textOf(entry, 'a cron expression', report);
  const problem = value === undefined ? undefined : cronProblem(value);
  if (problem !== undefined) {
    const meant = cronMeant(value ?? '');
    const help = meant === undefined ? "`0 7 * * MON-FRI` is seven o'clock on working days" : `write \`${meant}\``;
    report.error('RS2034', entry.value.range, problem, help);
  }
}

/** The entry of a schedule that a text most likely means. */
export function scheduleMeant(text: string): string {
  const [, every] = /^@?every\s+(.+)$/i.exec(text) ?? [];
  const interval = every === undefined ? undefined : isDuration(every) ? every : durationMeant(every);
  if (interval !== undefined) return `{ every: ${interval} }`;
  return `{ cron: "${cronMeant(text) ?? '0 7 * * MON-FRI'}", timezone: UTC }`;
}

/** Short names of cron, times of day, and six fields of which the first is the second. */
function cronMeant(text: string): string | undefined {
  const short = shortCrons[text.trim().toLowerCase()];
  const [, hour, minute] = /(\d{1,2}):(\d{2})/.exec(text) ?? [];
  const fields = text.trim().split(/\s+/);
  const meant =
    short ??
    (hour !== undefined
      ? `${Number(minute)} ${Number(hour)} * * *`
      : fields.slice(fields.length === 6 ? 1 : 0).join(' '));
  return cronProblem(meant) === undefined ? meant : undefined;
}

const shortCrons: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

export function timezone(entry: MappingEntry, report: Report): void {
  const value = textOf(entry, 'a time zone', report);
  const problem = value === undefined ? undefined : timezoneProblem(value);
  if (problem !== undefined) report.error('RS2035', entry.value.range, problem.message, problem.help);
}

/** A field that can only hold a formula giving true or false. Its syntax is checked with that of all formulas. */
export function condition(entry: MappingEntry, report: Report): void {
  const { value } = entry;
  if (isText(value) || (value.kind === 'scalar' && typeof value.value === 'boolean')) return;
  const { value: key } = entry.key;
  const read = key === 'filter' ? '$signal' : key === 'outputMatches' ? '$output' : '$input';
  const help = `write a comparison, such as \`${key}: =${read}.amount > 100\``;
  wrongKind(entry, 'a formula that gives true or false', report, help);
}

export function formula(entry: MappingEntry, report: Report): void {
  const { value } = entry;
  if (isText(value)) return;
  const isNumber = value.kind === 'scalar' && typeof value.value === 'number';
  const help = isNumber ? `write \`=${String(value.value)}\`` : `write \`${entry.key.value}: =…\``;
  wrongKind(entry, 'a formula', report, help);
}
