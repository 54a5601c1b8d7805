import type { RunHistory } from '../../engine/index.js';
import { type Color, cutTo, errorText, messageText, paint, widthOf } from '../../common/index.js';
import { titleOf } from '../graph/item-labels.js';
import {
  type StateName,
  type TreeBody,
  type TreeItem,
  isOpen,
  leftText,
  sectionsOf,
  stateText,
  treeOf,
  terminalColors,
} from '../run-tree/index.js';
import { commandLines } from '../terminal-text.js';
import { durationText, placeText, shortId } from '../text.js';

/** What a terminal shows of a run while it goes on; children of it below the items that wait for them. */
export interface LiveRun {
  readonly history: RunHistory;
  readonly children: ReadonlyMap<string, LiveRun>;
}

export interface LiveView {
  readonly run: LiveRun;
  /** Commands that would tell it what it waits to be told. */
  readonly advice: readonly string[];
  /** What the command itself has to say: that it is stopping. */
  readonly notice?: string;
}

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
}

interface Line {
  readonly depth: number;
  readonly state: StateName;
  readonly name: string;
  readonly detail: string;
  /** Something in it is still to happen, or went wrong: it is the last to be left out. */
  readonly matters: boolean;
}

/** The lines of the view, cut to the screen. A function of what it is given alone. */
export function renderLive({ run, advice, notice }: LiveView, now: number, screen: Screen): string[] {
  const head = headTexts(run, now, screen.columns).map((text) => cutAndPaint(text, 'bold', screen));
  const foot = [
    ...advice.flatMap((command) => commandLines(command, screen.columns)),
    ...(notice === undefined ? [] : [cutAndPaint(notice, 'yellow', screen)]),
  ];
  const room = Math.max(1, screen.rows - head.length - foot.length);
  const body = fitted(linesOf(run, now, 0), room, now, screen);
  return [...head, ...body, ...foot].slice(0, Math.max(1, screen.rows));
}

/** On less there is no room for more than a line. */
const roomForLines = 50;

/** One line; where that is too long, the state first, then which run it is, then why. */
function headTexts({ history: { run } }: LiveRun, now: number, columns: number): string[] {
  const { workflow, id, key, status, startedAt, endedAt, error } = run;
  const name = key === null ? id : `${id} (${key})`;
  const state = startedAt === null ? status : `${status}  ${durationText((endedAt ?? now) - startedAt)}`;
  const reason = error === null ? [] : [errorText(error)];
  const whole = [workflow, name, state, ...reason].join('  ');
  if (widthOf(whole) <= columns || columns < roomForLines) return [whole];
  return [`${workflow}  ${state}`, ...[name, ...reason].map((text) => `  ${text}`)];
}

function linesOf({ history, children }: LiveRun, now: number, depth: number): Line[] {
  const { document } = history;
  if (document === null) return [];
  const bodies = sectionsOf(treeOf(document, history)).filter(({ path, reached }) => path[0] === 'steps' || reached);
  return bodies.flatMap((body) => bodyLines(body, children, now, depth));
}

function bodyLines(body: TreeBody, children: LiveRun['children'], now: number, depth: number): Line[] {
  return body.items.flatMap((item) => itemLines(item, children, now, depth));
}

/** What was not reached is one line, whatever is in it. */
function itemLines(item: TreeItem, children: LiveRun['children'], now: number, depth: number): Line[] {
  const { state } = item;
  const matters = isOpen(state) || state === 'failed' || state === 'stuck';
  const own = { depth, state, name: titleOf(item.item).text, detail: detailOf(item, now), matters };
  if (state === 'not-reached' || state === 'skipped') return [own];
  const inside = item.bodies
    .filter(({ reached }) => reached)
    .flatMap((body) => [
      ...branchLine(item, body, depth + 1),
      ...bodyLines(body, children, now, branchDepth(item, depth)),
    ]);
  return [own, ...inside, ...childLines(item, children, now, depth + 1)];
}

/** Of several children of one item each is known by its iteration and its id. */
function childLines({ item, steps }: TreeItem, children: LiveRun['children'], now: number, depth: number): Line[] {
  const shown = steps.flatMap((step) => {
    const child = step.kind === 'child' ? children.get(step.run) : undefined;
    return child === undefined ? [] : [{ child, place: placeText(titleOf(item).text, step.occurrence) }];
  });
  if (shown.length < 2) return shown.flatMap(({ child }) => linesOf(child, now, depth));
  return shown.flatMap(({ child, place }) => {
    const { id, status } = child.history.run;
    const state = status === 'running' || status === 'compensating' ? 'running' : 'waiting';
    const own: Line = { depth, state, name: place, detail: `${shortId(id)} ${status}`, matters: true };
    return [own, ...linesOf(child, now, depth + 1)];
  });
}

/** A branch of a `parallel` is known by its name. */
function branchLine({ item }: TreeItem, { path, items }: TreeBody, depth: number): Line[] {
  if (!('parallel' in item) || path[0] !== 'parallel') return [];
  const states = items.map(({ state }) => state);
  const open = states.find((state) => state === 'running') ?? states.find(isOpen);
  const failed = states.find((state) => state === 'failed' || state === 'stuck');
  const state = open ?? failed ?? 'completed';
  return [{ depth, state, name: String(path[1]), detail: '', matters: open !== undefined || failed !== undefined }];
}

function branchDepth({ item }: TreeItem, depth: number): number {
  return 'parallel' in item ? depth + 2 : depth + 1;
}

function detailOf(item: TreeItem, now: number): string {
  const deadline = item.deadline !== undefined && isOpen(item.state) ? leftText(item.deadline, now) : '';
  const [step, another] = item.steps;
  if (item.state === 'running' && step !== undefined && another === undefined && step.kind === 'step') {
    const attempt = step.attempts > 1 ? `, attempt ${step.attempts}` : '';
    const isUndoing = step.state !== 'running';
    return `${isUndoing ? 'undoing' : durationText(now - step.startedAt)}${attempt}${deadline}`;
  }
  if (step === undefined && (item.state === 'running' || item.state === 'waiting') && item.turns === undefined) {
    return deadline.replace(/^, /, '');
  }
  const stuck = item.reversals.find(({ state }) => state === 'stuck');
  if (item.state === 'stuck' && stuck?.error !== undefined) {
    return `${stateText(item, now)}: ${errorText(stuck.error)}`;
  }
  const text = stateText(item, now);
  const known = text === 'completed' || text === 'failed' ? '' : text.replace(/^completed in /, '');
  const error =
    step?.kind === 'step' && (item.state === 'failed' || item.state === 'handled') && another === undefined
      ? step.error
      : undefined;
  return `${known}${error === undefined ? '' : `: ${messageText(error)}`}${deadline}`;
}

/**
 * Leaves lines out until they fit: first what is inside of what is over, then what is over, then what is to come; the
 * first and the last that are left say how many were left out.
 */
function fitted(lines: readonly Line[], room: number, now: number, screen: Screen): string[] {
  let kept = lines.map((line, index) => ({ line, index }));
  const dispensable: readonly ((line: Line) => boolean)[] = [
    ({ depth, state }) => depth > 0 && !isOpen(state) && state !== 'stuck' && state !== 'not-reached',
    ({ matters, state }) => !matters && state !== 'not-reached',
    ({ state }) => state === 'not-reached',
    ({ state }) => state === 'failed',
  ];
  let isCut = false;
  for (const isDispensable of dispensable) {
    let excess = kept.length + (isCut ? 1 : 0) - room;
    if (excess <= 0) break;
    if (!isCut) excess += 1;
    isCut = true;
    const fromEnd = isDispensable({ depth: 0, state: 'not-reached', name: '', detail: '', matters: false });
    const candidates = kept.filter(({ line }) => isDispensable(line));
    const dropped = new Set(
      (fromEnd ? candidates.slice(-excess) : candidates.slice(0, excess)).map(({ index }) => index),
    );
    kept = kept.filter(({ index }) => !dropped.has(index));
  }
  if (kept.length + (isCut ? 1 : 0) > room) kept = kept.slice(0, Math.max(0, room - 1));
  const shown = kept.map(({ line }) => lineText(line, now, screen));
  const left = lines.length - kept.length;
  return left === 0
    ? shown
    : [cutAndPaint(`  … ${left} more ${left === 1 ? 'line' : 'lines'}`, 'faint', screen), ...shown].slice(0, room);
}

const marks: Readonly<Record<StateName, string>> = {
  'not-reached': '·',
  running: '▸',
  waiting: '◦',
  completed: '✓',
  failed: '✗',
  handled: '✗',
  skipped: '–',
  aborted: '×',
  undone: '↶',
  stuck: '!',
};

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Milliseconds for which the spinner stands still. */
const spinnerMs = 100;

function lineText({ depth, state, name, detail }: Line, now: number, screen: Screen): string {
  const mark = state === 'running' ? (spinner[Math.floor(now / spinnerMs) % spinner.length] ?? '') : marks[state];
  const indent = '  '.repeat(depth + 1);
  // The mark is one column wide; colours take none.
  const text = cutTo(`${indent}${mark} ${name}${detail === '' ? '' : `  ${detail}`}`, screen.columns);
  if (!screen.color) return text;
  const head = `${indent}${mark}`;
  return text.startsWith(head)
    ? indent + paint(mark, terminalColors[state]) + faint(text.slice(head.length), name, state)
    : text;
}

/** What is said of an item is fainter than its name; what is not reached is faint as a whole. */
function faint(text: string, name: string, state: StateName): string {
  if (state === 'not-reached' || state === 'skipped') return paint(text, 'faint');
  const end = name.length + 1;
  return text.slice(0, end) + paint(text.slice(end), 'faint');
}

function cutAndPaint(text: string, how: Color, { columns, color }: Screen): string {
  return paint(cutTo(text, columns), color ? how : undefined);
}
