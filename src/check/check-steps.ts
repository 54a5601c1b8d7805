import { type Report, quoted } from '../definition/index.js';
import { stepReferences } from '../expression/index.js';
import { type Range, type Source, nearest } from '../syntax/index.js';
import type { FlowItem, FlowModel, FormulaUse, Place } from './flow-model.js';

/** Under which names `$steps` knows the items of a file. */
export interface StepNames {
  readonly items: ReadonlyMap<string, FlowItem>;
  /** Names of handlers that several items without an id call, so that the name does not say which is meant. */
  readonly ambiguous: ReadonlyMap<string, readonly FlowItem[]>;
}

/**
 * An item is known by its id; a `step` without one by its handler's name where that is a plain identifier, no explicit
 * id has that name and no other such item exists.
 */
export function stepNamesOf(model: FlowModel): StepNames {
  const items = new Map<string, FlowItem>();
  const byHandler = new Map<string, FlowItem[]>();
  for (const item of model.items) {
    if (item.id !== undefined) {
      if (!items.has(item.id.value)) items.set(item.id.value, item);
    } else if (item.handler !== undefined && /^[A-Za-z_]\w*$/.test(item.handler)) {
      byHandler.set(item.handler, [...(byHandler.get(item.handler) ?? []), item]);
    }
  }
  const ambiguous = new Map<string, FlowItem[]>();
  for (const [name, [first, ...others]] of byHandler) {
    if (first === undefined || items.has(name)) continue;
    if (others.length === 0) items.set(name, first);
    else ambiguous.set(name, [first, ...others]);
  }
  return { items, ambiguous };
}

/** Checks every `$steps.<id>`: that there is such an item, that it can be seen from there, that it can have run. */
export function checkSteps(model: FlowModel, names: StepNames, source: Source, report: Report): void {
  for (const use of model.formulas) {
    for (const { id, start, end } of stepReferences(use.text)) {
      const range = { start: use.node.offsetOf(start), end: use.node.offsetOf(end) };
      checkReference(id, range, use, { model, names, source, report });
    }
  }
}

interface Context {
  readonly model: FlowModel;
  readonly names: StepNames;
  readonly source: Source;
  readonly report: Report;
}

function checkReference(id: string, range: Range, use: FormulaUse, context: Context): void {
  const { model, names, source, report } = context;
  const item = names.items.get(id);
  if (item !== undefined) {
    const problem = unreadable(item, id, use.place);
    if (problem !== undefined) report.error(problem.code, range, problem.message, problem.help);
    return;
  }
  const sharing = names.ambiguous.get(id);
  if (sharing !== undefined) {
    const lines = sharing.map(({ node }) => source.position(node.range.start).line).join(', ');
    const message = `\`$steps.${id}\` could be any of the steps that call \`${id}\` (lines ${lines})`;
    report.error('RS4002', range, message, 'give the step that is meant an `id`');
  } else if (model.reminders.has(id)) {
    report.error('RS4001', range, `\`${id}\` is a reminder, which gives no output`);
  } else if (!model.unplaced.has(id)) {
    unknownStep(id, range, use.place, names, report);
  }
}

function unknownStep(id: string, range: Range, place: Place, names: StepNames, report: Report): void {
  const readable = [...names.items].filter(([name, item]) => unreadable(item, name, place) === undefined);
  const guess = nearest(id, [...readable.map(([name]) => name), ...names.items.keys(), ...names.ambiguous.keys()]);
  const all = readable.map(([name]) => `\`${name}\``);
  const help =
    guess !== undefined
      ? `did you mean \`$steps.${guess}\`?`
      : all.length === 0
        ? 'no step has run before this place that could be read; give one an `id`'
        : `here it can be ${all.slice(0, 8).join(', ')}${all.length > 8 ? ', …' : ''}`;
  report.error('RS4001', range, `there is no step ${quoted(id)}`, help);
}

interface Unreadable {
  readonly code: 'RS4003' | 'RS4004';
  readonly message: string;
  readonly help?: string;
}

/** Why an item cannot be read from a place, whatever happens in the run; undefined if it may be. */
function unreadable(item: FlowItem, id: string, place: Place): Unreadable | undefined {
  if (place.position === undefined) return undefined;
  return hidden(item, id, place) ?? notYet(item, id, place, place.position);
}

/** Turns of a `forEach` and branches of a `parallel` never see one another's steps. */
function hidden(item: FlowItem, id: string, place: Place): Unreadable | undefined {
  for (const enclosure of item.within) {
    const here = place.within.filter((each) => each.item === enclosure.item);
    if (enclosure.kind === 'element' && !here.some(({ kind }) => kind === 'element')) {
      const loop = enclosure.item.id?.value;
      const help =
        loop === undefined ? 'give the `forEach` an `id` and read its list' : `read the list: \`$steps.${loop}\``;
      return {
        code: 'RS4003',
        message: `\`${id}\` runs once for each element, so it cannot be read outside its \`forEach\``,
        help,
      };
    }
    if (enclosure.kind === 'branch' && here.some(({ kind, name }) => kind === 'branch' && name !== enclosure.name)) {
      const message = `\`${id}\` is in the branch \`${enclosure.name}\`, which runs at the same time as this one`;
      return { code: 'RS4003', message, help: 'read it after the `parallel`, or put both into one branch' };
    }
  }
  return undefined;
}

function notYet(item: FlowItem, id: string, place: Place, position: number): Unreadable | undefined {
  const depth = place.within.findLastIndex(
    (each) => each.kind === 'turn' && item.within.some((other) => other.kind === 'turn' && other.item === each.item),
  );
  // In a loop that is around both the last turn has left its outputs.
  if (depth >= 0) return undefined;
  if (item.leaves > position) {
    const inItself = item.enters <= position;
    const message = inItself
      ? `\`${id}\` has no output before it is over`
      : `\`${id}\` comes after this place, so it cannot have run`;
    const help = inItself ? undefined : 'steps run in the order of the file: move one of the two';
    return { code: 'RS4004', message, ...(help !== undefined && { help }) };
  }
  // Arms of one `branch`, or entries of one `onError`: only one of them is taken.
  const otherArm = item.within.some(
    ({ item: owner, kind, name }) =>
      (kind === 'arm' || kind === 'handler') &&
      place.within.some((other) => other.item === owner && other.kind === kind && other.name !== name),
  );
  if (!otherArm) return undefined;
  return { code: 'RS4004', message: `\`${id}\` is in another arm: where this is reached it cannot have run` };
}
