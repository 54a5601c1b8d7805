import { type JsonValue, cutAt, isJsonObject } from '../common/index.js';
import type { Logger } from '../handlers/index.js';
import { type SecretForms, formsOf } from './secret-forms.js';

/** Takes the values of the secrets that a call was given out of what comes back from it. */
export class SecretMask {
  readonly #secrets: ReadonlyMap<string, string>;
  #patterns: Patterns | undefined;

  /** @param secrets values by name */
  constructor(secrets: ReadonlyMap<string, string>) {
    this.#secrets = secrets;
  }

  text(text: string): string {
    const { found, nameOf } = this.#compiled();
    if (found === undefined) return text;
    return maskedAtCut(
      text.replace(found, (form) => placeholder(nameOf.get(form))),
      nameOf,
    );
  }

  /** The same value where it holds nothing secret, else a copy; keys are masked too. */
  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.#number(value);
    if (Array.isArray(value)) {
      const members = value.map((member) => this.value(member));
      return members.every((member, index) => member === value[index]) ? value : members;
    }
    return isJsonObject(value) ? this.#object(value) : value;
  }

  #number(value: number): JsonValue {
    const { numbers } = this.#compiled();
    const name = numbers.get(String(value));
    return name === undefined ? value : placeholder(name);
  }

  #object(value: { [key: string]: JsonValue }): JsonValue {
    let changed = false;
    const masked = new Map<string, JsonValue>();
    for (const [key, member] of Object.entries(value)) {
      let name = this.text(key);
      while (masked.has(name)) name += '_';
      const content = this.value(member);
      changed ||= name !== key || content !== member;
      masked.set(name, content);
    }
    return changed ? Object.fromEntries(masked) : value;
  }

  #compiled(): Patterns {
    this.#patterns ??= compile([...this.#secrets].map(([name, secret]) => ({ name, forms: formsOf(secret) })));
    return this.#patterns;
  }
}

/** So much of the beginning of a secret gives nothing away. */
const harmlessLength = 3;

/** What was shortened before it came here may end with the beginning of a secret. */
function maskedAtCut(text: string, nameOf: ReadonlyMap<string, string>): string {
  const end = cutAt(text);
  if (end === undefined) return text;
  let begin = end;
  let name: string | undefined;
  for (const [form, its] of nameOf) {
    for (let length = Math.min(form.length - 1, end); length > Math.max(harmlessLength, end - begin); length -= 1) {
      if (!text.startsWith(form.slice(0, length), end - length)) continue;
      begin = end - length;
      name = its;
      break;
    }
  }
  return name === undefined ? text : `${text.slice(0, begin)}${placeholder(name)}${text.slice(end)}`;
}

const placeholder = (name: string | undefined): string => `[secret ${name ?? ''}]`;

interface Patterns {
  readonly found: RegExp | undefined;
  readonly nameOf: ReadonlyMap<string, string>;
  /** Secrets that are numbers, as a handler may hand them back. */
  readonly numbers: ReadonlyMap<string, string>;
}

function compile(secrets: readonly { readonly name: string; readonly forms: SecretForms }[]): Patterns {
  const nameOf = new Map<string, string>();
  const alternatives: { readonly form: string; readonly pattern: string }[] = [];
  const add = (name: string, forms: ReadonlySet<string>, patternOf: (form: string) => string): void => {
    for (const form of forms) {
      if (nameOf.has(form)) continue;
      nameOf.set(form, name);
      alternatives.push({ form, pattern: patternOf(form) });
    }
  };
  for (const { name, forms } of secrets) {
    add(name, forms.anywhere, escape);
    add(name, forms.asWord, (form) => `(?<![A-Za-z0-9_])${escape(form)}(?![A-Za-z0-9_])`);
  }
  // The longest first: of a secret that holds another one nothing may be left over.
  alternatives.sort((one, other) => other.form.length - one.form.length);
  const found =
    alternatives.length === 0 ? undefined : new RegExp(alternatives.map(({ pattern }) => pattern).join('|'), 'g');
  const numbers = new Map(secrets.flatMap(({ name, forms }) => [...forms.anywhere].map((form) => [form, name])));
  return { found, nameOf, numbers };
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** Deeper than this nobody reads a log. */
const maxDepth = 8;

/** The logger of a call that was given secrets. Whatever else a logger can (`child`, `trace`) stays there. */
export function maskedLogger(logger: Logger, mask: SecretMask): Logger {
  return new Proxy({} as Logger, {
    get: (_target, property) => {
      const member: unknown = Reflect.get(logger, property);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(
          member,
          logger,
          given.map((each) => loggable(each, mask, [])),
        );
        return isLogger(answer) ? maskedLogger(answer, mask) : answer;
      };
    },
  });
}

function isLogger(value: unknown): value is Logger {
  return typeof value === 'object' && value !== null && 'info' in value && typeof value.info === 'function';
}

/** A copy of what is logged without secrets. Errors stay errors: loggers write them in their own way. */
function loggable(value: unknown, mask: SecretMask, around: readonly object[]): unknown {
  if (typeof value === 'string' || typeof value === 'number') return mask.value(value);
  if (typeof value !== 'object' || value === null) return value;
  if (around.includes(value)) return '[cycle]';
  if (around.length >= maxDepth) return '[…]';
  const inside = [...around, value];
  const masked = (member: unknown): unknown => loggable(member, mask, inside);
  try {
    if (value instanceof Error) return maskedError(value, masked);
    if (Array.isArray(value)) return value.map(masked);
    if (value instanceof Map) return new Map([...value].map(([key, member]) => [masked(key), masked(member)]));
    if (value instanceof Set) return new Set([...value].map(masked));
    if (value instanceof Uint8Array) return maskedBytes(value, mask);
    if ('toJSON' in value && typeof value.toJSON === 'function') return masked(value.toJSON(''));
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [mask.text(key), masked(member)]));
  } catch {
    return '[unreadable]';
  }
}

function maskedBytes(bytes: Uint8Array, mask: SecretMask): unknown {
  const text = Buffer.from(bytes).toString();
  const masked = mask.text(text);
  return masked === text ? bytes : masked;
}

function maskedError(error: Error, masked: (member: unknown) => unknown): Error {
  const copy = Object.create(Object.getPrototypeOf(error) as object) as Error;
  for (const name of new Set(['message', 'stack', ...Object.getOwnPropertyNames(error)])) {
    const value = masked(Reflect.get(error, name));
    const enumerable = Object.prototype.propertyIsEnumerable.call(error, name);
    Object.defineProperty(copy, name, { value, enumerable, writable: true, configurable: true });
  }
  return copy;
}
