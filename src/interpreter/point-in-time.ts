import { type JsonValue, isInstant } from '../common/index.js';
import { Failure, languageError } from './run-error.js';

/** ISO 8601 with an offset: without one the time would depend on the machine's zone. */
const isoWithOffset = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;

/** Reads what an `until` gave. @throws Failure `ExpressionError` if it is no point in time. */
export function pointInTime(value: JsonValue | undefined, step: string): number {
  const time = typeof value === 'string' && isoWithOffset.test(value) ? Date.parse(value) : value;
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
