import type { Type } from './type.js';

/** What surrounds a place in a flow, for the formulas there. */
export interface FlowScope {
  /** The types of the variables bound there, each found out when somebody asks. */
  readonly variables: ReadonlyMap<string, () => Type>;
  /** The conditions that have been looked at on the way there: what they mention is guarded. */
  readonly conditions: readonly string[];
}

export function withVariables(scope: FlowScope, variables: Readonly<Record<string, () => Type>>): FlowScope {
  const known = Object.entries(variables).map(([name, type]) => [name, remembered(type)] as const);
  return { ...scope, variables: new Map([...scope.variables, ...known]) };
}

export function withConditions(scope: FlowScope, ...texts: readonly (string | undefined)[]): FlowScope {
  const found = texts.filter((text) => text !== undefined);
  return found.length === 0 ? scope : { ...scope, conditions: [...scope.conditions, ...found] };
}

function remembered(compute: () => Type): () => Type {
  let known: Type | undefined;
  return () => (known ??= compute());
}
