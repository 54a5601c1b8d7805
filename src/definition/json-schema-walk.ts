import { type JsonObject, type JsonValue, isJsonObject } from '../common/index.js';

/** Keywords of JSON Schema 2020-12 whose value is one schema. */
export const schemaKeywords: ReadonlySet<string> = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

/** Keywords whose value is a list of schemas. */
export const schemaListKeywords: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);

/** Keywords whose value is a map of name → schema. The names are data, whatever they look like. */
export const schemaMapKeywords: ReadonlySet<string> = new Set([
  '$defs',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/**
 * A copy of a schema in which `change` was applied to every schema object, the innermost first. Data inside
 * schemas (`default`, `const`, `enum`, `examples`) is left alone.
 */
export function mapSchemas(schema: JsonValue, change: (schema: JsonObject) => JsonObject): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const inner = Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
    if (schemaKeywords.has(keyword)) return [keyword, mapSchemas(value, change)];
    if (schemaListKeywords.has(keyword) && Array.isArray(value)) {
      return [keyword, value.map((each) => mapSchemas(each, change))];
    }
    if (schemaMapKeywords.has(keyword) && isJsonObject(value)) {
      const map = Object.entries(value).map(([name, each]): [string, JsonValue] => [name, mapSchemas(each, change)]);
      return [keyword, Object.fromEntries(map)];
    }
    return [keyword, value];
  });
  return change(Object.fromEntries(inner));
}
