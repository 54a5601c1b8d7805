import { nodeAt } from '../../syntax/index.js';
import { childSteps, childWorkflow } from './check-events.js';
import type { ExpectedRun } from './document.generated.js';
import { parsePlace } from './places.js';
import type { Scenario } from './scenario.js';
import { type TestCheck, headOf, meant, rangeOf } from './test-check.js';

type Status = NonNullable<ExpectedRun['status']>;

/** What a run in a state cannot have, each with why. */
const impossible: Readonly<Record<'error' | 'output' | 'undoing', { states: readonly Status[]; why: string }>> = {
  error: { states: ['completed', 'waiting', 'sleeping', 'retrying'], why: 'has no error' },
  output: {
    states: ['failed', 'cancelled', 'waiting', 'sleeping', 'retrying', 'compensation-stuck'],
    why: 'has no output',
  },
  undoing: { states: ['completed', 'waiting', 'sleeping', 'retrying'], why: 'has undone nothing' },
};

/** Expectations that no run can meet. */
export function checkExpectations(check: TestCheck): void {
  const { scenario } = check;
  const { expect } = scenario;
  checkCalls(check);
  checkChildren(check);
  if (expect === undefined || expect.refused !== undefined) return;
  const status = expect.status ?? 'completed';
  for (const [key, which] of [
    ['error', 'error'],
    ['output', 'output'],
    ['outputMatches', 'output'],
    ['rollback', 'undoing'],
    ['compensated', 'undoing'],
  ] as const) {
    const value = expect[key];
    const isNone = Array.isArray(value) && value.length === 0;
    if (value === undefined || isNone || !impossible[which].states.includes(status)) continue;
    contradiction(check, key, `a run that is \`${status}\` ${impossible[which].why}`, statusHelp(expect, which));
    // The rest says the same again.
    return;
  }
  checkRan(expect, check);
  if (status === 'cancelled' && (scenario.cancel === undefined || scenario.cancel.refused !== undefined)) {
    contradiction(check, 'status', 'nothing in this test cancels the run', 'write `cancel: { at: … }` beside `expect`');
  }
  if (expect.rollback === 'abandoned' && !abandons(scenario)) {
    const help = 'write `compensation: [{ at: …, decide: abandon }]` beside `expect`';
    contradiction(check, 'rollback', 'nothing in this test abandons the undoing', help);
  }
  if (expect.rollback === 'not-applicable' && (expect.compensated ?? []).length > 0) {
    contradiction(
      check,
      'rollback',
      'where something was undone, `rollback` is not `not-applicable`',
      'write `rollback: completed`',
    );
  }
}

function abandons({ cancel, compensation = [] }: Scenario): boolean {
  const isGivenUp = compensation.some(({ decide, refused }) => decide === 'abandon' && refused === undefined);
  return isGivenUp || (cancel?.compensate === false && cancel.refused === undefined);
}

function statusHelp({ status }: ExpectedRun, which: keyof typeof impossible): string {
  if (status !== undefined || which === 'output') return `leave it out, or write another \`status\``;
  return 'without a `status` the run must have completed: write `status: failed`';
}

function checkRan(expect: ExpectedRun, { root, index, report }: TestCheck): void {
  const ran = new Set([...(expect.ran ?? []), ...(expect.exactly ?? [])].map(itemOf));
  expect.notRan?.forEach((text, at) => {
    if (parsePlace(text)?.occurrence !== undefined || !ran.has(itemOf(text))) return;
    const key = expect.exactly === undefined ? 'ran' : 'exactly';
    const message = `\`${text}\` stands in \`${key}\` too`;
    report.error(
      'RS6036',
      rangeOf(root, ['tests', index, 'expect', 'notRan', at]),
      message,
      'leave one of the two out',
    );
  });
}

function itemOf(text: string): string | undefined {
  return parsePlace(text)?.item;
}

function checkChildren({ root, index, scenario, flow, children, report }: TestCheck): void {
  const { expect } = scenario;
  if (expect === undefined || expect.refused !== undefined) return;
  for (const name of Object.keys(expect.children ?? {})) {
    const workflow = childWorkflow(name, { flow, children });
    if (flow.children.has(workflow) || children.has(workflow)) continue;
    const help = meant(name, [...childSteps(flow), ...flow.children], 'the flow starts none');
    const message = `${flow.definition.name} never starts a child \`${name}\``;
    report.error('RS6027', headOf(root, ['tests', index, 'expect', 'children', name]), message, help);
  }
}

/** Calls of handlers that the flow itself never calls; those of its children are not counted. */
function checkCalls({ root, index, scenario, flow, children, report }: TestCheck): void {
  const { expect } = scenario;
  if (expect === undefined || expect.refused !== undefined) return;
  for (const handler of Object.keys(expect.calls ?? {})) {
    if (flow.handlers.has(handler)) continue;
    const owner = [...children.values()].find(({ handlers }) => handlers.has(handler));
    const help =
      owner === undefined
        ? meant(handler, flow.handlers, 'the flow calls none')
        : `${owner.definition.name} does, and calls of children are not counted`;
    const message = `${flow.definition.name} never calls the handler \`${handler}\``;
    report.error('RS6026', headOf(root, ['tests', index, 'expect', 'calls', handler]), message, help);
  }
}

function contradiction({ root, index, report }: TestCheck, key: string, message: string, help: string): void {
  const path = ['tests', index, 'expect', key];
  const range = nodeAt(root, path)?.kind === 'scalar' && key === 'status' ? rangeOf(root, path) : headOf(root, path);
  report.error('RS6036', range, message, help);
}
