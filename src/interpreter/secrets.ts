import { type JsonValue, isJsonObject } from '../common/index.js';
import { Failure, languageError } from './run-error.js';

/**
 * Puts secrets in the place of their references (`{ $secret: NAME }`), in a value that is about to be
 * handed to a handler. The journal keeps the reference only.
 *
 * @throws Failure `SecretMissing`
 */
export function resolveSecrets(
  value: JsonValue,
  secret: (name: string) => string | undefined,
  step: string,
): JsonValue {
  if (Array.isArray(value)) return value.map((member) => resolveSecrets(member, secret, step));
  if (!isJsonObject(value)) return value;
  const name = value.$secret;
  if (typeof name === 'string' && Object.keys(value).length === 1) {
    const found = secret(name);
    if (found !== undefined) return found;
    throw new Failure(
      languageError('SecretMissing', `there is no secret ${name}; set RUNSHEET_SECRET_${name} in the environment`, {
        step,
      }),
    );
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolveSecrets(member, secret, step)]));
}
