import type { z } from 'zod';
import { RunsheetError } from '../common/index.js';
import type { JsonValue } from '../common/index.js';
import { handlerFault } from './handler-shape.js';
import type { Logger } from './logger.js';

/** What a handler is given with each call. Everything in it is a copy: changing it changes nothing elsewhere. */
export interface HandlerContext<Input = JsonValue | undefined> {
  /** The step's `with`, as the handler's schema parsed it; undefined where it has none. */
  readonly input: Input;
  readonly run: {
    readonly id: string;
    /** The key that the run was started with, or null. */
    readonly key: string | null;
    readonly workflow: string;
    readonly revision: number;
  };
  /** `key` names the item in its file, `occurrence` tells the turns of loops apart: `0`, `3`, `3.1`. */
  readonly step: { readonly key: string; readonly occurrence: string };
  /** 1 for the first call. An attempt that a crash cut short is repeated under the same number. */
  readonly attempt: number;
  /** The same for every attempt and every restart of this step: hand it to the system you call. */
  readonly idempotencyKey: string;
  /** Aborts when the attempt has timed out or its scope was abandoned; `reason` says which. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** In a reversal: what the step gave that is to be undone; null where it failed or its outcome is unknown. */
  readonly result?: JsonValue;
  /** In a reversal: the key under which the step itself was called, to look up what became of it. */
  readonly forwardIdempotencyKey?: string;
  /** In a reversal: what the step failed with, if it did. */
  readonly error?: ForwardError | null;
}

/** Why a step failed that is to be undone; `details` is what it threw with it. */
export interface ForwardError {
  readonly name: string;
  readonly message: string;
  readonly details: JsonValue;
}

/**
 * The code behind the steps of one name.
 *
 * `run` is written as a method on purpose: TypeScript compares methods leniently, so that handlers
 * with different inputs fit into one `Handler[]`.
 */
export interface Handler<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly description?: string;
  readonly input?: z.ZodType;
  readonly output?: z.ZodType;
  /** Names of the errors it throws on purpose, for the checker. */
  readonly errors?: readonly string[];
  run(ctx: HandlerContext<Input>): Output | Promise<Output>;
}

export interface HandlerDefinition<
  InputSchema extends z.ZodType,
  OutputSchema extends z.ZodType,
  Output extends z.input<OutputSchema>,
> {
  /** What a flow writes after `step:`; letters, digits, `_`, `.`, `-`. */
  readonly name: string;
  readonly description?: string;
  /** Parsed before each call, synchronously; what it yields is `ctx.input`. */
  readonly input?: InputSchema;
  /** Parses what `run` returned, synchronously; what it yields is journaled. */
  readonly output?: OutputSchema;
  readonly errors?: readonly string[];
  run(ctx: HandlerContext<z.output<InputSchema>>): Output | Promise<Output>;
}

/**
 * Defines a handler; the types of `run` follow from the zod schemas.
 *
 *     export default defineHandler({
 *       name: 'mail.send',
 *       input: z.object({ to: z.email(), template: z.string() }),
 *       run: ({ input, idempotencyKey }) => mail.send(input.to, input.template, { idempotencyKey }),
 *     });
 *
 * @throws RunsheetError RS_HANDLER_INVALID if it is malformed.
 */
export function defineHandler<
  InputSchema extends z.ZodType = z.ZodType<JsonValue | undefined>,
  OutputSchema extends z.ZodType = z.ZodType<unknown, unknown>,
  Output extends z.input<OutputSchema> = z.input<OutputSchema>,
>(definition: HandlerDefinition<InputSchema, OutputSchema, Output>): Handler<z.output<InputSchema>, Output> {
  const fault = handlerFault(definition);
  if (fault !== undefined) throw new RunsheetError('RS_HANDLER_INVALID', fault);
  return Object.freeze({ ...definition });
}
