import type { Item, Items } from '../../definition/index.js';
import { type Range, nodeAt } from '../../syntax/index.js';
import { repliesOf } from './check-answers.js';
import { parsePlace } from './places.js';
import { type FileCheck, type TestCheck, headOf, rangeOf, testChecksOf } from './test-check.js';

/** Failures that may end a run before the call that has no answer. */
const before: ReadonlySet<string> = new Set(['ExpressionError', 'ValidationError', 'SecretMissing']);

interface Unanswered {
  readonly handler: string;
  readonly range: Range;
  readonly why: string;
}

/**
 * Handlers that are called for certain and have no answer. Only what is certain is said: the rest the run of the test
 * says when it comes to the call. What the defaults lack is said once, at the first test.
 */
export function checkUnanswered(file: FileCheck): void {
  const found = new Map<string, Unanswered[]>();
  for (const check of testChecksOf(file)) {
    for (const each of unansweredIn(check)) {
      found.set(each.handler, [...(found.get(each.handler) ?? []), each]);
    }
  }
  for (const [handler, [first, ...others]] of found) {
    if (first === undefined) continue;
    const answer = `\`handlers: { ${handler}: { returns: … } }\``;
    const help =
      others.length === 0
        ? `write ${answer}`
        : `write ${answer} in \`defaults\`: ${others.length === 1 ? 'another test lacks it' : `${others.length} other tests lack it`} too`;
    file.report.error('RS6028', first.range, `${first.why} \`${handler}\`, which has no answer`, help);
  }
}

function unansweredIn(check: TestCheck): Unanswered[] {
  const { scenario, root, index } = check;
  const { expect, handlers, otherHandlersAreReal } = scenario;
  if (otherHandlersAreReal || expect?.refused !== undefined) return [];
  const found = new Map<string, Unanswered>();
  const isUnanswered = (handler: string | undefined): handler is string =>
    handler !== undefined && !Object.hasOwn(handlers, handler) && !found.has(handler);
  for (const { handler, why, path } of expectedCalls(check)) {
    if (isUnanswered(handler)) found.set(handler, { handler, why, range: rangeOf(root, path) });
  }
  if (scenario.cancel === undefined && !before.has(expect?.error?.name ?? '')) {
    for (const handler of firstCalls(check)) {
      if (!isUnanswered(handler)) continue;
      const range = nameRange(check, index);
      found.set(handler, { handler, why: 'the run calls', range });
    }
  }
  return [...found.values()];
}

function nameRange({ root }: TestCheck, index: number): Range {
  return nodeAt(root, ['tests', index, 'handlers']) === undefined
    ? rangeOf(root, ['tests', index, 'name'])
    : headOf(root, ['tests', index, 'handlers']);
}

/** Calls without which the expectations cannot hold. */
function expectedCalls({
  flow,
  index,
  scenario,
}: TestCheck): { handler?: string; why: string; path: (string | number)[] }[] {
  const { expect } = scenario;
  if (expect === undefined || expect.refused !== undefined) return [];
  const calls: { handler?: string; why: string; path: (string | number)[] }[] = [];
  const at = (key: string): (string | number)[] => ['tests', index, 'expect', key];
  for (const key of ['ran', 'exactly'] as const) {
    expect[key]?.forEach((text, place) => {
      const item = flow.items.get(parsePlace(text)?.item ?? '');
      if (item?.calls !== undefined)
        calls.push({ handler: item.calls, why: `\`${item.id}\` calls`, path: [...at(key), place] });
    });
  }
  expect.compensated?.forEach((text, place) => {
    const item = flow.items.get(parsePlace(text)?.item ?? '');
    if (item?.undoneBy === undefined || item.isChild) return;
    calls.push({ handler: item.undoneBy, why: `\`${item.id}\` is undone by`, path: [...at('compensated'), place] });
  });
  for (const [handler, count] of Object.entries(expect.calls ?? {})) {
    if (count > 0 && flow.handlers.has(handler))
      calls.push({ handler, why: 'calls are expected of', path: [...at('calls'), handler] });
  }
  return calls;
}

/** The handlers that a run calls before anything can lead it elsewhere. */
function firstCalls(check: TestCheck): string[] {
  const calls: string[] = [];
  walkCertain(check.flow.document.steps, check, calls);
  return calls;
}

/** Follows a list as far as it is run for certain; false where something may lead elsewhere. */
function walkCertain(list: Items, check: TestCheck, calls: string[]): boolean {
  return list.every((item) => walkItem(item, check, calls));
}

function walkItem(item: Item, check: TestCheck, calls: string[]): boolean {
  if (item.when !== undefined) return false;
  if ('step' in item) {
    calls.push(item.step);
    return succeeds(item.step, check);
  }
  if ('set' in item || 'pivot' in item) return true;
  if ('group' in item) return walkCertain(item.group, check, calls) && item.timeout === undefined;
  if ('parallel' in item) {
    // What one branch meets may stop the others, so only their first items are certain.
    for (const branch of Object.values(item.parallel)) walkCertain(branch.slice(0, 1), check, calls);
  }
  return false;
}

/** Whether a handler can do nothing but return, at once. */
function succeeds(handler: string, { scenario }: TestCheck): boolean {
  const script = Object.hasOwn(scenario.handlers, handler) ? scenario.handlers[handler] : undefined;
  if (script === undefined || script === 'real') return false;
  return repliesOf(script).every(
    ({ reply }) => reply.throws === undefined && reply.takes === undefined && reply.when === undefined,
  );
}
