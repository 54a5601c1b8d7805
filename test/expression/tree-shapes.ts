import type { FormulaNode, PathNode, Stage } from '../../src/expression/index.js';
import type { JsonataNode } from '../../src/expression/jsonata-tree.js';
import { pairsOf } from '../../src/expression/jsonata-tree.js';

/** What a tree says, without places, in one text: for comparing our tree with JSONata's. */
export function shapeOf(node: FormulaNode): string {
  const all = (nodes: readonly (FormulaNode | null)[]): string =>
    nodes.map((each) => (each === null ? '?' : shapeOf(each))).join(' ');
  switch (node.kind) {
    case 'literal':
      return JSON.stringify(node.value === 0 ? 0 : node.value);
    case 'regex':
      return 'regex';
    case 'variable':
      return `$${node.name}`;
    case 'context':
      return node.name;
    case 'path':
      return pathShape(node);
    case 'binary':
      return `(${node.operator} ${all([node.left, node.right])})`;
    case 'negate':
      return `(- ${shapeOf(node.operand)})`;
    case 'conditional':
      return `(if ${all([node.condition, node.then, ...(node.otherwise ? [node.otherwise] : [])])})`;
    case 'default':
      return `(${node.operator} ${all([node.left, node.right])})`;
    case 'call':
    case 'partial':
      return `(${node.kind} ${shapeOf(node.callee)} ${all(node.arguments)})`;
    case 'apply':
      return `(~> ${all([node.left, node.right])})`;
    case 'lambda':
      return `(lambda ${node.parameters.map(({ name }) => name).join(',')} ${shapeOf(node.body)})`;
    case 'block':
      return `(block ${all(node.expressions)})`;
    case 'bind':
      return `(:= ${node.name} ${shapeOf(node.value)})`;
    case 'list':
      return `[${all(node.items)}]`;
    case 'range':
      return `(.. ${all([node.from, node.to])})`;
    case 'object':
      return `{${node.pairs.map(({ key, value }) => all([key, value])).join(', ')}}`;
    case 'transform':
      return `(transform ${all([node.pattern, node.update, ...(node.delete ? [node.delete] : [])])})`;
  }
}

const stages = (list: readonly Stage[]): string =>
  list.map((stage) => (stage.kind === 'filter' ? `[${shapeOf(stage.node)}]` : `#${stage.name}`)).join('');

function pathShape({ steps, group }: PathNode): string {
  const parts = steps.map((step) => {
    const hanging = `${step.focus === undefined ? '' : `@${step.focus}`}${stages(step.stages)}`;
    switch (step.kind) {
      case 'name':
        return `.${JSON.stringify(step.name)}${hanging}`;
      case 'expression':
        return `${shapeOf(step.node)}${hanging}`;
      case 'sort':
        return `^(${step.terms.map(({ descending, node }) => `${descending ? '>' : ''}${shapeOf(node)}`).join(', ')})${hanging}`;
      default:
        return step.kind + hanging;
    }
  });
  const grouped = group?.pairs.map(({ key, value }) => `${shapeOf(key)} ${shapeOf(value)}`).join(', ');
  // Wherever in a path `[]` stands, it is the path whose result stays a list.
  const list = steps.some(({ keepsList }) => keepsList) ? '…' : '';
  return parts.join('/') + list + (grouped === undefined ? '' : `{${grouped}}`);
}

/** The same of the tree that JSONata's parser leaves. */
export function shapeOfJsonata(tree: unknown, text: string): string {
  const shape = (node: JsonataNode, isStep = false): string => {
    const all = (...nodes: unknown[]): string => nodes.map((each) => shape(each as JsonataNode)).join(' ');
    const hanging = (): string => {
      const tests = [...(node.predicate ?? []), ...(node.stages ?? [])]
        .map((stage) => (stage.type === 'filter' ? `[${all(stage.expr)}]` : `#${String(stage.value)}`))
        .join('');
      const index = typeof node.index === 'string' ? `#${node.index}` : '';
      const group = node.group?.lhs.map(([key, value]) => all(key, value)).join(', ');
      const keeps = node.type !== 'apply' && (node.keepArray || node.steps?.some(({ keepArray }) => keepArray));
      const focus = node.focus === undefined ? '' : `@${node.focus}`;
      return `${focus}${index}${tests}${keeps && !isStep ? '…' : ''}${group === undefined ? '' : `{${group}}`}`;
    };
    const plain = (): string => {
      switch (node.type) {
        case 'string':
        case 'number':
        case 'value':
          return JSON.stringify(node.value === 0 ? 0 : node.value);
        case 'regex':
          return 'regex';
        case 'variable':
          return `$${String(node.value)}`;
        case 'name':
          return `.${JSON.stringify(node.value)}`;
        case 'wildcard':
        case 'descendant':
        case 'parent':
          return node.type;
        case 'path':
          return (node.steps ?? []).map((step) => shape(step, true)).join('/');
        case 'sort':
          return `^(${(node.terms ?? []).map((term) => `${term.descending ? '>' : ''}${all(term.expression)}`).join(', ')})`;
        case 'binary':
          return `(${String(node.value)} ${all(node.lhs, node.rhs)})`;
        case 'unary':
          if (node.value === '[') return `[${all(...(node.expressions ?? []))}]`;
          if (node.value === '{')
            return `{${pairsOf(node)
              .map((pair) => all(...pair))
              .join(', ')}}`;
          return `(- ${all(node.expression)})`;
        case 'condition': {
          const operator = text.slice((node.position ?? 0) - 2, node.position);
          if (operator === '??' || operator === '?:') return `(${operator} ${all(node.then, node.else)})`;
          return `(if ${all(node.condition, node.then, ...(node.else ? [node.else] : []))})`;
        }
        case 'function':
        case 'partial': {
          const given = (node.arguments ?? []).map((each) => (each.type === 'operator' ? '?' : all(each)));
          return `(${node.type === 'function' ? 'call' : 'partial'} ${all(node.procedure)} ${given.join(' ')})`;
        }
        case 'apply':
          return `(~> ${all(node.lhs, node.rhs)})`;
        case 'lambda':
          if (node.thunk) return all(node.body);
          return `(lambda ${(node.arguments ?? []).map(({ value }) => String(value)).join(',')} ${all(node.body)})`;
        case 'block':
          return `(block ${all(...(node.expressions ?? []))})`;
        case 'bind':
          return `(:= ${String((node.lhs as JsonataNode).value)} ${all(node.rhs)})`;
        case 'transform':
          return `(transform ${all(node.pattern, node.update, ...(node.delete ? [node.delete] : []))})`;
        default:
          throw new Error(`a node of JSONata's that is not known: ${node.type}`);
      }
    };
    return plain() + hanging();
  };
  return shape(tree as JsonataNode);
}
