import { type JsonObject, RunsheetError } from '../common/index.js';
import type { Definition } from '../definition/index.js';
import { gatesOf } from '../engine/index.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import { typeOf } from './schema-text.js';

/** How a command takes the payload of a signal. */
export interface PayloadUse {
  readonly isGiven: boolean;
  readonly option: string;
  /** What to type instead, with places to fill in. */
  readonly example: (schema: JsonObject) => string;
}

/** Of a payload that the gates of a flow refuse: what they take, and how to give it. Any other error as it is. */
export function payloadFailure(
  error: unknown,
  definition: Definition,
  signal: string,
  { isGiven, option, example }: PayloadUse,
): unknown {
  if (!(error instanceof RunsheetError) || error.code !== 'RS_SIGNAL_INVALID') return error;
  const schema = gatesOf(definition, signal).items[0]?.item.schema;
  if (typeof schema !== 'object') return error;
  const message = isGiven
    ? `${error.message}; it takes ${typeOf(schema)}`
    : `${signal} needs a payload: ${typeOf(schema)}; give it by ${option}`;
  return new CommandFailure(exitCodes.usage, message, { cause: error, next: [example(schema)] });
}
