import { type JsonObject, type JsonValue, isJsonObject } from '../../../src/common/index.js';

/** Some value that fits a JSON Schema of the kind that people write for handlers and signals. */
export function sampleOf(schema: JsonValue, root: JsonValue = schema): JsonValue {
  if (!isJsonObject(schema)) return null;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  if (Array.isArray(schema.examples)) return schema.examples[0] ?? null;
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const [first] = Array.isArray(schema[key]) ? schema[key] : [];
    if (first !== undefined) return sampleOf(first, root);
  }
  if (typeof schema.$ref === 'string') return sampleOf(definitionAt(root, schema.$ref), root);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return sampleObject(schema, root);
    case 'array':
      return Array.from({ length: Math.max(1, Number(schema.minItems ?? 1)) }, () =>
        sampleOf(schema.items ?? {}, root),
      );
    case 'number':
    case 'integer':
      return Math.max(Number(schema.minimum ?? 1), Number(schema.exclusiveMinimum ?? 0) + 1);
    case 'boolean':
      return true;
    case 'string':
      return sampleText(schema);
    default:
      return null;
  }
}

function sampleObject(schema: JsonObject, root: JsonValue): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, sampleOf(inner, root)]));
}

function sampleText({ format, minLength }: JsonObject): string {
  const known: Record<string, string> = {
    email: 'eva@example.test',
    date: '2030-01-02',
    'date-time': '2030-01-02T03:04:05Z',
    uri: 'https://example.test',
    uuid: '00000000-0000-4000-8000-000000000000',
  };
  return known[String(format)] ?? 'x'.repeat(Math.max(1, Number(minLength ?? 1)));
}

function definitionAt(root: JsonValue, pointer: string): JsonValue {
  let value: JsonValue = root;
  for (const key of pointer.split('/').slice(1)) value = isJsonObject(value) ? (value[key] ?? null) : null;
  return value;
}
