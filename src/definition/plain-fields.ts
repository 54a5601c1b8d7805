import { type MappingEntry, type MappingNode, type ScalarNode, entryOf, isText } from '../syntax/index.js';
import { type Report, describe } from './report.js';
import * as scalar from './scalar-fields.js';
import { checkInputFields, checkSchema } from './schema-fields.js';
import type { FieldKind, PlainKind } from './shapes.js';
import { warnOfFormulas } from './value-fields.js';

type Check = (entry: MappingEntry, report: Report) => void;

const named =
  (expected: string): Check =>
  (entry, report) =>
    scalar.name(entry, expected, report);

const word =
  (...words: string[]): Check =>
  (entry, report) =>
    scalar.oneOf(entry, words, report);

const plainFields: Readonly<Record<PlainKind, Check>> = {
  text: scalar.text,
  note: scalar.note,
  'workflow name': scalar.workflowName,
  child: scalar.workflowName,
  id: scalar.id,
  identifier: scalar.identifier,
  handler: named('the name of a handler'),
  signal: named('the name of a signal'),
  'schedule id': named('the id of a schedule'),
  'error name': raisedError,
  'error names': (entry, report) => errorNames(entry, report, false),
  'catchable error names': (entry, report) => errorNames(entry, report, true),
  count: scalar.count,
  boolean: scalar.boolean,
  join,
  onBranchError: word('abort', 'wait'),
  onItemError: word('stop', 'continue'),
  backoff: word('constant', 'linear', 'exponential'),
  overlap: word('skip', 'queue', 'allow'),
  duration: (entry, report) => scalar.duration(entry, {}, report),
  delay: (entry, report) => scalar.duration(entry, { zero: true }, report),
  limit: (entry, report) => scalar.duration(entry, { never: true }, report),
  cron: scalar.cron,
  timezone: scalar.timezone,
  condition: scalar.condition,
  formula: scalar.formula,
  schema: (entry, report) => checkSchema(entry.value, report),
  'input fields': (entry, report) => {
    const help = 'write each field with its type: `orderId: { type: string }`';
    map(entry, 'a map of fields', report, (node) => checkInputFields(node, report), help);
  },
  labels: (entry, report) => {
    const check = ({ entries }: MappingNode): void => entries.forEach((each) => scalar.text(each, report));
    map(entry, 'a map of texts', report, check, 'write each with its name: `labels: { team: shop }`');
  },
  constants: (entry, report) => {
    const help = 'write each with its name: `approvalLimit: 1000`';
    map(entry, 'a map of values', report, (node) => constants(node, report), help);
  },
  literal: (entry, report) =>
    warnOfFormulas(entry.value, 'the input of a schedule', 'let a step of the workflow compute it', report),
};

export function isPlain(kind: FieldKind): kind is PlainKind {
  return Object.hasOwn(plainFields, kind);
}

export function checkPlainField(kind: PlainKind, entry: MappingEntry, report: Report): void {
  plainFields[kind](entry, report);
}

/** Checks the value if it is a map, and says so if it is none. */
export function map(
  entry: MappingEntry,
  expected: string,
  report: Report,
  check: (node: MappingNode) => void,
  help: string,
): void {
  if (entry.value.kind === 'mapping') check(entry.value);
  else scalar.wrongKind(entry, expected, report, help);
}

/** Says that of two keys only one may be there; true if both are. */
export function exclude(node: MappingNode, keys: readonly [string, string], help: string, report: Report): boolean {
  const found = node.entries.filter(({ key }) => keys.includes(key.value));
  const second = found.length > 1 ? found[1] : undefined;
  if (second === undefined) return false;
  report.error('RS2024', second.key.range, `\`${keys[0]}\` and \`${keys[1]}\` exclude each other`, help);
  return true;
}

/** What only the options of a `parallel` together show. */
export function checkJoin(node: MappingNode, report: Report): void {
  const join = entryOf(node, 'join');
  if (join === undefined) return;
  const value = join.value.kind === 'scalar' ? join.value.value : undefined;
  const branches = entryOf(node, 'parallel')?.value;
  if (typeof value === 'number' && branches?.kind === 'mapping' && value > branches.entries.length) {
    const message = `\`join: ${value}\` is more than the number of branches, ${branches.entries.length}`;
    report.error('RS2020', join.value.range, message, 'write `all`, `any`, or at most the number of branches');
  }
  const onBranchError = entryOf(node, 'onBranchError');
  if (onBranchError !== undefined && value !== 'all') {
    const help = 'leave it out: with `any` or a number a failed branch is only a lost one';
    report.error('RS2024', onBranchError.key.range, '`onBranchError` has a meaning only with `join: all`', help);
  }
}

function join(entry: MappingEntry, report: Report): void {
  const isNumber = entry.value.kind === 'scalar' && typeof entry.value.value === 'number';
  if (isNumber) scalar.count(entry, report);
  else scalar.oneOf(entry, ['all', 'any'], report);
}

function constants({ entries }: MappingNode, report: Report): void {
  for (const entry of entries) {
    scalar.keyName(entry, 'constant', 'identifier', report);
    warnOfFormulas(entry.value, `the constant \`${entry.key.value}\``, 'compute it in a `set`', report);
  }
}

function raisedError(entry: MappingEntry, report: Report): void {
  scalar.name(entry, 'the name of an error', report);
  if (entry.value.kind === 'scalar') notReserved(entry.value, 'raised', 'choose a name of your own', report);
}

function errorNames(entry: MappingEntry, report: Report, catchable: boolean): void {
  const { key, value } = entry;
  if (value.kind !== 'sequence') {
    const one = value.kind === 'scalar' && value.value !== null;
    const help = `write \`${key.value}: [${one ? String(value.value) : 'Timeout'}]\``;
    return scalar.wrongKind(entry, 'a list of names of errors', report, help);
  }
  if (value.items.length === 0) {
    report.error('RS2018', value.range, `\`${key.value}\` names no error`, 'leave it out, or name one');
  }
  for (const item of value.items) {
    if (!isText(item) || item.value === '') {
      const help =
        item.kind === 'scalar' && item.value !== null && item.value !== ''
          ? `put it in quotes: "${String(item.value)}"`
          : `write the name alone: \`${key.value}: [Timeout]\``;
      report.error('RS2001', item.range, `the name of an error must be a text, not ${describe(item)}`, help);
    } else if (catchable) {
      notReserved(item, 'caught or retried', 'what must happen in that case too stands in `finally`', report);
    }
  }
}

function notReserved(node: ScalarNode, verb: string, help: string, report: Report): void {
  if (node.value !== 'Cancelled' && node.value !== 'RunTimeout') return;
  report.error('RS2028', node.range, `\`${node.value}\` cannot be ${verb}: it ends the run`, help);
}
