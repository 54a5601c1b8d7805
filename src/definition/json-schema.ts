import { createRequire } from 'node:module';
import type * as AjvModule from 'ajv/dist/2020.js';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type * as FormatsModule from 'ajv-formats';
import {
  type JsonObject,
  type JsonValue,
  type LinearPattern,
  isMultipleOf,
  linearPattern,
  messageOf,
} from '../common/index.js';
import { nearest } from '../syntax/index.js';
import { compareByText } from './json-equality.js';
import { fitsPlainly } from './plainly-fits.js';

/** A place in a value that does not fit its schema. */
export interface SchemaProblem {
  /** From the root of the value: `/items/0/qty`; empty for the value itself. */
  readonly path: string;
  /** What is wrong, naming what is expected and what is there. */
  readonly message: string;
  /** Whether the value has a field here that its schema does not know: then the name is wrong, and not what it holds. */
  readonly isUnknownField?: true;
}

/** Checks a value. With `fillDefaults` it changes the value it is given. */
export type SchemaValidator = (value: JsonValue) => SchemaProblem[];

/** Enough to mend a value by; a hostile one could have millions. */
const mostProblems = 50;

const mostPatterns = 1000;

const load = createRequire(import.meta.url);

/**
 * Compiles schemas that are known to be valid. Loaded when the first schema is met: a flow without schemas does
 * not pay for it. Synchronous, since the checker is; that is why these are not `import()`.
 */
export function newAjv(options: { fillDefaults: boolean; schema: JsonValue }): Ajv2020 {
  const { Ajv2020: Ajv } = load('ajv/dist/2020.js') as typeof AjvModule;
  const { default: addFormats } = load('ajv-formats') as typeof FormatsModule;
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    // The checker reports unknown keywords and formats itself, with their place and the nearest right word.
    strict: false,
    logger: false,
    useDefaults: options.fillDefaults,
    // The schema of schemas takes 40 ms to compile; one instance, that of `schemaErrors`, has it for all.
    meta: false,
    validateSchema: false,
    // Patterns come from the author, values from anybody: matching takes linear time or is refused.
    code: { regExp: Object.assign(schemaPattern, { code: 'schemaPattern' }) },
  });
  // The code that keeps count for `unevaluatedProperties` throws for some values, and without that is of no use.
  ajv.opts.unevaluated = JSON.stringify(options.schema).includes('"unevaluated');
  addFormats.default(ajv);
  // Its own divides binary fractions, and finds that 19.99 is no multiple of 0.01.
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    compile: (divisor: number) => (value: number) => isMultipleOf(value, divisor),
    error: {
      message: ({ schema }) => `must be a multiple of ${String(schema)}`,
    },
  });
  compareByText(ajv);
  return ajv;
}

/** The formats that a schema may name: those of `ajv-formats`, which need not be loaded to know them. */
export const formatNames: ReadonlySet<string> = new Set(
  [
    'date time date-time iso-time iso-date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6',
    'regex uuid json-pointer json-pointer-uri-fragment relative-json-pointer byte int32 int64 float double password',
    'binary',
  ].flatMap((line) => line.split(' ')),
);

let schemas: Ajv2020 | undefined;

/** What is wrong with a schema itself, by the schema of schemas. */
export function schemaErrors(schema: JsonObject | boolean): readonly ErrorObject[] {
  schemas ??= (() => {
    const { Ajv2020: Ajv } = load('ajv/dist/2020.js') as typeof AjvModule;
    const { default: addFormats } = load('ajv-formats') as typeof FormatsModule;
    return addFormats.default(new Ajv({ allErrors: true, verbose: true, strict: false, logger: false })) as Ajv2020;
  })();
  return schemas.validateSchema(schema) === true ? [] : (schemas.errors ?? []);
}

/** Of the schemas in use, the patterns: a file has a few, and a schema is compiled more than once. */
const patterns = new Map<string, SchemaPattern>();

/** What `ajv` holds texts against in place of a `RegExp`. A text too long for its pattern does not match. */
class SchemaPattern {
  readonly #pattern: LinearPattern;

  constructor(readonly source: string) {
    this.#pattern = linearPattern(source);
  }

  canSearch(text: string): boolean {
    return this.#pattern.canSearch(text.length);
  }

  test(text: string): boolean {
    return this.canSearch(text) && this.#pattern.compiled.matcher(text).find();
  }

  /** By this `ajv` tells patterns apart: two that read the same would become one. */
  toString(): string {
    return `/${this.source}/u`;
  }
}

function schemaPattern(source: string): SchemaPattern {
  let pattern = patterns.get(source);
  if (pattern === undefined) {
    pattern = new SchemaPattern(source);
    if (patterns.size >= mostPatterns) patterns.clear();
    patterns.set(source, pattern);
  }
  return pattern;
}

export function compileSchema(schema: JsonObject | boolean, options = { fillDefaults: false }): SchemaValidator {
  return validatorOf(newAjv({ ...options, schema }).compile(schema));
}

/**
 * The first thing that is wrong with a value; the value is left as it is. A value that plainly fits does so without its
 * schema being compiled.
 */
export function firstProblem(
  schema: JsonObject | boolean,
  value: JsonValue,
  options = { fillDefaults: false },
): SchemaProblem | undefined {
  if (fitsPlainly(schema, value, options)) return undefined;
  return compileSchema(schema, options)(structuredClone(value))[0];
}

export function validatorOf(validate: ValidateFunction): SchemaValidator {
  return (value) => {
    try {
      return validate(value) ? [] : problemsOf(validate.errors ?? []);
    } catch (error) {
      return [{ path: '', message: `cannot be held against its schema: ${messageOf(error)}` }];
    }
  };
}

/** Problems for people: `items[0].sku is missing; total must be a number, is a string`. */
export function problemsText(problems: readonly SchemaProblem[]): string {
  return problems
    .map(({ path, message }) => {
      if (path === '') return message;
      // Words of handlers' own schemas are sentences.
      return `${fieldText(path)}${/^[a-z]/.test(message) ? '' : ':'} ${message}`;
    })
    .join('; ');
}

/** A JSON pointer as people write it. */
function fieldText(pointer: string): string {
  const keys = pointer.split('/').slice(1);
  return keys
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((key, index) => (/^\d+$/.test(key) ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join('');
}

function problemsOf(errors: readonly ErrorObject[]): SchemaProblem[] {
  const problems = new Map<string, SchemaProblem>();
  for (const error of errors.filter((each) => !isDetail(each, errors))) {
    const problem = problemOf(error);
    // A value of the wrong type often breaks several keywords; one mistake, one problem.
    if (!problems.has(problem.path)) problems.set(problem.path, problem);
    if (problems.size === mostProblems) break;
  }
  return [...problems.values()];
}

/** What went wrong inside the alternatives of an `anyOf` or `if` says nothing that the `anyOf` itself does not. */
function isDetail(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  if (error.keyword === 'if') return true;
  return errors.some(
    (other) =>
      other !== error &&
      (other.keyword === 'anyOf' || other.keyword === 'oneOf') &&
      error.schemaPath.startsWith(`${other.schemaPath}/`),
  );
}

function problemOf(error: ErrorObject): SchemaProblem {
  const { params, instancePath: path } = error;
  const inside = (name: unknown): string => `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
      return { path: inside(params.missingProperty), message: 'is missing' };
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return unknownField(inside(params.additionalProperty ?? params.unevaluatedProperty), error);
    case 'type':
      return { path, message: `must be ${typeWords(params.type)}, is ${describeValue(error.data)}` };
    case 'enum':
      return { path, message: `must be one of ${textOf(error.schema)}, is ${textOf(error.data)}` };
    case 'const':
      return { path, message: `must be ${textOf(error.schema)}, is ${textOf(error.data)}` };
    case 'format':
      return { path, message: `must be in the format "${String(params.format)}", is ${textOf(error.data)}` };
    case 'pattern':
      return { path, message: patternMessage(String(params.pattern), error.data) };
    case 'uniqueItems':
      return { path, message: 'must not hold the same item twice' };
    case 'false schema':
      return { path, message: 'is not allowed' };
    case 'anyOf':
    case 'oneOf':
      return {
        path,
        message: `fits none of the forms that its schema allows, or more than one: ${textOf(error.data)}`,
      };
    default:
      return { path, message: error.message ?? `breaks the rule "${error.keyword}"` };
  }
}

function patternMessage(source: string, data: unknown): string {
  if (typeof data === 'string' && !schemaPattern(source).canSearch(data)) {
    return `is too long (${data.length} characters) to be held against the pattern ${textOf(source)}`;
  }
  return `must match the pattern ${textOf(source)}, is ${textOf(data)}`;
}

function unknownField(path: string, error: ErrorObject): SchemaProblem {
  const name = String(error.params.additionalProperty ?? error.params.unevaluatedProperty);
  const declared = (error.parentSchema?.properties ?? {}) as JsonObject;
  const guess = nearest(name, Object.keys(declared));
  const message = `is not a field here${guess === undefined ? '' : `; did you mean "${guess}"?`}`;
  return { path, message, isUnknownField: true };
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'a map of fields',
  string: 'a text',
};

export function typeWords(type: unknown): string {
  return [type]
    .flat()
    .map((name) => typeNames[String(name)] ?? String(name))
    .join(' or ');
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  return textOf(value);
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}
