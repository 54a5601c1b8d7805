import { type JsonObject, type JsonValue, isJsonObject, printedJson } from '../common/index.js';

/** A JSON Schema as one would write the type; what has no short form is shown as JSON. */
export function typeOf(schema: JsonValue | undefined): string {
  if (schema === undefined || schema === true) return 'anything';
  if (!isJsonObject(schema)) return printedJson(schema);
  if (schema.const !== undefined) return printedJson(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => printedJson(value)).join(' | ');
  for (const union of [schema.anyOf, schema.oneOf]) if (Array.isArray(union)) return union.map(typeOf).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.join(' | ');
  if (schema.type === 'object') return objectType(schema);
  if (schema.type === 'array') return schema.items === undefined ? 'list' : `list of ${typeOf(schema.items)}`;
  if (typeof schema.type === 'string') return schema.type;
  return Object.keys(schema).length === 0 ? 'anything' : printedJson(schema);
}

/** JSON to fill in: each required field with its type in angle brackets. */
export function placeholderOf(schema: JsonValue): string {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return `<${typeOf(schema)}>`;
  const { properties } = schema;
  const required = requiredOf(schema).filter((name) => properties[name] !== undefined);
  const fields = required.map((name) => `${printedJson(name)}: ${placeholderOf(properties[name] ?? true)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

function objectType(schema: JsonObject): string {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = requiredOf(schema);
  const fields = Object.entries(properties).map(
    ([name, property]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(property)}`,
  );
  if (isJsonObject(schema.additionalProperties)) fields.push(`…: ${typeOf(schema.additionalProperties)}`);
  return fields.length === 0 ? 'map' : `{ ${fields.join(', ')} }`;
}

function requiredOf({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}
