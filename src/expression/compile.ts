import type { Formula } from './formula.js';
import { FormulaSyntaxError } from './formula-error.js';
import { functionNamed, functionNames } from './functions.js';
import { type Frame, evaluationOf } from './evaluation.js';
import { type JsonataNode, calledName, childrenOf } from './jsonata-tree.js';
import { type FreeVariable, stepMentions } from './names.js';
import { bodyOf, parseFormula } from './parse.js';
import { literalOf, plainPathOf } from './plain-path.js';
import { Spans } from './spans.js';

/** Compiling takes a few tenths of a millisecond, and a file's formulas are compiled for every use of it. */
const cacheSize = 5000;
const cache = new Map<string, Formula>();

/**
 * Compiles a formula, with or without the `=` in front. Cheap for a text that was compiled before.
 * Throws `FormulaSyntaxError`.
 */
export function compileFormula(text: string): Formula {
  const { body } = bodyOf(text);
  const known = cache.get(body);
  const formula = known ?? compile(text);
  // The one used longest ago comes first and goes first.
  if (known) cache.delete(body);
  else if (cache.size >= cacheSize) cache.delete(cache.keys().next().value as string);
  cache.set(body, formula);
  return formula;
}

function compile(text: string): Formula {
  const { body, offset, expression, tree, free } = parseFormula(text);
  refuseEval(free, body, offset);
  const hasTransform = contains(tree, (node) => node.type === 'transform');
  const { mentions, all } = stepMentions(tree, free);

  const used = new Set(free.map(({ name }) => name));
  // JSONata's transform copies with this function.
  if (hasTransform) used.add('clone');
  for (const name of used) {
    const definition = functionNamed(name);
    if (definition) expression.assign(name, definition);
  }
  expression.assign(hook('entry'), (node: JsonataNode, input: unknown, frame: Frame) =>
    evaluationOf(frame).enter(node, input),
  );
  expression.assign(hook('exit'), (node: JsonataNode, _input: unknown, frame: Frame, result: unknown) =>
    evaluationOf(frame).leave(node, result),
  );

  const path = plainPathOf(tree);
  return {
    text: body,
    variables: new Set([...used].filter((name) => !functionNames.has(name) && !['steps', '', '$'].includes(name))),
    steps: all ? 'all' : new Set(mentions.map(({ id }) => id)),
    program: {
      expression,
      tree,
      literal: literalOf(tree),
      path: path && functionNames.has(path.variable) ? undefined : path,
      hasTransform,
      writesOnBindings: contains(
        tree,
        (node) => node.keepArray === true || node.keepSingletonArray === true || callsData(node),
      ),
    },
  };
}

/** The typings allow text only; JSONata itself takes any key. */
function hook(name: 'entry' | 'exit'): string {
  return Symbol.for(`jsonata.__evaluate_${name}`) as unknown as string;
}

function contains(node: JsonataNode, test: (node: JsonataNode) => boolean): boolean {
  return test(node) || childrenOf(node).some((child) => contains(child.node, test));
}

/** JSONata notes the place of a call on what is called, before it sees that it is no function. */
function callsData(node: JsonataNode): boolean {
  return node.type === 'function' && node.procedure?.type !== 'lambda' && !functionNames.has(calledName(node) ?? '');
}

function refuseEval(free: readonly FreeVariable[], body: string, offset: number): void {
  const use = free.find(({ name }) => name === 'eval');
  if (!use) return;
  const token = new Spans(body).tokenEndingAt(use.node.position);
  throw new FormulaSyntaxError(
    '`$eval` is not available: a formula that is made at run time cannot be checked before the run',
    offset + (token?.start ?? 0),
    offset + (token?.end ?? body.length),
  );
}
