/**
 * The syntax tree of JSONata, as its parser leaves it, and the one place that knows where the
 * children of a node are. The library's own typings lack half of the node types, hence these.
 */
export interface JsonataNode {
  type: string;
  value?: unknown;
  /** Offset just after the node's own token; absent on nodes that the parser makes up. */
  position?: number;
  lhs?: unknown;
  rhs?: JsonataNode;
  expression?: JsonataNode;
  expressions?: JsonataNode[];
  steps?: JsonataNode[];
  /** Predicates after an expression that is not a path … */
  predicate?: JsonataStage[];
  /** … and those after a step of a path. */
  stages?: JsonataStage[];
  group?: { lhs: [JsonataNode, JsonataNode][]; position?: number };
  terms?: { descending: boolean; expression: JsonataNode }[];
  procedure?: JsonataNode;
  arguments?: JsonataNode[];
  body?: JsonataNode;
  /** A lambda made by the parser around a call in tail position. */
  thunk?: boolean;
  condition?: JsonataNode;
  then?: JsonataNode;
  else?: JsonataNode;
  pattern?: JsonataNode;
  update?: JsonataNode;
  delete?: JsonataNode;
  /** Variables bound by `@$name` and `#$name` on a step. */
  focus?: string;
  index?: unknown;
  /** Of a step whose items carry what they came from along (`@$name`, `#$name`, `%`). */
  ancestor?: unknown;
  tuple?: unknown;
  keepArray?: boolean;
  keepSingletonArray?: boolean;
  /** What Runsheet wants done when this node is evaluated (`rewrite.ts`, `evaluation.ts`). */
  mark?: Mark;
}

export interface JsonataStage {
  type: 'filter' | 'index';
  expr?: JsonataNode;
  value?: unknown;
}

export interface Mark {
  /** The node must have a value; words for the message, such as "the left side of `=`". */
  required?: string;
  /** The body of a lambda: entering it is one call. */
  call?: boolean;
  /** The choice inside a rewritten `??` or `?:`: its condition may be absent. */
  guard?: boolean;
  /** A predicate with another behind it, evaluated as an index, or as a condition: the other kind gives something wrong. */
  beforePredicate?: 'index' | 'condition';
  /** One of several siblings that JSONata would evaluate at the same time; the node that holds them. */
  siblingOf?: object;
}

/** Names that no formula can write (they hold a space): variables that Runsheet adds. */
export const internalName = (name: string): string => ` ${name}`;
export const isInternalName = (name: string): boolean => name.startsWith(' ');

/**
 * `context`: evaluated where the parent is; `items`: evaluated once per item, with that item as the
 * context, so that bare names are its fields (predicates, later steps of a path, sort terms, groupings).
 */
export type ChildRole = 'context' | 'items';

export interface Child {
  node: JsonataNode;
  role: ChildRole;
}

/** The pairs of `{ key: value }`; empty for any other node. */
export function pairsOf(node: JsonataNode): [JsonataNode, JsonataNode][] {
  return node.type === 'unary' && node.value === '{' ? (node.lhs as [JsonataNode, JsonataNode][]) : [];
}

function isNode(value: unknown): value is JsonataNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/**
 * Children in the order in which JSONata evaluates them. Not among them: the parameters of a lambda and
 * the target of `:=`, which are names, not expressions.
 */
export function childrenOf(node: JsonataNode): Child[] {
  const children: Child[] = [];
  const add = (role: ChildRole, ...nodes: unknown[]): void => {
    for (const child of nodes) if (isNode(child)) children.push({ node: child, role });
  };
  add('context', node.procedure);
  if (node.type !== 'lambda') add('context', ...(node.arguments ?? []));
  if (node.type !== 'bind') add('context', node.lhs);
  add('context', node.rhs, node.expression, ...(node.expressions ?? []), ...pairsOf(node).flat());
  add('context', node.condition, node.then, node.else, node.body);
  node.steps?.forEach((step, index) => add(index === 0 ? 'context' : 'items', step));
  for (const term of node.terms ?? []) add('items', term.expression);
  add('items', node.pattern, node.update, node.delete);
  for (const stage of [...(node.predicate ?? []), ...(node.stages ?? [])]) add('items', stage.expr);
  if (node.group) add('items', ...node.group.lhs.flat());
  return children;
}

/** The name, without `$`, of the function that a call calls by name. */
export function calledName(node: JsonataNode | undefined): string | undefined {
  if (node === undefined || (node.type !== 'function' && node.type !== 'partial')) return undefined;
  const { procedure } = node;
  return procedure?.type === 'variable' ? String(procedure.value) : undefined;
}
