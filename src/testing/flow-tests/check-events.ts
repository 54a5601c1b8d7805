import type { JsonValue } from '../../common/index.js';
import { type SchemaProblem, firstProblem, inputSchemaOf, problemText } from '../../definition/index.js';
import { type Path, type Range, nodeAt } from '../../syntax/index.js';
import { pathIn, problemRange } from './value-problems.js';
import type { Signal } from './document.generated.js';
import type { FlowUnderTest, NamedItem } from './flow-under-test.js';
import { parseChild } from './places.js';
import { type TestCheck, headOf, meant, pathOf, rangeOf } from './test-check.js';

/** What a test starts the run with. */
export function checkInput(check: TestCheck): void {
  const { root, index, flow, scenario, report } = check;
  const input = scenario.input ?? (scenario.input === null ? null : {});
  const problem = firstProblem(inputSchemaOf(flow.document), input, { fillDefaults: true });
  const refused = scenario.expect?.refused === 'ValidationError';
  if (refused) {
    if (problem !== undefined) return;
    const help = 'leave `refused` out, or give an input that does not fit';
    const message = 'the input fits, so the start is not refused';
    report.error('RS6033', rangeOf(root, ['tests', index, 'expect', 'refused']), message, help);
    return;
  }
  if (problem === undefined) return;
  const message = `the input does not fit ${flow.definition.name}: ${problemText(problem)}`;
  const help = 'where that is what is tested, expect `refused: ValidationError`';
  report.error('RS6030', inputRange(check, problem), message, help);
}

/** Where the field of a merged input is written; a field that is written nowhere is missing in the test. */
function inputRange(check: TestCheck, problem: SchemaProblem): Range {
  const { root, index, scenario } = check;
  const path = pathIn(scenario.input ?? {}, problem.path);
  const own: Path = ['tests', index, 'input'];
  const [field] = path;
  if (field === undefined) return headOf(root, nodeAt(root, own) === undefined ? ['tests', index, 'name'] : own);
  const holder = nodeAt(root, [...own, field]) === undefined ? ['defaults', 'input'] : own;
  return problemRange(root, [...holder, ...path], problem);
}

export function checkSignals(check: TestCheck): void {
  const { scenario, flow, children, root, report } = check;
  const path = pathOf(check, 'signals');
  for (const [index, signal] of (scenario.signals ?? []).entries()) {
    const place = [...path, index];
    const workflow = signal.to === undefined ? undefined : childWorkflow(signal.to, check);
    if (workflow !== undefined && !flow.children.has(workflow) && !children.has(workflow)) {
      const help = meant(workflow, [...flow.children, ...childSteps(flow)], 'the flow starts none');
      const message = `${flow.definition.name} never starts the workflow \`${workflow}\``;
      report.error('RS6027', rangeOf(root, [...place, 'to']), message, help);
      continue;
    }
    const receiver = workflow === undefined ? flow : children.get(workflow);
    if (receiver !== undefined) checkSignal(signal, place, receiver, check);
  }
}

/** The workflow of the child that a test names: by steps, or by the workflow itself. */
export function childWorkflow(text: string, { flow, children }: Pick<TestCheck, 'flow' | 'children'>): string {
  let parent: FlowUnderTest | undefined = flow;
  let workflow = text;
  for (const { name } of parseChild(text) ?? []) {
    const item: NamedItem | undefined = parent?.items.get(name);
    workflow = item?.isChild === true ? (item.undoneBy ?? name) : name;
    parent = children.get(workflow);
  }
  return workflow;
}

export function childSteps({ items }: FlowUnderTest): string[] {
  return [...items.values()].filter(({ isChild }) => isChild).map(({ id }) => id);
}

function checkSignal(signal: Signal, path: Path, receiver: FlowUnderTest, { root, report }: TestCheck): void {
  const { name, refused } = signal;
  const flow = receiver.definition.name;
  const known = receiver.signals.has(name);
  if (!known) {
    if (refused === 'UnknownSignal') return;
    const help = meant(name, receiver.signals.keys(), 'the flow waits for none');
    report.error('RS6029', rangeOf(root, [...path, 'name']), `${flow} waits for no signal \`${name}\``, help);
    return;
  }
  const schema = receiver.signals.get(name);
  const payload: JsonValue = signal.payload ?? null;
  const problem = schema === undefined ? undefined : firstProblem(schema, payload);
  const cannot = (why: string): void =>
    report.error(
      'RS6033',
      rangeOf(root, [...path, 'refused']),
      `${why}, so it is not refused with \`${refused}\``,
      'leave `refused` out, or send what is refused',
    );
  if (refused === 'UnknownSignal') return cannot(`${flow} waits for \`${name}\``);
  if (refused === 'ValidationError') return problem === undefined ? cannot('the payload fits') : undefined;
  if (problem === undefined) return;
  const at = [...path, ...(signal.payload === undefined ? ['name'] : ['payload', ...pathIn(payload, problem.path)])];
  const range = problemRange(root, at, problem);
  const message = `the payload does not fit the signal \`${name}\`: ${problemText(problem)}`;
  const help = 'where that is what is tested, add `refused: ValidationError`';
  report.error('RS6030', range, message, help);
}
