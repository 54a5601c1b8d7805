import { type JsonataNode, childrenOf, isInternalName } from './jsonata-tree.js';

/** A variable that a formula reads and does not define itself. */
export interface FreeVariable {
  name: string;
  node: JsonataNode;
  /** Whether it is what a call calls: `$name(…)`. */
  called: boolean;
}

/**
 * The free variables of a tree, in the order of evaluation. A formula's own are the parameters of its lambdas,
 * what `:=` binds (seen in the rest of the block, and in lambdas of the same statement, which may be
 * recursive), and what `@$x` and `#$i` bind in the rest of a path.
 */
export function freeVariables(tree: JsonataNode): FreeVariable[] {
  const found: FreeVariable[] = [];

  const visit = (node: JsonataNode, scope: Set<string>, called: boolean): void => {
    if (node.type === 'variable') {
      const name = String(node.value);
      if (!scope.has(name) && !isInternalName(name)) found.push({ name, node, called });
    }
    let inner = scope;
    if (node.type === 'bind') scope.add(String((node.lhs as JsonataNode).value));
    if (node.type === 'block' || node.type === 'path') inner = new Set(scope);
    if (node.type === 'lambda' && !node.thunk) {
      inner = new Set([...scope, ...(node.arguments ?? []).map((parameter) => String(parameter.value))]);
    }
    for (const step of node.steps ?? []) {
      if (step.focus !== undefined) inner.add(step.focus);
      if (typeof step.index === 'string') inner.add(step.index);
      for (const stage of step.stages ?? []) if (stage.type === 'index') inner.add(String(stage.value));
    }
    for (const child of childrenOf(node)) visit(child.node, inner, child.node === node.procedure);
  };

  visit(tree, new Set(), false);
  return found;
}

/** A mention of `$steps.<id>`. */
export interface StepMention {
  id: string;
  /** The node of the id. */
  node: JsonataNode;
}

/** The ids that are named as `$steps.<id>`, and whether `$steps` is used in any other way. */
export function stepMentions(
  tree: JsonataNode,
  free: readonly FreeVariable[],
): { mentions: StepMention[]; all: boolean } {
  const bare = new Set(free.filter(({ name }) => name === 'steps').map(({ node }) => node));
  const mentions: StepMention[] = [];
  const visit = (node: JsonataNode): void => {
    const [first, second] = node.steps ?? [];
    if (first && second?.type === 'name' && bare.has(first) && !first.predicate && !first.focus) {
      bare.delete(first);
      mentions.push({ id: String(second.value), node: second });
    }
    for (const child of childrenOf(node)) visit(child.node);
  };
  visit(tree);
  return { mentions, all: bare.size > 0 };
}
