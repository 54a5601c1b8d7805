/** Says what a value is, for people: `text "yes"`, `the number 3`, `a list of 2`, `null`. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'absent';
    case 'string':
      return `text ${JSON.stringify(value.length > 40 ? `${value.slice(0, 39)}…` : value)}`;
    case 'number':
      return `the number ${String(value)}`;
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `a list of ${value.length}`;
      return isFunctionValue(value) ? 'a function' : 'an object';
    default:
      return 'a function';
  }
}

/** JSONata's own functions and lambdas are objects with one of these flags. */
export function isFunctionValue(value: unknown): boolean {
  if (typeof value === 'function') return true;
  if (typeof value !== 'object' || value === null) return false;
  const flags = value as { _jsonata_function?: unknown; _jsonata_lambda?: unknown };
  return flags._jsonata_function === true || flags._jsonata_lambda === true;
}

/** An empty sequence is JSONata's way to say "no value" until the node is left. */
export function isAbsent(value: unknown): boolean {
  if (value === undefined) return true;
  if (!Array.isArray(value) || value.length > 0) return false;
  const flags = value as { sequence?: unknown; tupleStream?: unknown };
  return flags.sequence === true && flags.tupleStream !== true;
}
