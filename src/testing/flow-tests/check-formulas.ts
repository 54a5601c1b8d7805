import { analyseFormula, functionNames } from '../../expression/index.js';
import { type Path, isText, nearest, nodeAt } from '../../syntax/index.js';
import { repliesOf } from './check-answers.js';
import { scenariosOf } from './check-names.js';
import type { FileCheck } from './test-check.js';

/** The two kinds of formulas that tests have. */
export function checkTestFormulas(check: FileCheck): void {
  for (const { path, test } of scenariosOf(check)) {
    for (const key of ['handlers', 'children'] as const) {
      const scripts = test[key];
      if (scripts === undefined || scripts === 'real') continue;
      for (const [name, script] of Object.entries(scripts)) {
        for (const each of repliesOf(script)) checkFormula([...path, key, name, ...each.path, 'when'], 'input', check);
      }
    }
  }
  check.document.tests.forEach((_, index) =>
    checkFormula(['tests', index, 'expect', 'outputMatches'], 'output', check),
  );
}

function checkFormula(path: Path, variable: 'input' | 'output', { root, report }: FileCheck): void {
  const node = nodeAt(root, path);
  if (!isText(node)) return;
  for (const problem of analyseFormula(node.value, new Set([variable]))) {
    const range = { start: node.offsetOf(problem.start), end: node.offsetOf(problem.end) };
    const { kind, message, name } = problem;
    if (kind === 'length') continue;
    if (kind === 'syntax') report.error('RS6034', range, message, problem.help);
    else report.error('RS6035', range, message, helpFor(kind, name, variable) ?? problem.help);
  }
}

function helpFor(kind: string, name: string | undefined, variable: string): string | undefined {
  if (name === undefined || kind === 'eval') return undefined;
  if (kind === 'unknown-function') {
    const guess = nearest(name, functionNames);
    return guess && `did you mean \`$${guess}\`?`;
  }
  if (kind === 'bare-name') return `did you mean \`$${variable}.${name}\`?`;
  return `a test knows \`$${variable}\` here, and nothing else`;
}
