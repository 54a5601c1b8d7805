import type { HistoryError, ReversalHistory, RunHistory, StepHistory } from '../../engine/index.js';
import { type JsonValue, cutTo, errorText, padEnd, paint, widthOf } from '../../common/index.js';
import { showCommand } from '../next-commands.js';
import {
  type StateName,
  type TreeBody,
  type TreeItem,
  countsText,
  isOpen,
  sectionsOf,
  stateOfStep,
  stateWords,
  treeOf,
  turnsText,
  terminalColors,
} from '../run-tree/index.js';
import { durationText, oneLine, placeText, printedJson, shortJson, timeText } from '../text.js';

export interface TreeOptions {
  /** Nothing is cut or folded. */
  readonly full: boolean;
  readonly color: boolean;
  /** Of the terminal; undefined where lines may be of any length. */
  readonly columns: number | undefined;
  readonly db: string | undefined;
  /** What items that call nothing (`set`, `complete`) came to, by their keys. */
  readonly values: ItemValues;
}

/** In each iteration, in order. */
export type ItemValues = ReadonlyMap<string, readonly { readonly occurrence: string; readonly value: JsonValue }[]>;

interface Row {
  readonly depth: number;
  /** Name, state, attempts, start, duration. */
  readonly cells: readonly string[];
  readonly state: StateName;
  readonly details: readonly string[];
}

/** More turns than these are counted; those that failed or are open are shown all the same, so many of them. */
const mostTurns = 10;

/** What went wrong, whether it was handled or not. */
const needsAttention: ReadonlySet<StateName> = new Set(['failed', 'handled', 'stuck']);

/** The items that a run has come to, as a tree in the order of the flow. */
export function stepTree(history: RunHistory, options: TreeOptions): string {
  const rows = stepRows(history, options);
  return rows.length === 0 ? '' : `\n${render(['STEP', 'STATE', 'ATTEMPTS', 'STARTED', 'TOOK'], rows, options)}`;
}

export function unwindTable({ reversals }: RunHistory, options: TreeOptions): string {
  if (reversals.length === 0) return '';
  const rows = reversals.map((reversal) => reversalRow(reversal, options));
  return `\n${render(['UNDOING', 'STATE', 'ATTEMPTS', 'STARTED', 'TOOK'], rows, options)}`;
}

/** Of a flow that is not stored nothing but the order is known. */
function stepRows(history: RunHistory, options: TreeOptions): Row[] {
  const { document, steps, run } = history;
  if (document === null)
    return steps.map((step) =>
      stepRow(step, 0, stateOfStep(step, undefined, undefined, run.endedAt !== null), options),
    );
  return sectionsOf(treeOf(document, history)).flatMap((body) => bodyRows(body, 0, history, options));
}

function bodyRows(body: TreeBody, depth: number, history: RunHistory, options: TreeOptions): Row[] {
  return body.items.flatMap((item) => itemRows(item, depth, history, options));
}

function itemRows(item: TreeItem, depth: number, history: RunHistory, options: TreeOptions): Row[] {
  if (item.state === 'not-reached') return [];
  const reminders = reminderRows(item, depth + 1, history, options);
  const inside = item.bodies.flatMap((body) => {
    const [field, name] = body.path;
    if (field !== 'parallel' || !body.reached) return bodyRows(body, depth + 1, history, options);
    const lane: Row = { depth: depth + 1, cells: [String(name)], state: 'completed', details: [] };
    return [lane, ...bodyRows(body, depth + 2, history, options)];
  });
  return [...ownRows(item, depth, history, options), ...reminders, ...inside];
}

function ownRows(item: TreeItem, depth: number, { run }: RunHistory, options: TreeOptions): Row[] {
  const { steps, key, state, counts } = item;
  if (steps.length === 0) {
    const turns = turnsText(item);
    const words = `${stateWords[state]}${turns === undefined ? '' : `, ${turns}`}`;
    return [{ depth, cells: [key, words], state, details: valueDetails(key, options) }];
  }
  const stated = steps.map((step) => ({ step, state: turnState(step, item, run.endedAt !== null) }));
  if (options.full || steps.length <= mostTurns)
    return stated.map((turn) => stepRow(turn.step, depth, turn.state, options));
  const ofInterest = stated.filter((turn) => isOpen(turn.state) || needsAttention.has(turn.state));
  return [
    { depth, cells: [key, countsText(counts)], state, details: [] },
    ...ofInterest.slice(-mostTurns).map((turn) => stepRow(turn.step, depth + 1, turn.state, options)),
  ];
}

function valueDetails(key: string, options: TreeOptions): string[] {
  const values = options.values.get(key) ?? [];
  const shown = values.slice(options.full ? 0 : -mostTurns);
  return shown.flatMap(({ occurrence, value }) =>
    jsonDetail(values.length === 1 ? 'value' : `#${occurrence}`, value, options),
  );
}

/** Without its unwind, which has a table of its own. */
function turnState(step: StepHistory, { item, counts }: TreeItem, isEnded: boolean): StateName {
  const state = stateOfStep(step, undefined, item, isEnded);
  return state === 'failed' && counts.has('handled') ? 'handled' : state;
}

function reminderRows({ reminders }: TreeItem, depth: number, { run }: RunHistory, options: TreeOptions): Row[] {
  return reminders
    .slice(options.full ? 0 : -mostTurns)
    .map((step) => stepRow(step, depth, stateOfStep(step, undefined, undefined, run.endedAt !== null), options));
}

function stepRow(step: StepHistory, depth: number, state: StateName, options: TreeOptions): Row {
  const { startedAt, endedAt } = step;
  const took = endedAt === undefined || step.kind === 'skipped' ? '' : durationText(endedAt - startedAt);
  const word = state === 'handled' ? stateWords.handled : step.state;
  const cells = [placeText(step.step, step.occurrence), word, attemptsText(step), timeText(startedAt), took];
  return { depth, cells, state, details: stepDetails(step, options) };
}

function attemptsText(calls: object): string {
  const { attempts = 0, interruptions = 0 } = calls as { attempts?: number; interruptions?: number };
  if (attempts === 0) return '';
  return interruptions === 0 ? String(attempts) : `${attempts} (${interruptions} interrupted)`;
}

function stepDetails(step: StepHistory, options: TreeOptions): string[] {
  switch (step.kind) {
    case 'step':
      return [
        ...errorDetail(step.error),
        ...jsonDetail('input', step.input, options),
        ...jsonDetail('output', step.output, options),
      ];
    case 'gate':
      return [`signal  ${step.signal}`, ...jsonDetail('output', step.output, options)];
    case 'child':
      return [
        ...errorDetail(step.error),
        `child   ${step.run} ${step.workflow}, ${step.status ?? 'gone'}`,
        ...(step.status === null ? [] : [`        ${showCommand(step.run, { db: options.db })}`]),
        ...jsonDetail('output', step.output, options),
      ];
    case 'sleep':
    case 'skipped':
      return [];
  }
}

function reversalRow(reversal: ReversalHistory, options: TreeOptions): Row {
  const { step, occurrence, state, startedAt, endedAt, handler, run, why, error, input, output } = reversal;
  const started = startedAt === undefined ? '' : timeText(startedAt);
  const took = startedAt === undefined || endedAt === undefined ? '' : durationText(endedAt - startedAt);
  return {
    depth: 0,
    cells: [placeText(step, occurrence), state, attemptsText(reversal), started, took],
    state: state === 'stuck' ? 'stuck' : state === 'undone' ? 'undone' : 'waiting',
    details: [
      ...errorDetail(error),
      handler === null ? `child   ${run}` : `by      ${handler}`,
      ...(why === undefined ? [] : [`why     ${oneLine(why)}`]),
      ...jsonDetail('input', input, options),
      ...jsonDetail('output', output, options),
    ],
  };
}

function errorDetail(error: HistoryError | undefined): string[] {
  return error === undefined ? [] : [`error   ${errorText(error)}`];
}

function jsonDetail(
  label: string,
  value: Parameters<typeof shortJson>[0] | undefined,
  { full }: TreeOptions,
): string[] {
  if (value === undefined) return [];
  return [`${label.padEnd(7)} ${full ? printedJson(value) : shortJson(value, 160, '--full shows all')}`];
}

/** Columns two spaces apart; below each row of the table what there is to say about it. */
function render(header: readonly string[], rows: readonly Row[], options: TreeOptions): string {
  const all = [
    header,
    ...rows.map(({ depth, cells: [name = '', ...rest] }) => [`${'  '.repeat(depth)}${name}`, ...rest].map(oneLine)),
  ];
  // A state in many words is alone in its line: it does not make the column wide.
  const widths = header.map((_name, column) =>
    Math.max(...all.filter((cells) => column === 0 || cells.length > 2).map((cells) => widthOf(cells[column] ?? ''))),
  );
  const fit = (line: string): string => {
    const whole = line.trimEnd();
    return options.columns === undefined || options.full ? whole : cutTo(whole, options.columns);
  };
  const lines = all.map((cells, index) => {
    const line = fit(cells.map((cell, column) => padEnd(cell, widths[column] ?? 0)).join('  '));
    const row = rows[index - 1];
    return row === undefined || !options.color ? line : colored(line, (widths[0] ?? 0) + 2, cells[1] ?? '', row.state);
  });
  const detailed = rows.flatMap(({ depth, details }, index) => [
    lines[index + 1] ?? '',
    ...details.map((detail) => fit(`${'  '.repeat(depth + 1)}${oneLine(detail)}`)),
  ]);
  return [lines[0] ?? '', ...detailed].map((line) => `${line}\n`).join('');
}

function colored(line: string, at: number, text: string, state: StateName): string {
  const start = line.indexOf(text, Math.min(at, line.length) - 2);
  if (text === '' || start === -1) return line;
  return line.slice(0, start) + paint(text, terminalColors[state]) + line.slice(start + text.length);
}
