import { type JsonValue, isInstant, readTimestamp } from '../common/index.js';
import { Failure, languageError } from './run-error.js';

/** Reads what an `until` gave. @throws Failure `ExpressionError` if it is no point in time. */
export function pointInTime(value: JsonValue | undefined, step: string): number {
  // A date alone does not say when in the day.
  const time = typeof value === 'string' && value.includes(':') ? readTimestamp(value) : value;
  if (typeof time === 'number' && isInstant(time)) return time;
  throw new Failure(
    languageError(
      'ExpressionError',
      `\`until\` of ${step} gave ${value === undefined ? 'nothing' : JSON.stringify(value)}, which is no point in time; ` +
        'it takes an ISO timestamp with offset ("2030-01-31T09:00:00Z") or milliseconds since 1970, to the year 275760',
      { step },
    ),
  );
}
