import { type Frame, evaluationOf } from './evaluation.js';
import { loadJsonata } from './libraries.js';

/** `this` of a function that JSONata calls. */
export interface Focus {
  environment: Frame;
  createSequence(...items: unknown[]): unknown[];
}

export type Implementation = (this: Focus, ...args: never[]) => unknown;

/** JSONata's own form of a function. */
export interface FunctionDefinition {
  readonly _jsonata_function: true;
  readonly implementation: Implementation;
  readonly signature?: unknown;
}

/** The functions of JSONata 2.2 itself; `$eval` is among them, and refused where it is compiled. */
export const builtInNames = [
  ...['sum', 'count', 'max', 'min', 'average', 'string', 'substring', 'substringBefore', 'substringAfter'],
  ...['lowercase', 'uppercase', 'length', 'trim', 'pad', 'match', 'contains', 'replace', 'split', 'join'],
  ...['formatNumber', 'formatBase', 'formatInteger', 'parseInteger', 'number', 'floor', 'ceil', 'round', 'abs'],
  ...['sqrt', 'power', 'random', 'boolean', 'not', 'map', 'zip', 'filter', 'single', 'reduce', 'sift', 'keys'],
  ...['lookup', 'append', 'exists', 'spread', 'merge', 'reverse', 'each', 'error', 'assert', 'type', 'sort'],
  ...['shuffle', 'distinct', 'base64encode', 'base64decode', 'encodeUrlComponent', 'encodeUrl'],
  ...['decodeUrlComponent', 'decodeUrl', 'eval', 'toMillis', 'fromMillis', 'clone', 'now', 'millis'],
] as const;

export type BuiltInName = (typeof builtInNames)[number];

/**
 * JSONata exports its functions nowhere but in the frame of an evaluation, which the entry hook sees; and the
 * hook is called before `evaluate` first waits.
 */
function catchFrame(): Frame {
  let caught: Frame | undefined;
  const expression = loadJsonata()('null');
  expression.assign(
    Symbol.for('jsonata.__evaluate_entry') as unknown as string,
    (_node: unknown, _input: unknown, frame: Frame) => {
      caught = frame;
    },
  );
  void expression.evaluate(undefined);
  if (!caught)
    throw new Error('This version of JSONata does not call the entry hook as the one that Runsheet was built for');
  return caught;
}

let frame: Frame | undefined;

/** JSONata's own definition of a function. */
export function builtIn(name: BuiltInName): FunctionDefinition {
  frame ??= catchFrame();
  return frame.lookup(name) as FunctionDefinition;
}

/**
 * Makes a definition of an implementation, in the likeness of another: JSONata reads the number of a
 * function's parameters, and for `$f(?, 1)` their names from its text.
 */
export function define(
  implementation: Implementation,
  like: Pick<FunctionDefinition, 'implementation' | 'signature'>,
): FunctionDefinition {
  const model = like.implementation;
  Object.defineProperty(implementation, 'length', { value: model.length });
  Object.defineProperty(implementation, 'toString', { value: () => String(model) });
  return {
    _jsonata_function: true,
    implementation,
    ...(like.signature === undefined ? {} : { signature: like.signature }),
  };
}

/** JSONata's parsed form of a signature such as `<s-n?:s>`. */
export function signature(text: string): unknown {
  const lambda = loadJsonata()(`function($a)${text}{0}`).ast() as { signature?: unknown };
  return lambda.signature;
}

/** Wraps a function so that each call of it counts, looks at the clock, and has its result weighed. */
export function guarded(definition: FunctionDefinition): FunctionDefinition {
  const { implementation } = definition;
  const guard: Implementation = function (this: Focus, ...args: never[]) {
    const evaluation = evaluationOf(this.environment);
    const leave = (result: unknown): unknown => {
      evaluation.leaveCall();
      evaluation.weigh(result);
      return result;
    };
    const call = (): unknown => {
      evaluation.enterCall();
      const result = implementation.apply(this, args);
      return result instanceof Promise ? result.then(leave) : leave(result);
    };
    const pause = evaluation.pause();
    return pause ? pause.then(call) : call();
  };
  return define(guard, definition);
}
