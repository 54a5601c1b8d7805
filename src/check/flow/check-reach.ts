import { type Report, listed } from '../../definition/index.js';
import { type MappingEntry, type Range, type Source, type SyntaxNode, entryOf, toValue } from '../../syntax/index.js';
import type { Enclosure, FlowItem, FlowModel } from '../flow-model.js';
import type { Course } from './course.js';
import { constantOf } from './check-conditions.js';
import { withFacts } from './facts.js';
import { constantCondition, implied, valueBy } from './implications.js';

/** Items, arms and handlers that no run comes to. */
export function checkReach(root: SyntaxNode, model: FlowModel, course: Course, source: Source, report: Report): void {
  for (const item of course.unreachable) unreachable(item, course, source, report);
  const output = entryOf(root, 'output');
  if (output !== undefined && !course.ends('steps')) {
    const message = '`output` is never evaluated: no way through `steps` comes to their end';
    report.warning('RS4013', output.key.range, message, 'a `complete` gives an output of its own');
  }
  for (const item of model.items) {
    if (item.verb === 'branch') checkArms(item, source, report);
    if (item.handlers.length > 1) checkHandlers(item, source, report);
  }
}

function unreachable(item: FlowItem, course: Course, source: Source, report: Report): void {
  const culprit = item.siblings.slice(0, item.index).find((each) => !course.passes(each));
  if (culprit === undefined) return;
  const line = lineOf(culprit.node, source);
  const why = ['fail', 'complete', 'rethrow'].includes(culprit.verb)
    ? `nothing after the \`${culprit.verb}\` in line ${line} is run`
    : `no way through the \`${culprit.verb}\` in line ${line} goes on`;
  const { range } = entryOf(item.node, item.verb)?.key ?? item.node;
  const help = 'remove it, or give what ends the flow a `when`';
  report.warning('RS4013', range, `this \`${item.verb}\` is never reached: ${why}`, help);
}

/** Each arm against those before it. An `else` must be there, so that an empty one, or one that only fails, is left alone. */
function checkArms({ bodies }: FlowItem, source: Source, report: Report): void {
  let known = withFacts(undefined, []);
  let always: Enclosure | undefined;
  for (const arm of bodies) {
    const { when } = arm;
    if (always !== undefined) {
      if (when === undefined && arm.items.length === 0) return;
      // Of the condition itself it is said that it always holds.
      if (always.when !== undefined && constantOf(always.when) !== undefined) return;
      const message = `this arm is never taken: the one in line ${lineOf(always.node, source)} always is`;
      report.warning('RS4015', keyOf(arm, ['when', 'else']), message, 'put it before that one, or remove it');
      return;
    }
    if (when === undefined) return;
    const value = constantCondition(when);
    if (value === true) always = arm;
    else if (value === undefined && valueBy(known, when) === false) {
      const others = bodies.slice(0, bodies.indexOf(arm)).map(({ node }) => lineOf(node, source));
      const message = `this arm is never taken: those before it (line ${others.join(', ')}) take all that it would`;
      report.warning('RS4015', keyOf(arm, ['when', 'else']), message, 'put it before them, or remove it');
    }
    known = withFacts(known, implied(when, false));
  }
}

function checkHandlers({ handlers }: FlowItem, source: Source, report: Report): void {
  const taken = new Map<string, Enclosure>();
  let all: Enclosure | undefined;
  for (const handler of handlers) {
    const names = errorsOf(handler);
    const before = all ?? coveringOf(names, taken);
    const isToldOf = before?.when !== undefined && constantOf(before.when) !== undefined;
    if (before !== undefined && !isToldOf) {
      const what = all === undefined && names !== undefined ? listed(names, 'and') : 'every error';
      const message = `this entry is never taken: the one in line ${lineOf(before.node, source)} handles ${what}`;
      report.warning(
        'RS4015',
        keyOf(handler, ['errors', 'when', 'do']),
        message,
        'put it before that one, or remove it',
      );
    }
    if (handler.when !== undefined && constantCondition(handler.when) !== true) continue;
    if (names === undefined || names.includes('*')) all ??= handler;
    for (const name of names ?? []) if (!taken.has(name)) taken.set(name, handler);
  }
}

/** The last of the handlers before that leave nothing to one for these errors. */
function coveringOf(
  names: readonly string[] | undefined,
  taken: ReadonlyMap<string, Enclosure>,
): Enclosure | undefined {
  if (names === undefined || names.length === 0 || !names.every((name) => taken.has(name))) return undefined;
  return taken.get(names.at(-1) ?? '');
}

/** Undefined for one that handles any error. */
function errorsOf({ node }: Enclosure): readonly string[] | undefined {
  const errors = entryOf(node, 'errors')?.value;
  if (errors === undefined) return undefined;
  const value = toValue(errors);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function keyOf({ node }: Enclosure, keys: readonly string[]): Range {
  const entry = keys.map((key) => entryOf(node, key)).find((found): found is MappingEntry => found !== undefined);
  return entry?.key.range ?? node.range;
}

function lineOf({ range }: SyntaxNode, source: Source): number {
  return source.position(range.start).line;
}
