import { type Report, enumerated, quoted } from '../definition/index.js';
import { stepReferences } from '../expression/index.js';
import { type Range, type Source, nearest } from '../syntax/index.js';
import type { Misread } from './check-hyphens.js';
import type { Course } from './flow/course.js';
import { remarkOn } from './flow/explain-sight.js';
import { type Fact, withFacts } from './flow/facts.js';
import { type StepRead, readsOf } from './flow/formula-reads.js';
import { stepsWithPolicy } from './flow/policy-users.js';
import type { Sight, Sights } from './flow/sight.js';
import type { FlowItem, FlowModel, FormulaUse, Place } from './flow-model.js';
import type { StepNames } from './step-names.js';

interface Context {
  readonly model: FlowModel;
  readonly names: StepNames;
  readonly misread: Misread;
  readonly course: Course;
  readonly sights: Sights;
  readonly source: Source;
  readonly report: Report;
}

/** Checks every `$steps.<id>`: that there is such an item, that it can be seen from there, that it has an output there. */
export function checkSteps(context: Context): void {
  const { model, misread } = context;
  for (const use of model.formulas) {
    const reads = readsOf(use);
    if (reads.length === 0) continue;
    const doubted = new Set<string>();
    for (const read of reads) {
      if (misread.get(use)?.some(({ start }) => start === read.start) !== true) checkRead(read, use, doubted, context);
    }
  }
}

function checkRead(read: StepRead, use: FormulaUse, doubted: Set<string>, context: Context): void {
  const { model, names, source, report } = context;
  const { id } = read;
  const range = { start: use.node.offsetOf(read.start), end: use.node.offsetOf(read.end) };
  const item = names.items.get(id);
  if (item !== undefined) {
    const remark = remarkOn(sightOf(item, id, use.place, read.facts, context), item, id, source);
    if (remark === undefined) return;
    // What is never evaluated needs no mending, and one formula is mended once, however often it reads the step.
    const isSoft = remark.code === 'RS4011' || remark.code === 'RS4012';
    if (isSoft && !isReached(use.place, context.course)) return;
    if (remark.code === 'RS4011' && (!read.isNeeded || doubted.has(id))) return;
    doubted.add(id);
    report.error(remark.code, range, remark.message, remark.help);
    return;
  }
  const sharing = names.ambiguous.get(id);
  if (sharing !== undefined) {
    const lines = sharing.map(({ node }) => String(source.position(node.range.start).line));
    const message = `\`$steps.${id}\` could be any of the steps in lines ${enumerated(lines, 'and')}, which call \`${id}\``;
    report.error('RS4002', range, message, 'give the step that is meant an `id`');
  } else if (model.reminders.has(id)) {
    report.error('RS4001', range, `\`${id}\` is a reminder, which gives no output`, 'read a step of the list instead');
  } else if (!model.unplaced.has(id)) {
    unknownStep(id, range, use.place, context);
  }
}

/** A formula of a policy is evaluated for each step that has it: what is worst there counts. */
function sightOf(item: FlowItem, id: string, place: Place, facts: readonly Fact[], context: Context): Sight {
  const { course, sights, model } = context;
  const sightAt = (at: Place): Sight => sights.of(item, id, at, withFacts(course.factsAt(at.standing), facts));
  if (place.standing.kind !== 'policy') return sightAt(place);
  const seen = stepsWithPolicy(model, place.standing.name).map((user) =>
    sightAt({ ...place, within: user.within, standing: { kind: 'field', item: user } }),
  );
  const isNowhere = seen.length > 0 && seen.every(({ kind }) => kind !== 'certain' && kind !== 'maybe');
  const [first] = seen;
  if (first === undefined || isNowhere) return first ?? { kind: 'certain' };
  return seen.find(({ kind }) => kind === 'maybe') ?? { kind: 'certain' };
}

function isReached({ standing }: Place, course: Course): boolean {
  switch (standing.kind) {
    case 'when':
    case 'field':
    case 'turn':
      return course.isReached(standing.item);
    case 'choice':
      return course.isReached(standing.enclosure.item) && !course.untaken.includes(standing.enclosure);
    case 'end':
      return course.ends('steps');
    case 'policy':
      return true;
  }
}

/** Of an id that nothing reads, while many read one that is nearly the same, the id itself is misspelt. */
function misspeltId(read: string, id: string, { model, names, source }: Context): string | undefined {
  const node = names.items.get(id)?.id;
  const reads = model.formulas.flatMap(({ text }) => (text.includes('steps') ? stepReferences(text) : []));
  const isRead = (name: string): number => reads.filter((each) => each.id === name).length;
  if (node === undefined || isRead(id) > 0 || isRead(read) < 2) return undefined;
  return `write \`id: ${read}\` in line ${source.position(node.range.start).line}, where it is \`${id}\`, or \`$steps.${id}\` here`;
}

/** In a file of more steps than these not all are looked at for each name that is none of theirs. */
const mostConsidered = 500;

function unknownStep(id: string, range: Range, place: Place, context: Context): void {
  const { names, sights, report } = context;
  const readable = [...names.items].slice(0, mostConsidered).filter(([name, item]) => {
    const { kind } = sights.of(item, name, place, undefined);
    return kind === 'certain' || kind === 'maybe';
  });
  const guess = nearest(id, [...readable.map(([name]) => name), ...names.items.keys(), ...names.ambiguous.keys()]);
  const all = readable.map(([name]) => `\`${name}\``);
  const help =
    guess !== undefined
      ? (misspeltId(id, guess, context) ?? `did you mean \`$steps.${guess}\`?`)
      : all.length === 0
        ? 'no step has run before this place that could be read; give one an `id`'
        : `here it can be ${all.slice(0, 8).join(', ')}${all.length > 8 ? ', …' : ''}`;
  report.error('RS4001', range, `there is no step ${quoted(id)}`, help);
}
