import type { Definition } from '../../definition/index.js';
import type { HandlerCatalogue } from '../../handlers/index.js';
import { type Diagnostic, type Source, type SyntaxNode } from '../../syntax/index.js';
import { checkAnswers } from './check-answers.js';
import { checkInput, checkSignals } from './check-events.js';
import { checkExpectations } from './check-expectations.js';
import { checkTestFormulas } from './check-formulas.js';
import { checkUsedNames } from './check-names.js';
import { checkPlaces } from './check-places.js';
import { checkUnanswered } from './check-unanswered.js';
import type { FlowTestDocument } from './document.generated.js';
import { FlowTestReport } from './flow-test-report.js';
import { flowUnderTest } from './flow-under-test.js';
import { liftedParts } from './scenario.js';
import { type FileCheck, type TestCheck, meant, rangeOf, testChecksOf } from './test-check.js';

export interface FlowTestToCheck {
  readonly source: Source;
  readonly root: SyntaxNode;
  /** What `root` says; its shape has no mistakes. */
  readonly document: FlowTestDocument;
  /** The flow under test. */
  readonly workflow: Definition;
  /** The flows that may be its children, at any depth; of one that is not among them nothing is said. */
  readonly children?: readonly Definition[];
  /** What handlers say of themselves. Absent: nothing is said about what they answer. */
  readonly handlers?: HandlerCatalogue;
}

/** What can be known of flow tests before they run, beyond their shape: all that they name is held against the flow. */
export function checkFlowTest({
  source,
  root,
  document,
  workflow,
  children = [],
  handlers,
}: FlowTestToCheck): Diagnostic[] {
  const report = new FlowTestReport();
  const check: FileCheck = {
    root,
    document,
    flow: flowUnderTest(workflow),
    children: new Map(children.map((child) => [child.name, flowUnderTest(child)])),
    ...(handlers !== undefined && { handlers }),
    report,
  };
  checkTitles(check, source);
  checkUsedNames(check);
  checkAnswers(check);
  checkTestFormulas(check);
  for (const test of testChecksOf(check)) {
    checkLifted(test);
    checkInput(test);
    checkSignals(test);
    checkPlaces(test);
    checkExpectations(test);
  }
  checkUnanswered(check);
  return report.inOrder();
}

/** A default that a test does without is there. */
function checkLifted({ document, root, index, scenario, report }: TestCheck): void {
  const defaults: Readonly<Record<string, unknown>> = {
    ...(document.now !== undefined && { now: document.now }),
    ...document.defaults,
  };
  scenario.without?.forEach((text, at) => {
    const [key, name] = liftedParts(text);
    const value = defaults[key];
    const named = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    if (name === undefined ? value !== undefined : named.includes(name)) return;
    const known = name === undefined ? Object.keys(defaults) : named.map((each) => `${key}.${each}`);
    const help = meant(text, known, 'there are none: leave it out');
    report.error('RS6003', rangeOf(root, ['tests', index, 'without', at]), `the defaults have no \`${text}\``, help);
  });
}

/** Tests are told by their names: in reports, and by `--filter`. */
function checkTitles({ document, root, report }: FileCheck, source: Source): void {
  const first = new Map<string, number>();
  document.tests.forEach(({ name }, index) => {
    const range = rangeOf(root, ['tests', index, 'name']);
    const line = first.get(name);
    if (line === undefined) first.set(name, source.position(range.start).line);
    else report.error('RS6014', range, `the test in line ${line} has this name too`, 'say what is shown by this one');
  });
}
