import { type JsonObject, type JsonValue, isJsonObject } from '../common/index.js';

interface Fitting {
  readonly value: JsonValue;
  /** The schema in which the keyword stands. */
  readonly schema: JsonObject;
  /** Whether what validates the value puts in the defaults of fields. */
  readonly fillDefaults: boolean;
}

/** Whether a value certainly keeps to a keyword that says `limit`. */
type Rule = (limit: JsonValue, fitting: Fitting) => boolean;

const ofNumbers = (isWithin: (value: number, limit: number) => boolean): Rule => {
  return (limit, { value }) => typeof value !== 'number' || isWithin(value, Number(limit));
};
const ofTexts = (isWithin: (length: number, limit: number) => boolean): Rule => {
  return (limit, { value }) => typeof value !== 'string' || isWithin([...value].length, Number(limit));
};
const ofLists = (isWithin: (length: number, limit: number) => boolean): Rule => {
  return (limit, { value }) => !Array.isArray(value) || isWithin(value.length, Number(limit));
};

const isAtLeast = (some: number, limit: number): boolean => some >= limit;
const isAtMost = (some: number, limit: number): boolean => some <= limit;

/** What every text that looks like this is sure to be; others may be it too. */
const certainFormats: Readonly<Record<string, RegExp>> = {
  date: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])$/,
  'date-time': /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/,
  email: /^[a-z0-9]+([._-][a-z0-9]+)*@[a-z0-9]+([.-][a-z0-9]+)*\.[a-z]+$/i,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
};

const says: Rule = () => true;

const rules: Readonly<Record<string, Rule>> = {
  $comment: says,
  default: says,
  deprecated: says,
  description: says,
  examples: says,
  readOnly: says,
  title: says,
  writeOnly: says,
  type: (names, { value }) => [names].flat().some((name) => isOfType(value, name)),
  // Of lists and maps it takes more to say whether they are the same.
  const: (constant, { value }) => typeof value !== 'object' && value === constant,
  enum: (choices, { value }) => typeof value !== 'object' && [choices].flat().includes(value),
  minimum: ofNumbers(isAtLeast),
  maximum: ofNumbers(isAtMost),
  exclusiveMinimum: ofNumbers((value, limit) => value > limit),
  exclusiveMaximum: ofNumbers((value, limit) => value < limit),
  minLength: ofTexts(isAtLeast),
  maxLength: ofTexts(isAtMost),
  format: (name, { value }) => {
    if (typeof value !== 'string') return typeof value !== 'number';
    return Object.hasOwn(certainFormats, String(name)) && certainFormats[String(name)]?.test(value) === true;
  },
  minItems: ofLists(isAtLeast),
  maxItems: ofLists(isAtMost),
  items: (items, { value, schema, ...options }) =>
    schema.prefixItems === undefined &&
    (!Array.isArray(value) || value.every((item) => fitsPlainly(items, item, options))),
  properties: (properties, { value, fillDefaults }) =>
    !isJsonObject(value) ||
    Object.entries(properties as JsonObject).every(([name, property]) => {
      const held = Object.hasOwn(value, name) ? value[name] : fillDefaults ? defaultOf(property) : undefined;
      return held === undefined || fitsPlainly(property, held, { fillDefaults });
    }),
  required: (names, { value, schema, fillDefaults }) =>
    !isJsonObject(value) ||
    [names].flat().every((name) => {
      if (Object.hasOwn(value, String(name))) return true;
      const { properties } = schema;
      return fillDefaults && isJsonObject(properties) && defaultOf(properties[String(name)]) !== undefined;
    }),
  additionalProperties: (others, { value, schema, ...options }) => {
    const { properties = {}, patternProperties } = schema;
    if (!isJsonObject(value)) return true;
    if (patternProperties !== undefined) return false;
    return Object.entries(value).every(
      ([name, held]) => Object.hasOwn(properties as JsonObject, name) || fitsPlainly(others, held, options),
    );
  },
};

/**
 * Whether a value certainly fits a sound schema, as most do. What does not fit plainly may fit nevertheless: `ajv`
 * knows, and what is wrong with it; but it takes milliseconds to compile a schema. A property test compares the two.
 */
export function fitsPlainly(schema: JsonValue, value: JsonValue, options = { fillDefaults: false }): boolean {
  if (schema === true) return true;
  if (!isJsonObject(schema)) return false;
  const fitting = { value, schema, fillDefaults: options.fillDefaults };
  return Object.entries(schema).every(([keyword, limit]) => {
    if (keyword.startsWith('x-')) return true;
    return Object.hasOwn(rules, keyword) && rules[keyword]?.(limit, fitting) === true;
  });
}

function defaultOf(schema: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(schema) ? schema.default : undefined;
}

function isOfType(value: JsonValue, name: JsonValue): boolean {
  switch (name) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === name;
  }
}
