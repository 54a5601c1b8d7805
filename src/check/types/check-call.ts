import type { FormulaNode } from '../../expression/index.js';
import { type Parameter, describeParameter, parametersOf } from './functions.js';
import type { Inference } from './infer.js';
import { type Type, describeType, mayBe } from './type.js';

/** What is wrong with the number of arguments; undefined if nothing is. */
export function countProblem(name: string, count: number, hasContext: boolean): string | undefined {
  const parameters = parametersOf(name);
  if (parameters === undefined) return undefined;
  const least = parameters.filter(({ isOptional, fromContext }) => !isOptional && !(fromContext && hasContext)).length;
  const most = parameters.some(({ repeats }) => repeats) ? Infinity : parameters.length;
  if (count >= least && count <= most) return undefined;
  const wanted = least === most ? String(least) : count < least ? `at least ${least}` : `at most ${most}`;
  const arguments_ = wanted.endsWith('1') ? 'argument' : 'arguments';
  return `\`$${name}\` takes ${wanted === '0' ? 'no' : wanted} ${arguments_}, not ${count}`;
}

/** How a function is called: `$pad(text, number, [text])`, what may be left out in brackets. */
export function usageOf(name: string): string {
  const given = (parametersOf(name) ?? []).map((each) => {
    const words = describeParameter(each).replace(/^an? /, '');
    return each.isOptional ? `[${words}]` : words;
  });
  return `it is called as \`$${name}(${given.join(', ')})\`${given.some((each) => each.startsWith('[')) ? '; what is in brackets may be left out' : ''}`;
}

/** Arguments that a function of the language cannot take. */
export function checkCall(
  inference: Inference,
  name: string,
  nodes: readonly FormulaNode[],
  types: readonly Type[],
  hasContext: boolean,
): void {
  const parameters = parametersOf(name) ?? [];
  // With fewer arguments the item at hand is the first, or an optional one is left out: which, the values say.
  if (hasContext && nodes.length < parameters.length && parameters.some(({ fromContext }) => fromContext)) return;
  nodes.forEach((node, index) => {
    const parameter = parameters[Math.min(index, parameters.length - 1)];
    const type = types[index];
    if (parameter === undefined || type === undefined || mayBe(type, parameter.type)) return;
    const message = `\`$${name}\` takes ${describeParameter(parameter)}${position(parameters, index)}, but \`${inference.textOf(node)}\` is ${describeType(type)}`;
    inference.report('RS3014', 'error', node, message, helpFor(name, parameter, type));
  });
}

function position(parameters: readonly Parameter[], index: number): string {
  if (parameters.length < 2) return '';
  return index === 0 ? ' first' : index === 1 ? ' second' : ' third';
}

function helpFor(name: string, parameter: Parameter, type: Type): string {
  if (name === 'length' && type.list !== undefined) return 'the number of items of a list is `$count(…)`';
  if (parameter.type.string !== undefined && (type.number !== undefined || type.boolean))
    return 'make a text of it with `$string(…)`';
  if (parameter.type.number !== undefined && type.string !== undefined && type.list === undefined)
    return 'a number in a text is read by `$number(…)`';
  if (type.list !== undefined && parameter.type.list === undefined)
    return 'for each item of a list write `$map(…, function($item) { … })`';
  return usageOf(name);
}
