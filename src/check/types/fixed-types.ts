import { type Type, absent, mapOf, never, nullType, numberType, optional, stringType, union, unknown } from './type.js';

/** `$error`: what a failure looks like to formulas. */
export const errorType: Type = mapOf([
  ['name', stringType],
  ['message', stringType],
  ['step', union(stringType, nullType)],
  ['attempt', union(numberType, nullType)],
  ['details', unknown],
]);

/** `running` while it runs; in `finally` how it will end. */
const runStatus: Type = { ...never, string: new Set(['running', 'compensating', 'completed', 'failed', 'cancelled']) };

export const runType: Type = mapOf([
  ['id', stringType],
  ['key', optional(union(stringType, nullType))],
  ['startedAt', numberType],
  ['status', runStatus],
]);

export const workflowType: Type = mapOf([
  ['name', stringType],
  ['revision', numberType],
  ['hash', stringType],
]);

/** In `finally`: absent where the run succeeded. */
export const errorIfFailed: Type = union(errorType, absent);
