import { type JsonValue, harmless } from '../../common/index.js';
import { type Condition, type Item, type Until, formulaText, verbOf } from '../../definition/index.js';
import type { Label, Line } from './graph.js';

/** Longer formulas and values are cut: the whole text goes along for those who want it. */
const longest = 44;

export function label(text: string, most = longest): Label {
  const line = harmless(text.replace(/\s+/g, ' ').trim());
  const characters = [...line];
  return characters.length <= most
    ? { text: line }
    : {
        text: `${characters
          .slice(0, most - 1)
          .join('')
          .trimEnd()}…`,
        full: line,
      };
}

export function conditionLabel(condition: Condition): Label {
  return label(formulaText(condition));
}

/** What an item is called: its id, else the word that tells most. */
export function titleOf(item: Item): Label {
  if (item.id !== undefined) return label(item.id);
  if ('step' in item) return label(item.step);
  if ('waitFor' in item) return label(`wait for ${item.waitFor}`);
  if ('subWorkflow' in item) return label(item.subWorkflow);
  if ('sleep' in item) return label('sleep');
  if ('fail' in item) return label(`fail: ${item.fail}`);
  if ('forEach' in item) return label('for each');
  return label(words[verbOf(item)]);
}

const words: Readonly<Record<ReturnType<typeof verbOf>, string>> = {
  step: 'step',
  set: 'set',
  group: 'group',
  branch: 'branch',
  parallel: 'in parallel',
  forEach: 'for each',
  doWhile: 'repeat',
  doUntil: 'repeat',
  waitFor: 'wait for',
  sleep: 'sleep',
  subWorkflow: 'workflow',
  pivot: 'point of no return',
  complete: 'complete the run',
  fail: 'fail',
  rethrow: 'the error goes on',
};

/** What there is to know of an item beside its name. */
export function linesOf(item: Item): Line[] {
  return [
    ...(item.when === undefined ? [] : [line('condition', `only if ${formulaText(item.when)}`)]),
    ...verbLines(item).map((text) => line('detail', text)),
    ...('step' in item && item.compensate !== undefined ? [line('undo', `undone by ${item.compensate.step}`)] : []),
  ];
}

function line(role: Line['role'], text: string): Line {
  return { role, ...label(text) };
}

function verbLines(item: Item): string[] {
  if ('step' in item) {
    return [...(item.id === undefined || item.id === item.step ? [] : [item.step]), ...attemptLimits(item)];
  }
  if ('set' in item) return [valueText(item.set)];
  if ('group' in item) return blockLimit(item.timeout);
  if ('branch' in item) return [];
  if ('parallel' in item) return [...joinText(item.join), ...blockLimit(item.timeout)];
  if ('forEach' in item) {
    const { forEach, as = 'item', concurrency = 1, onItemError } = item;
    const list = typeof forEach === 'string' ? formulaText(forEach) : valueText(forEach);
    return [
      `each ${as} of ${list}`,
      ...(concurrency === 1 ? [] : [`${concurrency} at a time`]),
      ...(onItemError === 'continue' ? ['goes on if one fails'] : []),
      ...blockLimit(item.timeout),
    ];
  }
  if ('doWhile' in item) {
    return [`while ${formulaText(item.doWhile)}`, ...turnLimit(item.maxIterations), ...blockLimit(item.timeout)];
  }
  if ('doUntil' in item) {
    return [`until ${formulaText(item.doUntil)}`, ...turnLimit(item.maxIterations), ...blockLimit(item.timeout)];
  }
  if ('waitFor' in item) return gateLines(item);
  if ('sleep' in item) return [typeof item.sleep === 'string' ? item.sleep : untilText(item.sleep)];
  if ('subWorkflow' in item) {
    return [
      `workflow ${item.subWorkflow}${item.revision === undefined ? '' : ` revision ${item.revision}`}`,
      ...blockLimit(item.timeout),
    ];
  }
  if ('pivot' in item) return item.pivot === null ? [] : [item.pivot];
  if ('complete' in item) return [valueText(item.complete)];
  if ('fail' in item) {
    const message = item.message === undefined ? [] : [formulaText(item.message)];
    return item.id === undefined ? message : [`fail: ${item.fail}`, ...message];
  }
  return item.rethrow === null ? [] : [item.rethrow];
}

function attemptLimits({ timeout, retry }: Extract<Item, { step: string }>): string[] {
  const attempts = typeof retry === 'object' ? retry.attempts : undefined;
  const limits = [
    ...(timeout === undefined || timeout === 'never' ? [] : [`at most ${timeout}`]),
    ...(typeof retry === 'string' ? [`retry ${retry}`] : []),
    ...(attempts === undefined ? [] : [attempts === 1 ? 'one attempt' : `${attempts} attempts`]),
  ];
  return limits.length === 0 ? [] : [limits.join(', ')];
}

function gateLines(gate: Extract<Item, { waitFor: string }>): string[] {
  const { waitFor, timeout, onTimeout, remind, filter } = gate;
  const limit = typeof timeout === 'string' ? timeout : untilText(timeout);
  const otherwise = onTimeout === undefined ? 'fails' : valueText(onTimeout);
  return [
    ...(gate.id === undefined ? [] : [`signal ${waitFor}`]),
    timeout === 'never'
      ? 'without a limit'
      : `${typeof timeout === 'string' ? 'at most ' : ''}${limit}, else ${otherwise}`,
    ...(filter === undefined ? [] : [`that has ${formulaText(filter)}`]),
    ...(remind === undefined ? [] : [`every ${remind.every}: ${remind.step}`]),
  ];
}

function untilText({ until }: Until): string {
  return `until ${formulaText(until)}`;
}

function blockLimit(timeout: string | undefined): string[] {
  return timeout === undefined || timeout === 'never' ? [] : [`at most ${timeout}`];
}

function turnLimit(maxIterations: number | undefined): string[] {
  return maxIterations === undefined ? [] : [`at most ${maxIterations} turns`];
}

function joinText(join: 'all' | 'any' | number | undefined): string[] {
  if (join === undefined || join === 'all') return [];
  return join === 'any' || join === 1 ? ['until the first has completed'] : [`until ${join} have completed`];
}

/** A value as it stands in the file, formulas without their quotes. */
function valueText(value: JsonValue): string {
  if (typeof value === 'string') return formulaText(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, each]) => `${name}: ${valueText(each)}`);
  return `{ ${fields.join(', ')} }`;
}
