import type { Span } from './spans.js';

/**
 * A formula as its author wrote it, for those who reason about formulas instead of evaluating them. Every node
 * knows its exact place: offsets into the text as it was given, brackets and quotes included.
 */
export type FormulaNode =
  | LiteralNode
  | RegexNode
  | VariableNode
  | ContextNode
  | PathNode
  | BinaryNode
  | NegateNode
  | ConditionalNode
  | DefaultNode
  | CallNode
  | PartialNode
  | ApplyNode
  | LambdaNode
  | BlockNode
  | BindNode
  | ListNode
  | RangeNode
  | ObjectNode
  | TransformNode;

interface Node<K extends string> extends Span {
  readonly kind: K;
}

export interface LiteralNode extends Node<'literal'> {
  readonly value: string | number | boolean | null;
}

export type RegexNode = Node<'regex'>;

export interface VariableNode extends Node<'variable'> {
  /** Without `$`. */
  readonly name: string;
  /** Whether the formula itself gives it its value: a parameter, or a name that `:=`, `@` or `#` binds. */
  own: boolean;
}

/** What the expression is evaluated for: `$` the item at hand, `$$` the outermost one. */
export interface ContextNode extends Node<'context'> {
  readonly name: '$' | '$$';
}

/** Steps from left to right. A name, or an expression with a predicate, is a path of one step. */
export interface PathNode extends Node<'path'> {
  readonly steps: [PathStep, ...PathStep[]];
  /** `{ key: value }` behind the path: its items grouped by key. */
  group?: Group;
}

/** The first step is evaluated where the path stands, each later one for every item of what is left of it. */
export type PathStep = NameStep | ExpressionStep | SortStep | SymbolStep;

/** What may hang on a step. */
interface Step<K extends string> extends Node<K> {
  /** Predicates and positions, in order. Not part of the step's own range. */
  readonly stages: Stage[];
  /** `[]`: the result stays a list, also where it is one item. */
  keepsList: boolean;
  /** The variable that `@$name` gives each item, without leaving the item before it. */
  focus?: string;
}

export interface NameStep extends Step<'name'> {
  readonly name: string;
  /** The name without its quotes. */
  readonly nameSpan: Span;
}

export interface ExpressionStep extends Step<'expression'> {
  readonly node: FormulaNode;
}

export interface SortStep extends Step<'sort'> {
  readonly terms: readonly { readonly descending: boolean; readonly node: FormulaNode }[];
}

/** `*`, `**` and `%`. */
export type SymbolStep = Step<'wildcard' | 'descendant' | 'parent'>;

export type Stage = (Span & { readonly kind: 'filter'; readonly node: FormulaNode }) | (Span & IndexStage);

/** `#$name`: the variable that holds the position of the item. */
interface IndexStage {
  readonly kind: 'index';
  readonly name: string;
}

export interface Group extends Span {
  readonly pairs: readonly Pair[];
}

export interface Pair {
  readonly key: FormulaNode;
  readonly value: FormulaNode;
}

export type BinaryOperator =
  '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'and' | 'or' | '&' | '+' | '-' | '*' | '/' | '%';

export interface BinaryNode extends Node<'binary'> {
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
  readonly left: FormulaNode;
  readonly right: FormulaNode;
}

export interface NegateNode extends Node<'negate'> {
  readonly operand: FormulaNode;
}

/** `condition ? then : otherwise`. */
export interface ConditionalNode extends Node<'conditional'> {
  readonly condition: FormulaNode;
  readonly then: FormulaNode;
  /** Absent: the formula has no value where the condition is false. */
  readonly otherwise?: FormulaNode;
}

/** `left ?? right` where `left` is absent, `left ?: right` where it is not true. */
export interface DefaultNode extends Node<'default'> {
  readonly operator: '??' | '?:';
  readonly operatorSpan: Span;
  readonly left: FormulaNode;
  readonly right: FormulaNode;
}

export interface CallNode extends Node<'call'> {
  /** The name of a function of the language, where it is called by that name. */
  function?: string;
  readonly callee: FormulaNode;
  readonly arguments: readonly FormulaNode[];
}

/** `$f(?, 1)`: a function of what is left open. */
export interface PartialNode extends Node<'partial'> {
  function?: string;
  readonly callee: FormulaNode;
  /** Null where a `?` stands. */
  readonly arguments: readonly (FormulaNode | null)[];
}

/** `left ~> right`. */
export interface ApplyNode extends Node<'apply'> {
  readonly operatorSpan: Span;
  readonly left: FormulaNode;
  readonly right: FormulaNode;
}

export interface LambdaNode extends Node<'lambda'> {
  readonly parameters: readonly (Span & { readonly name: string })[];
  readonly body: FormulaNode;
}

/** `( a; b )`: the value of the last one. */
export interface BlockNode extends Node<'block'> {
  readonly expressions: readonly FormulaNode[];
}

/** `$name := value`. */
export interface BindNode extends Node<'bind'> {
  readonly name: string;
  readonly value: FormulaNode;
}

export interface ListNode extends Node<'list'> {
  readonly items: readonly FormulaNode[];
}

/** `from..to`, an item of a list. */
export interface RangeNode extends Node<'range'> {
  readonly from: FormulaNode;
  readonly to: FormulaNode;
}

export interface ObjectNode extends Node<'object'> {
  readonly pairs: readonly Pair[];
}

/** `| pattern | update, delete |`. */
export interface TransformNode extends Node<'transform'> {
  readonly pattern: FormulaNode;
  readonly update: FormulaNode;
  readonly delete?: FormulaNode;
}

/**
 * `context`: evaluated where the parent is; `items`: evaluated once per item, with that item as the context, so
 * that bare names are its fields (predicates, later steps of a path, sort terms, groupings).
 */
export type FormulaRole = 'context' | 'items';

export interface FormulaChild {
  readonly node: FormulaNode;
  readonly role: FormulaRole;
}

/** The nodes directly inside a node, in the order of the text. */
export function formulaChildren(node: FormulaNode): FormulaChild[] {
  const here = (...nodes: (FormulaNode | null | undefined)[]): FormulaChild[] => {
    const children: FormulaChild[] = [];
    for (const child of nodes) if (child) children.push({ node: child, role: 'context' });
    return children;
  };
  switch (node.kind) {
    case 'literal':
    case 'regex':
    case 'variable':
    case 'context':
      return [];
    case 'path':
      return pathChildren(node);
    case 'binary':
    case 'default':
    case 'apply':
      return here(node.left, node.right);
    case 'negate':
      return here(node.operand);
    case 'conditional':
      return here(node.condition, node.then, node.otherwise);
    case 'call':
    case 'partial':
      return here(node.callee, ...node.arguments);
    case 'lambda':
      return here(node.body);
    case 'block':
      return here(...node.expressions);
    case 'bind':
      return here(node.value);
    case 'list':
      return here(...node.items);
    case 'range':
      return here(node.from, node.to);
    case 'object':
      return here(...node.pairs.flatMap(({ key, value }) => [key, value]));
    case 'transform':
      return here(node.pattern, node.update, node.delete).map(({ node: child }) => ({ node: child, role: 'items' }));
  }
}

function pathChildren({ steps, group }: PathNode): FormulaChild[] {
  const children: FormulaChild[] = [];
  steps.forEach((step, index) => {
    if (step.kind === 'expression') children.push({ node: step.node, role: index === 0 ? 'context' : 'items' });
    if (step.kind === 'sort') for (const term of step.terms) children.push({ node: term.node, role: 'items' });
    for (const stage of step.stages) if (stage.kind === 'filter') children.push({ node: stage.node, role: 'items' });
  });
  for (const { key, value } of group?.pairs ?? []) {
    children.push({ node: key, role: 'items' }, { node: value, role: 'items' });
  }
  // `a{b: c}.d` groups what is left of `a.d`.
  return group === undefined ? children : children.sort((a, b) => a.node.start - b.node.start);
}

/** Visits a node and all below it, each before what is inside it. */
export function walkFormula(
  node: FormulaNode,
  visit: (node: FormulaNode, role: FormulaRole) => void,
  role: FormulaRole = 'context',
): void {
  visit(node, role);
  for (const child of formulaChildren(node)) walkFormula(child.node, visit, role === 'items' ? role : child.role);
}
