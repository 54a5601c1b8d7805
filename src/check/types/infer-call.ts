import type { FormulaNode, LambdaNode } from '../../expression/index.js';
import { checkCall, countProblem, usageOf } from './check-call.js';
import { type Applied, givesOneValue, parametersOf, resultOf } from './functions.js';
import type { Inference, Scope } from './infer.js';
import { spreadOf } from './spread.js';
import { type Type, functionType, listOf, union, unknown } from './type.js';

/** What a call gives; `piped` is what `~>` hands it first. */
export function inferCall(
  inference: Inference,
  node: FormulaNode & { callee: FormulaNode; function?: string },
  given: readonly FormulaNode[],
  scope: Scope,
  piped?: { node: FormulaNode; type: Type },
): Type {
  const nodes = piped === undefined ? given : [piped.node, ...given];
  const types = nodes.map((argument) => {
    if (argument === piped?.node) return piped.type;
    // What a lambda is given is known only to the function that it is handed to.
    return argument.kind === 'lambda' && node.function !== undefined ? functionType : inference.infer(argument, scope);
  });
  const applied = new Set<FormulaNode>();
  const apply: Applied = (index, parameters) => {
    const handed = nodes[index];
    if (handed?.kind === 'lambda') {
      applied.add(handed);
      return inferLambda(inference, handed, parameters, scope);
    }
    if (handed?.kind === 'variable' && !handed.own && parametersOf(handed.name) !== undefined) {
      const count = parametersOf(handed.name)?.length ?? 0;
      return resultOf(handed.name, parameters.slice(0, Math.max(1, count)), () => unknown);
    }
    return unknown;
  };
  if (node.function === 'not') inference.needs(scope, ...nodes);
  let result = unknown;
  if (node.function !== undefined) {
    const wrongCount = countProblem(node.function, nodes.length, scope.role === 'items');
    if (wrongCount !== undefined) inference.report('RS3015', 'error', node, wrongCount, usageOf(node.function));
    else {
      checkCall(inference, node.function, nodes, types, scope.role === 'items');
      const left = parametersOf(node.function)?.filter((each) => !each.isOptional).length ?? 0;
      result = nodes.length < left ? unknown : resultOf(node.function, types, apply);
    }
  } else if (!isNameAlone(node.callee)) inference.infer(node.callee, scope);
  for (const argument of nodes) {
    if (argument.kind === 'lambda' && node.function !== undefined && !applied.has(argument))
      inferLambda(inference, argument, [], scope);
  }
  return result;
}

/** `left ~> right`. */
export function inferApply(inference: Inference, left: FormulaNode, right: FormulaNode, scope: Scope): Type {
  const type = inference.infer(left, scope);
  if (type.function || type.anything) {
    // Two functions make a third.
    if (right.kind !== 'call') {
      inference.infer(right, scope);
      return unknown;
    }
    const result = inferCall(inference, right, right.arguments, scope, { node: left, type });
    return type.function ? unknown : result;
  }
  if (right.kind === 'call') return inferCall(inference, right, right.arguments, scope, { node: left, type });
  if (right.kind === 'variable' && !right.own && parametersOf(right.name) !== undefined) {
    const called = { ...right, callee: right, function: right.name };
    return inferCall(inference, called, [], scope, { node: left, type });
  }
  inference.infer(right, scope);
  return unknown;
}

/** What a lambda gives for such arguments. */
export function inferLambda(inference: Inference, node: LambdaNode, given: readonly Type[], scope: Scope): Type {
  const own = new Map(scope.own);
  node.parameters.forEach(({ name }, index) => own.set(name, given[index] ?? unknown));
  const result = inference.infer(node.body, { ...scope, own });
  if (!endsWithCall(node.body) || result.anything) return result;
  // What a call at its end gives, a lambda hands on as JSONata's sequence: also one or no value is a list then.
  const { items, max } = spreadOf(result);
  return union(result, listOf(items, 0, max));
}

/** `count(…)`: no function, which is said elsewhere, and no field either. */
function isNameAlone(node: FormulaNode): boolean {
  return node.kind === 'path' && node.steps.length === 1 && node.steps[0].kind === 'name';
}

/** Whether the value is what a function gives that may give several. */
function endsWithCall(node: FormulaNode): boolean {
  switch (node.kind) {
    case 'call':
      return node.function === undefined || !givesOneValue(node.function);
    case 'conditional':
      return endsWithCall(node.then) || (node.otherwise !== undefined && endsWithCall(node.otherwise));
    case 'block': {
      const last = node.expressions.at(-1);
      return last !== undefined && endsWithCall(last);
    }
    default:
      return false;
  }
}
