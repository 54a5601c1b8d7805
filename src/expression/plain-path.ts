import type { JsonValue } from '../common/index.js';

import type { Bindings } from './formula.js';
import type { JsonataNode } from './jsonata-tree.js';
import { isFunctionValue } from './value-names.js';

/** `$variable.name.name`: what most formulas are. */
export interface PlainPath {
  variable: string;
  names: readonly string[];
}

/** Said by a quicker way that met something it does not know: JSONata must do it. */
export const giveUp = Symbol('give up');

export function plainPathOf(node: JsonataNode): PlainPath | undefined {
  if (node.type === 'variable')
    return isPlain(node) && variableName(node) ? { variable: String(node.value), names: [] } : undefined;
  if (node.type !== 'path' || !isPlain(node)) return undefined;
  const [first, ...rest] = node.steps ?? [];
  if (first?.type !== 'variable' || !variableName(first) || !isPlain(first)) return undefined;
  if (!rest.every((step) => step.type === 'name' && isPlain(step))) return undefined;
  return { variable: String(first.value), names: rest.map((step) => String(step.value)) };
}

/** `$` and `$$` are the context, no variables. */
function variableName(node: JsonataNode): boolean {
  return node.value !== '' && node.value !== '$';
}

/** Whether nothing hangs on the node that changes how it is evaluated. */
export function isPlain(node: JsonataNode): boolean {
  return !(
    node.predicate ??
    node.stages ??
    node.group ??
    node.focus ??
    node.index ??
    node.keepArray ??
    node.keepSingletonArray ??
    (node as { tuple?: boolean }).tuple
  );
}

/**
 * Reads the path as JSONata would, without it. Gives up on a list, which JSONata maps over. Paths into a
 * `$result` of null are null (the outcome of the forward step is unknown; its reversal must still run).
 */
export function readPath(path: PlainPath, bindings: Bindings): JsonValue | undefined | typeof giveUp {
  const { variable, names } = path;
  let value: JsonValue | undefined;
  let next = 0;
  if (variable === 'steps') {
    const [id] = names;
    if (id === undefined) return giveUp;
    value = bindings.step(id);
    next = 1;
  } else {
    value = bindings.variable(variable);
    if (variable === 'result' && value === null) return null;
  }
  for (; next < names.length; next++) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) return giveUp;
    const name = names[next] as string;
    if (!Object.hasOwn(value, name) || isFunctionValue(value)) return undefined;
    value = value[name];
  }
  return value;
}
