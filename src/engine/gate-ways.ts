import {
  type Body,
  type Definition,
  type Items,
  type WaitForItem,
  bodiesOf,
  itemKey,
  isLoop,
} from '../definition/index.js';
import type { InboxView, JournalRow } from '../storage/index.js';

/** One list on the way to a gate. */
interface Level {
  /** The item that it is a body of, and which; undefined for a list of the run itself. */
  readonly around: { readonly key: string; readonly body: Body } | undefined;
  /** Items of the list after that which leads to the gate: once one of them has begun, all before it is over. */
  readonly later: readonly string[];
}

/** The way to a gate, as far as it is outside of loops: inside, it may be come to again. */
export interface GateWay {
  readonly key: string;
  readonly item: WaitForItem;
  readonly inLoop: boolean;
  readonly section: 'steps' | 'onFailure' | 'finally';
  readonly levels: readonly Level[];
}

export function waysToGates({ document }: Definition, name: string): GateWay[] {
  const ways: GateWay[] = [];
  for (const section of ['steps', 'onFailure', 'finally'] as const) {
    const walk = (
      list: Items,
      prefix: string,
      around: Level['around'],
      outer: readonly Level[],
      inLoop: boolean,
    ): void => {
      const keys = list.map((item, index) => itemKey(item, `${prefix}${index}`));
      for (const [index, item] of list.entries()) {
        const key = keys[index] ?? '';
        const levels = inLoop ? outer : [...outer, { around, later: keys.slice(index + 1) }];
        if ('waitFor' in item && item.waitFor === name) ways.push({ key, item, inLoop, section, levels });
        for (const body of bodiesOf(item)) {
          const isRepeated = isLoop(item) && body.path[0] === 'do';
          walk(body.list, `${prefix}${index}.${body.segments}`, { key, body }, levels, inLoop || isRepeated);
        }
      }
    };
    walk(document[section] ?? [], section === 'steps' ? '' : `${section}.`, undefined, [], false);
  }
  return ways;
}

/** Items whose entries say whether a gate can still be come to. */
export function itemsOnWay({ key, levels }: GateWay): string[] {
  return [key, ...levels.flatMap(({ around, later }) => (around === undefined ? later : [around.key, ...later]))];
}

/** Whether what is in the journal, or on its way to it, leads past the gate for good. */
export function isClosed({ key, inLoop, section, levels }: GateWay, view: InboxView): boolean {
  const { entries } = view;
  if (section === 'steps' && isBodyOver(view)) return true;
  if (section === 'onFailure' && entries.some((row) => row.kind === 'run-outcome' && statusOf(row) !== 'failed'))
    return true;
  if (!inLoop && entries.some(({ kind, step }) => kind === 'step-skipped' && step === key)) return true;
  return levels.some(
    ({ around, later }) =>
      entries.some(({ step }) => step !== null && later.includes(step)) ||
      (around !== undefined && entries.some((row) => row.step === around.key && leadsPast(row, around.body))),
  );
}

/** From then on the run only undoes what it has done, and does its last steps. */
function isBodyOver({ entries, messages }: InboxView): boolean {
  return (
    messages.some(({ kind }) => kind === 'cancel') ||
    entries.some(
      ({ kind, step, aspect }) =>
        step === null &&
        (kind === 'run-outcome' || kind === 'cancel-requested' || (kind === 'timer-fired' && aspect === 'deadline')),
    )
  );
}

/** Whether an entry of an item says that this body of it is over, or is never begun. */
function leadsPast(row: JournalRow, { path: [what, which] }: Body): boolean {
  const { kind, aspect } = row;
  const isHandling = what === 'onError';
  switch (kind) {
    case 'step-skipped':
      return true;
    case 'scope-aborted':
      return !isHandling;
    case 'timer-fired':
      return !isHandling && aspect === 'deadline';
    case 'scope-ended':
      return what === 'parallel' && aspect === which;
    case 'decision':
      if (aspect === 'arm') return what === 'branch' && valueOf(row) !== which;
      return aspect === 'onError' && (!isHandling || valueOf(row) !== which);
    default:
      return false;
  }
}

function valueOf({ payload }: JournalRow): unknown {
  return (JSON.parse(payload ?? '{}') as { value?: unknown }).value;
}

function statusOf({ payload }: JournalRow): unknown {
  return (JSON.parse(payload ?? '{}') as { status?: unknown }).status;
}
