import { JsonText, type JsonValue, isJsonObject } from '../common/index.js';
import { type SecretReference, referredSecret } from '../definition/index.js';
import type { Logger } from '../handlers/index.js';
import type { AttemptOutcome } from './port.js';
import { Failure, type RunError, languageError } from './run-error.js';
import { SecretMask, maskedLogger } from './secret-mask.js';

/** The secrets that one call of a handler is given: they go into its input, and are masked in what comes back. */
export class CallSecrets {
  readonly #references: readonly SecretReference[];
  readonly #values: ReadonlyMap<string, string>;
  readonly #step: string;
  readonly #mask: SecretMask;

  constructor(references: readonly SecretReference[], values: ReadonlyMap<string, string>, step: string) {
    this.#references = references;
    this.#values = values;
    this.#step = step;
    this.#mask = new SecretMask(values);
  }

  /**
   * Puts the values where the flow has the references; any other `$secret` in the input is data.
   *
   * @param input a copy, which is changed
   * @throws Failure `ValidationError` if the input is not the one that the flow would give
   */
  putInto(input: JsonValue): JsonValue {
    return this.#references.reduce((whole, reference) => this.#put(whole, reference), input);
  }

  #put(whole: JsonValue, { name, path }: SecretReference): JsonValue {
    const value = this.#values.get(name) ?? '';
    const last = path.at(-1);
    if (last === undefined && referredSecret(whole) === name) return value;
    let around: JsonValue | undefined = whole;
    for (const key of path.slice(0, -1)) around = memberOf(around, key);
    if (last === undefined || referredSecret(memberOf(around, last)) !== name) {
      const where = path.length === 0 ? '' : ` at ${path.join('.')}`;
      const message = `the recorded input of ${this.#step} does not refer to the secret ${name}${where}, as its flow does`;
      throw new Failure(languageError('ValidationError', message, { step: this.#step }));
    }
    (around as Record<string | number, JsonValue>)[last] = value;
    return whole;
  }

  /** What the call came to, for the journal and everybody who reads it. */
  masked(outcome: AttemptOutcome, logger: Logger): AttemptOutcome {
    if (!outcome.ok) return { ...outcome, error: this.maskedError(outcome.error) };
    if (outcome.value === undefined) return outcome;
    const { value } = outcome.value;
    const masked = this.#mask.value(value);
    if (masked === value) return outcome;
    const secrets = [...this.#values.keys()];
    logger.warn({ step: this.#step, secrets }, 'a secret was masked in what the handler returned');
    return { ok: true, value: new JsonText(JSON.stringify(masked)) };
  }

  maskedError(error: RunError): RunError {
    const { name, message, code, details, cause, ...rest } = error;
    const said = { name, message, details, ...(code !== undefined && { code }), ...(cause !== undefined && { cause }) };
    return {
      ...rest,
      ...(this.#mask.value(said) as Pick<RunError, 'name' | 'message' | 'details' | 'code' | 'cause'>),
    };
  }

  logger(logger: Logger): Logger {
    return maskedLogger(logger, this.#mask);
  }
}

function memberOf(value: JsonValue | undefined, key: string | number): JsonValue | undefined {
  if (Array.isArray(value)) return typeof key === 'number' ? value[key] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Looks the secrets of a call up; undefined where it has none.
 *
 * @throws Failure `SecretMissing`
 */
export function readSecrets(
  references: readonly SecretReference[],
  secret: (name: string) => string | undefined,
  step: string,
): CallSecrets | undefined {
  if (references.length === 0) return undefined;
  const values = new Map(references.map(({ name }) => [name, readSecret(name, secret, step)]));
  return new CallSecrets(references, values, step);
}

function readSecret(name: string, secret: (name: string) => unknown, step: string): string {
  const missing = (message: string): Failure => new Failure(languageError('SecretMissing', message, { step }));
  let found: unknown;
  try {
    found = secret(name);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'the `secrets` option threw';
    throw missing(`the secret ${name} cannot be read: ${why}`);
  }
  if (typeof found === 'string') return found;
  if (found === undefined || found === null) {
    throw missing(`there is no secret ${name}; set RUNSHEET_SECRET_${name} in the environment`);
  }
  throw missing(`the secret ${name} is not a text: the \`secrets\` option gave a value of another type`);
}
