import { type BuiltInName, type FunctionDefinition, builtIn, builtInNames, guarded } from './built-ins.js';
import { timeFunctions } from './functions-time.js';
import { linearFunctions } from './functions-linear.js';
import { numberFunctions } from './functions-numbers.js';
import { textFunctions } from './functions-texts.js';

/** The functions that differ from JSONata's, by name: each file of them says why. */
const own: Readonly<Record<string, () => FunctionDefinition>> = {
  ...linearFunctions,
  ...numberFunctions,
  ...textFunctions,
  ...timeFunctions,
};

/** Not offered: `$eval` could do anything, and `$error` is the variable that holds what failed (`fail` is the verb). */
const withheld: ReadonlySet<string> = new Set(['eval', 'error']);

/** Every function that a formula may call, without `$`. */
export const functionNames: ReadonlySet<string> = new Set(
  [...builtInNames, ...Object.keys(own)].filter((name) => !withheld.has(name)).sort(),
);

const definitions = new Map<string, FunctionDefinition>();

/** The guarded definition of a function; undefined where there is none of that name. */
export function functionNamed(name: string): FunctionDefinition | undefined {
  if (!functionNames.has(name)) return undefined;
  let definition = definitions.get(name);
  if (!definition) {
    definition = guarded((own[name] ?? (() => builtIn(name as BuiltInName)))());
    definitions.set(name, definition);
  }
  return definition;
}
