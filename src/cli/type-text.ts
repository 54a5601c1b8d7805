import { type JsonObject, type JsonValue, harmless, isJsonObject, printedJson } from '../common/index.js';

/** A JSON Schema as a type of TypeScript; what has no type of its own there is `JsonValue`. */
export function typeText(schema: JsonValue | undefined): string {
  if (!isJsonObject(schema)) return schema === false ? 'never' : 'JsonValue';
  if (schema.const !== undefined) return printedJson(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map((value) => printedJson(value)));
  for (const each of [schema.anyOf, schema.oneOf]) if (Array.isArray(each)) return union(each.map(typeText));
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeText({ ...schema, type })));
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `readonly (${typeText(schema.items)})[]`;
    case 'object':
      return objectType(schema);
    default:
      return isJsonObject(schema.properties) ? objectType(schema) : 'JsonValue';
  }
}

/** Each on its own line, so that a change of one field is a change of one line. */
function objectType(schema: JsonObject): string {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required: JsonValue[] = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(properties).map(([name, property]) => {
    const note =
      isJsonObject(property) && typeof property.description === 'string' ? comment(property.description) : '';
    return `${note}readonly ${keyText(name)}${required.includes(name) ? '' : '?'}: ${typeText(property)};`;
  });
  const { additionalProperties } = schema;
  // Beside named fields others would have to fit an index signature that the named ones fit as well.
  if (fields.length === 0 && additionalProperties !== false) {
    return `{ readonly [name: string]: ${typeText(additionalProperties)} }`;
  }
  return fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('\n').replace(/^/gm, '  ')}\n}`;
}

function comment(text: string): string {
  return `/** ${harmless(text.replaceAll('*/', '* /').replace(/\s+/g, ' ').trim())} */\n`;
}

export function keyText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : printedJson(name);
}

function union(types: readonly string[]): string {
  return types.length === 0 ? 'never' : [...new Set(types)].join(' | ');
}
