import { canonicalJson } from '../../common/index.js';
import { type Report, quoted } from '../../definition/index.js';
import { type Range, type Source, entryOf, isText, toValue } from '../../syntax/index.js';
import type { FlowItem, FlowModel } from '../flow-model.js';
import type { Course } from './course.js';
import { contradict } from './facts.js';
import type { Sights } from './sight.js';

interface Gate {
  readonly item: FlowItem;
  readonly signal: string;
  /** Of the name of the signal. */
  readonly range: Range;
}

/**
 * All gates of one signal name in a file have the same `schema`, stand all inside or all outside loops, and outside loops
 * at most one of them can be reached in a run.
 */
export function checkGates(model: FlowModel, course: Course, sights: Sights, source: Source, report: Report): void {
  for (const gates of gatesBySignal(model).values()) {
    const [first, ...others] = gates;
    if (first === undefined) continue;
    const isFirstInLoop = isInLoop(first.item);
    for (const gate of others) {
      checkSchema(gate, first, source, report);
      if (isInLoop(gate.item) !== isFirstInLoop) {
        const [here, there] = isFirstInLoop ? ['outside loops', 'inside one'] : ['inside a loop', 'outside loops'];
        const message = `this gate of ${quoted(gate.signal)} stands ${here}, the one in line ${lineOf(first, source)} ${there}`;
        const help = 'a signal belongs to one gate: wait for another signal here';
        report.error('RS4020', gate.range, message, help);
      }
    }
    checkReached(gates, course, sights, source, report);
  }
}

function gatesBySignal({ items }: FlowModel): Map<string, Gate[]> {
  const gates = new Map<string, Gate[]>();
  for (const item of items) {
    const signal = item.verb === 'waitFor' ? entryOf(item.node, 'waitFor')?.value : undefined;
    if (!isText(signal)) continue;
    const gate = { item, signal: signal.value, range: signal.range };
    gates.set(signal.value, [...(gates.get(signal.value) ?? []), gate]);
  }
  return gates;
}

function checkSchema(gate: Gate, first: Gate, source: Source, report: Report): void {
  const [own, other] = [gate, first].map(({ item }) => entryOf(item.node, 'schema'));
  const [text, otherText] = [own, other].map((entry) => entry && canonicalJson(toValue(entry.value)));
  if (text === otherText) return;
  const line = lineOf(first, source);
  const message =
    own === undefined
      ? `this gate of ${quoted(gate.signal)} has no schema, unlike the one in line ${line}`
      : `this schema of ${quoted(gate.signal)} is not that of the gate in line ${line}`;
  const help = 'whoever sends the signal does not know which gate is open: give both the same `schema`';
  report.error('RS4019', own?.key.range ?? gate.range, message, help);
}

function checkReached(gates: readonly Gate[], course: Course, sights: Sights, source: Source, report: Report): void {
  const reached = gates.filter(({ item }) => !isInLoop(item) && course.isReached(item));
  for (const [index, gate] of reached.entries()) {
    const other = reached.slice(0, index).find((each) => canBothBeReached(each.item, gate.item, course, sights));
    if (other === undefined) continue;
    const message = `a run can come to this gate of ${quoted(gate.signal)} after the one in line ${lineOf(other, source)}`;
    const help = 'wait for another signal here, or put the two into different arms of a `branch`';
    report.error('RS4021', gate.range, message, help);
  }
}

function canBothBeReached(some: FlowItem, other: FlowItem, course: Course, sights: Sights): boolean {
  const factsOf = (item: FlowItem) => course.factsAt({ kind: 'field', item });
  return sights.canFollow(some, other) && !contradict(factsOf(some), factsOf(other));
}

function isInLoop({ within }: FlowItem): boolean {
  return within.some(({ kind }) => kind === 'turn' || kind === 'element');
}

function lineOf({ range }: Gate, source: Source): number {
  return source.position(range.start).line;
}
