import { RunsheetError } from '../common/index.js';
import type { JsonObject } from '../common/index.js';
import { nearest } from '../syntax/index.js';
import { originOf } from './handler-origin.js';
import { toJsonSchema } from './handler-schema.js';
import type { Handler } from './handler.js';

/** What the checker and the editor know of a handler. An absent schema means that nothing is known. */
export interface HandlerDescription {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema 2020-12 of what `with` must be. */
  readonly input?: JsonObject;
  /** Whether it goes without `with`; absent: it does not, where `input` is known. */
  readonly inputOptional?: true;
  /** JSON Schema 2020-12 of what `$steps.<id>` will be. */
  readonly output?: JsonObject;
  /** The errors that it declares; absent if it declares none, in which case it may throw anything. */
  readonly errors?: readonly string[];
  /** Path of its module as `loadHandlers` was told it, where it was loaded from one. */
  readonly file?: string;
}

/** By handler name, in code-point order. A map, since `constructor` is a possible name. */
export type HandlerCatalogue = ReadonlyMap<string, HandlerDescription>;

/** The handlers that an engine can call, by name. */
export class HandlerRegistry {
  readonly #handlers = new Map<string, Handler>();
  #catalogue: HandlerCatalogue | undefined;

  /** @throws RunsheetError RS_HANDLER_DUPLICATE if two different handlers have one name. */
  constructor(handlers: Iterable<Handler> = []) {
    for (const handler of handlers) {
      const other = this.#handlers.get(handler.name);
      if (other !== undefined && other !== handler)
        throw duplicateHandler(handler.name, originOf(other), originOf(handler));
      this.#handlers.set(handler.name, handler);
    }
  }

  has(name: string): boolean {
    return this.#handlers.has(name);
  }

  /** @throws RunsheetError RS_HANDLER_UNKNOWN, offering the nearest name. */
  get(name: string): Handler {
    const handler = this.#handlers.get(name);
    if (handler === undefined) throw this.#unknown(name);
    return handler;
  }

  /** In code-point order. */
  names(): string[] {
    return [...this.#handlers.keys()].sort();
  }

  /** Converted when first asked for, since only the checker and the editor need it. */
  catalogue(): HandlerCatalogue {
    this.#catalogue ??= new Map(this.names().map((name) => [name, describeHandler(this.get(name))]));
    return this.#catalogue;
  }

  #unknown(name: string): RunsheetError {
    const near = nearest(name, this.names());
    const remedy =
      near !== undefined
        ? `did you mean "${near}"?`
        : this.#handlers.size === 0
          ? 'no handlers are registered at all; add it to the handlers folder'
          : `add it to the handlers folder, or use one of: ${this.names().join(', ')}`;
    return new RunsheetError('RS_HANDLER_UNKNOWN', `there is no handler "${name}"; ${remedy}`);
  }
}

export function duplicateHandler(name: string, first: string | undefined, second: string | undefined): RunsheetError {
  const places =
    first === undefined || second === undefined
      ? 'is registered twice'
      : first === second
        ? `is defined twice in ${first}`
        : `is defined in ${first} and in ${second}`;
  return new RunsheetError('RS_HANDLER_DUPLICATE', `handler "${name}" ${places}; rename one of them`);
}

function describeHandler(handler: Handler): HandlerDescription {
  const input = handler.input && toJsonSchema(handler.input, 'input');
  const output = handler.output && toJsonSchema(handler.output, 'output');
  const file = originOf(handler);
  return {
    name: handler.name,
    ...(handler.description !== undefined && { description: handler.description }),
    ...(input !== undefined && { input }),
    ...(handler.input?._zod.optin === 'optional' && { inputOptional: true as const }),
    ...(output !== undefined && { output }),
    ...(handler.errors !== undefined && { errors: handler.errors }),
    ...(file !== undefined && { file }),
  };
}
