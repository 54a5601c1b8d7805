import { type JsonValue, isJsonObject } from '../common/index.js';
import { schemaKeywords, schemaListKeywords, schemaMapKeywords } from './json-schema-walk.js';

const types: ReadonlySet<JsonValue> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

const isAnything = (): boolean => true;
const isText = (value: JsonValue): boolean => typeof value === 'string';
const isBoolean = (value: JsonValue): boolean => typeof value === 'boolean';
const isNumber = (value: JsonValue): boolean => typeof value === 'number';
const isCount = (value: JsonValue): boolean => Number.isInteger(value) && Number(value) >= 0;
const isList = (value: JsonValue): boolean => Array.isArray(value);

const isType = (value: JsonValue): boolean =>
  Array.isArray(value)
    ? value.length > 0 && areDifferent(value) && value.every((each) => types.has(each))
    : types.has(value);

const areNames = (value: JsonValue): boolean => Array.isArray(value) && value.every(isText) && areDifferent(value);

function areDifferent(values: readonly JsonValue[]): boolean {
  return new Set(values).size === values.length;
}

/** A pattern of ECMAScript, as the schema of schemas asks; whether it takes linear time is another question. */
function isPattern(value: JsonValue): boolean {
  if (typeof value !== 'string' || value.includes('\\Z')) return false;
  try {
    new RegExp(value, 'u');
    return true;
  } catch {
    return false;
  }
}

/** What keywords hold, other than schemas. Most of those whose values are texts of a certain form are left out. */
const holds: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  $comment: isText,
  const: isAnything,
  default: isAnything,
  deprecated: isBoolean,
  description: isText,
  enum: isList,
  examples: isList,
  exclusiveMaximum: isNumber,
  exclusiveMinimum: isNumber,
  format: isText,
  maxItems: isCount,
  maxLength: isCount,
  maxProperties: isCount,
  maximum: isNumber,
  minItems: isCount,
  minLength: isCount,
  minProperties: isCount,
  minimum: isNumber,
  multipleOf: (value) => typeof value === 'number' && value > 0,
  pattern: isPattern,
  readOnly: isBoolean,
  required: areNames,
  title: isText,
  type: isType,
  uniqueItems: isBoolean,
  writeOnly: isBoolean,
};

/**
 * Whether a schema is certainly valid, which most are. The schema of schemas says the same, and of the others what is
 * wrong with them; but it takes longer to compile than a flow to check. A property test compares the two.
 */
export function isPlainlySound(schema: JsonValue): boolean {
  if (typeof schema === 'boolean') return true;
  return isJsonObject(schema) && Object.entries(schema).every(([keyword, value]) => isSoundAt(keyword, value));
}

function isSoundAt(keyword: string, value: JsonValue): boolean {
  if (schemaKeywords.has(keyword)) return isPlainlySound(value);
  if (schemaListKeywords.has(keyword)) return Array.isArray(value) && value.length > 0 && value.every(isPlainlySound);
  // Names that are patterns must be sound themselves.
  if (keyword === 'patternProperties') return false;
  if (schemaMapKeywords.has(keyword)) return isJsonObject(value) && Object.values(value).every(isPlainlySound);
  return keyword === 'optional' ? isBoolean(value) : Object.hasOwn(holds, keyword) && holds[keyword]?.(value) === true;
}
