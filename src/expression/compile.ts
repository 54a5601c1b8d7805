import type { Formula } from './formula.js';
import { FormulaSyntaxError } from './formula-error.js';
import { functionNamed, functionNames } from './functions.js';
import { directOf } from './direct.js';
import { type Frame, evaluationOf } from './evaluation.js';
import { type ChildRole, type JsonataNode, calledName, childrenOf } from './jsonata-tree.js';
import { type FreeVariable, stepMentions } from './names.js';
import { bodyOf, parseFormula } from './parse.js';
import { plainPathOf } from './plain-path.js';
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
  expression.assign(hook('exit'), (node: JsonataNode, input: unknown, frame: Frame, result: unknown) =>
    evaluationOf(frame).leave(node, input, result),
  );

  // `$sum` by itself is a function, not a path; so is one that is handed over.
  const namesFunction = free.some(({ name, called }) => !called && functionNames.has(name));
  const path = namesFunction ? undefined : plainPathOf(tree);
  return {
    text: body,
    variables: new Set([...used].filter((name) => !functionNames.has(name) && !['steps', '', '$'].includes(name))),
    steps: all ? 'all' : new Set(mentions.map(({ id }) => id)),
    program: {
      expression,
      tree,
      path,
      direct: namesFunction ? undefined : directOf(tree),
      hasTransform,
      writesOnBindings: contains(tree, mayWrite),
    },
  };
}

/** The typings allow text only; JSONata itself takes any key. */
function hook(name: 'entry' | 'exit'): string {
  return Symbol.for(`jsonata.__evaluate_${name}`) as unknown as string;
}

function contains(
  node: JsonataNode,
  test: (node: JsonataNode, role: ChildRole) => boolean,
  role: ChildRole = 'context',
): boolean {
  return (
    test(node, role) ||
    childrenOf(node).some((child) => contains(child.node, test, role === 'items' ? role : child.role))
  );
}

/**
 * JSONata writes on lists: `keepSingleton` for `[]`, and an absent item into an empty list that it groups or
 * takes as the context of `{…}`. And on what it calls: the place of the call, before it sees that it is no function.
 */
function mayWrite(node: JsonataNode, role: ChildRole): boolean {
  if (node.keepArray === true || node.keepSingletonArray === true || node.group !== undefined) return true;
  if (node.type === 'unary' && node.value === '{') return role === 'items';
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
    'write out what is to be computed',
  );
}
