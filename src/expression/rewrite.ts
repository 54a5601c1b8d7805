import {
  type ChildRole,
  type JsonataNode,
  type Mark,
  calledName,
  childrenOf,
  internalName,
  pairsOf,
} from './jsonata-tree.js';
import { freeVariables } from './names.js';

/**
 * Makes JSONata's tree into the one that Runsheet evaluates, in place:
 *
 * 1. `a ?? b` and `a ?: b`. JSONata's parser evaluates `a` twice (nested: 2ⁿ times), the first time from a
 *    copy made through JSON, which loses the regular expressions in it. Here `a` is evaluated once, into a
 *    variable of its own.
 * 2. Paths into `$result` are null where it is null itself.
 * 3. Operands that must have a value are marked, outside predicates, later steps, sort terms and groupings.
 * 4. What a computed index gives is taken out of its list before a further predicate, as what a written one gives is.
 * 5. Bodies of lambdas and siblings of `[…]` and `{…}` are marked, so that calls can be counted.
 */
export function rewrite(tree: JsonataNode, text: string): void {
  let defaults = 0;
  const visit = (node: JsonataNode, role: ChildRole): void => {
    if (isDefault(node, text)) evaluateOnce(node, text, internalName(`default ${defaults++}`));
    markCalls(node);
    if (role === 'context') markOperands(node);
    for (const child of childrenOf(node)) visit(child.node, role === 'items' ? 'items' : child.role);
  };
  visit(tree, 'context');
  partPredicates(tree);

  const results = new Set(
    freeVariables(tree)
      .filter(({ name }) => name === 'result')
      .map(({ node }) => node),
  );
  if (results.size > 0) passNullOn(tree, results);
}

/** `??` and `?:` leave no trace in the tree but the place of their token. */
function operatorOf(node: JsonataNode, text: string): string {
  const end = node.position ?? 0;
  return text.slice(Math.max(0, end - 2), end);
}

function isDefault(node: JsonataNode, text: string): boolean {
  return node.type === 'condition' && !node.mark?.guard && ['??', '?:'].includes(operatorOf(node, text));
}

/** Makes the node another one. What hangs on it (predicates, marks) stays. */
function become(node: JsonataNode, other: JsonataNode): void {
  const kept = new Set(['position', 'predicate', 'stages', 'group', 'keepArray', 'mark']);
  for (const key of Object.keys(node)) if (!kept.has(key)) delete (node as unknown as Record<string, unknown>)[key];
  Object.assign(node, other);
}

function evaluateOnce(node: JsonataNode, text: string, name: string): void {
  const left = withoutThunks(node.then as JsonataNode);
  const bind: JsonataNode = { type: 'bind', value: ':=', lhs: { type: 'variable', value: name }, rhs: left };
  const choice: JsonataNode = {
    type: 'condition',
    condition:
      operatorOf(node, text) === '??'
        ? { type: 'function', value: '(', procedure: { type: 'variable', value: 'exists' }, arguments: [bind] }
        : bind,
    then: { type: 'variable', value: name },
    ...(node.else && { else: node.else }),
    mark: { guard: true },
  };
  // A block has variables of its own, and so has each of several evaluations at the same time.
  become(node, { type: 'block', expressions: [choice] });
}

/** `$result.a.b` becomes `$result = null ? null : $result.a.b`. */
function passNullOn(node: JsonataNode, results: ReadonlySet<JsonataNode>): void {
  for (const child of childrenOf(node)) passNullOn(child.node, results);
  const [first] = node.steps ?? [];
  if (!first || !results.has(first)) return;
  const { mark: _, ...path } = node;
  const condition: JsonataNode = {
    type: 'binary',
    value: '=',
    lhs: { type: 'variable', value: 'result' },
    rhs: { type: 'value', value: null },
  };
  delete node.group;
  become(node, {
    type: 'condition',
    condition,
    then: { type: 'value', value: null },
    else: path,
    mark: { ...node.mark, guard: true },
  });
}

/**
 * JSONata leaves the row that `$rows[$i]` gives in a list of one, so that `$rows[$i][0]` is the whole row; with a written
 * index it does not. So `$rows[$i][0]` becomes `($rows[$i])[0]`, unless `$i` is a condition for certain. Where it turns
 * out to be one after all, the list matters again, and `Evaluation.leave` throws.
 */
function partPredicates(node: JsonataNode): void {
  for (const child of childrenOf(node)) partPredicates(child.node);
  for (const key of ['predicate', 'stages'] as const) {
    const predicates = node[key] ?? [];
    const last = predicates.findLastIndex(({ type, expr }, index) => {
      return index < predicates.length - 1 && type === 'filter' && expr !== undefined && mayBeIndex(expr);
    });
    if (last < 0) continue;
    const isTuple = [node.focus, node.index, node.ancestor, node.tuple].some((flag) => flag !== undefined);
    for (const { expr } of predicates.slice(0, last + 1)) {
      if (expr !== undefined && mayBeIndex(expr)) mark(expr, { beforePredicate: isTuple ? 'condition' : 'index' });
    }
    if (isTuple) continue;
    let inner: JsonataNode = withoutPredicates(node);
    predicates.slice(0, last + 1).forEach((predicate, index) => {
      const part = predicates[index - 1]?.expr;
      // One block for each computed index; what else stands before it stays with it.
      if (part !== undefined && mayBeIndex(part)) inner = { type: 'block', expressions: [inner] };
      inner.predicate = [...(inner.predicate ?? []), predicate];
    });
    const rest = predicates.slice(last + 1);
    become(node, { type: 'block', expressions: [inner] });
    node[key] = rest;
  }
}

function withoutPredicates(node: JsonataNode): JsonataNode {
  const { mark: _mark, predicate: _predicate, stages: _stages, group: _group, ...inner } = node;
  return inner;
}

const conditions: ReadonlySet<unknown> = new Set(['=', '!=', '<', '<=', '>', '>=', 'and', 'or', 'in']);
const saysTrueOrFalse: ReadonlySet<unknown> = new Set(['not', 'exists', 'contains', 'boolean']);

/** Whether a predicate is an index that has to be computed, as far as can be seen. */
function mayBeIndex(node: JsonataNode): boolean {
  if (node.type === 'number' || node.type === 'string' || node.type === 'regex') return false;
  if (node.type === 'value') return false;
  if (node.type === 'binary') return !conditions.has(node.value);
  return !saysTrueOrFalse.has(calledName(node));
}

/** Undoes what the parser did to calls in tail position: here the value itself is needed. */
function withoutThunks(node: JsonataNode): JsonataNode {
  if (node.type === 'lambda' && node.thunk && node.body) return node.body;
  if (node.type === 'condition') {
    if (node.then) node.then = withoutThunks(node.then);
    if (node.else) node.else = withoutThunks(node.else);
  }
  if (node.type === 'block' && node.expressions) {
    const last = node.expressions.at(-1);
    if (last) node.expressions[node.expressions.length - 1] = withoutThunks(last);
  }
  return node;
}

function mark(node: JsonataNode | undefined, added: Mark): void {
  if (node) node.mark = { ...node.mark, ...added };
}

function markCalls(node: JsonataNode): void {
  if (node.type === 'lambda' && !node.thunk) mark(node.body, { call: true });
  const siblings =
    node.type === 'unary' && node.value === '[' ? (node.expressions ?? []) : pairsOf(node).map(([, value]) => value);
  if (siblings.length > 1) for (const sibling of siblings) mark(sibling, { siblingOf: node });
  for (const [, value] of node.group?.lhs ?? []) mark(value, { siblingOf: node.group ?? node });
}

const requiringOperators = new Set([
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'and',
  'or',
  '&',
  '+',
  '-',
  '*',
  '/',
  '%',
  '..',
]);

function markOperands(node: JsonataNode): void {
  const { value } = node;
  if (node.type === 'binary' && typeof value === 'string' && requiringOperators.has(value)) {
    mark(node.lhs as JsonataNode, { required: `the left side of \`${value}\`` });
    mark(node.rhs, { required: `the right side of \`${value}\`` });
  } else if (node.type === 'unary' && value === '-') {
    mark(node.expression, { required: 'what `-` is applied to' });
  } else if (node.type === 'condition' && !node.mark?.guard) {
    mark(node.condition, { required: 'the condition of `? :`' });
  } else if (calledName(node) === 'not') {
    for (const argument of node.arguments ?? []) mark(argument, { required: 'the argument of `$not`' });
  } else if (node.type === 'apply' && (calledName(node.rhs) === 'not' || isVariable(node.rhs, 'not'))) {
    mark(node.lhs as JsonataNode, { required: 'the argument of `$not`' });
  }
  for (const [key, content] of pairsOf(node)) {
    mark(key, { required: 'a key of `{…}`' });
    mark(content, { required: key.type === 'string' ? `the value of \`${String(key.value)}\`` : 'a value of `{…}`' });
  }
}

function isVariable(node: JsonataNode | undefined, name: string): boolean {
  return node?.type === 'variable' && node.value === name;
}
