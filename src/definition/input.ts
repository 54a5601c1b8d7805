import { type JsonObject, type JsonValue, isJsonObject } from '../common/index.js';
import type { Definition } from './definition.js';
import type { WorkflowDocument } from './document.generated.js';
import { type SchemaProblem, type SchemaValidator, compileSchema } from './json-schema.js';
import { schemaListKeywords, schemaMapKeywords } from './json-schema-walk.js';

/**
 * The schema of a workflow's input as plain JSON Schema 2020-12. `input` is a shorthand: a field is required
 * unless it has a `default` or `optional: true`, and other fields are refused; a schema's own `required` replaces
 * the first rule there, its own `additionalProperties` the second. A workflow that declares no input takes an empty
 * map.
 */
export function inputSchemaOf(document: WorkflowDocument): JsonObject {
  if (document.inputSchema !== undefined) return plain(document.inputSchema);
  return closed({ type: 'object', properties: document.input ?? {} });
}

function plain(schema: JsonObject | boolean): JsonObject {
  if (typeof schema !== 'boolean') return schema;
  return schema ? {} : { not: {} };
}

/**
 * Applies the shorthand to a schema and to what is inside. Alternatives (`anyOf`, `oneOf`) are closed too, unless they
 * only narrow a map whose fields are listed beside them: closed, each would refuse what the others list. For the same
 * reason `allOf`, `not`, `if` and `dependentSchemas` are left as they are.
 */
function closed(schema: JsonValue): JsonObject {
  if (!isJsonObject(schema)) return plain(schema === true);
  const { optional: _optional, ...rest } = schema;
  const result: JsonObject = {};
  for (const [keyword, value] of Object.entries(rest)) result[keyword] = closedKeyword(keyword, value, rest);
  if (!isJsonObject(rest.properties)) return result;
  result.required ??= Object.entries(rest.properties).flatMap(([name, field]) => (isRequired(field) ? [name] : []));
  result.additionalProperties ??= false;
  return result;
}

function closedKeyword(keyword: string, value: JsonValue, schema: JsonObject): JsonValue {
  const narrows = isJsonObject(schema.properties);
  if (keyword === 'items' || keyword === 'additionalProperties') return isJsonObject(value) ? closed(value) : value;
  if (schemaListKeywords.has(keyword) && keyword !== 'allOf' && Array.isArray(value)) {
    return keyword !== 'prefixItems' && narrows
      ? value
      : value.map((each) => (isJsonObject(each) ? closed(each) : each));
  }
  if (schemaMapKeywords.has(keyword) && keyword !== 'dependentSchemas' && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, isJsonObject(each) ? closed(each) : each]),
    );
  }
  return value;
}

function isRequired(field: JsonValue): boolean {
  return !isJsonObject(field) || (!Object.hasOwn(field, 'default') && field.optional !== true);
}

export type ValidatedInput =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** By document: a definition is validated against as often as a run is started, and compiled once. */
const validators = new WeakMap<WorkflowDocument, SchemaValidator>();

/** Checks the input of a run and fills in defaults. The value given is not changed; undefined counts as an empty map. */
export async function validateInput(definition: Definition, input: JsonValue | undefined): Promise<ValidatedInput> {
  const { document } = definition;
  const validate = validators.get(document) ?? compileSchema(inputSchemaOf(document), { fillDefaults: true });
  validators.set(document, validate);
  const value = structuredClone(input ?? (input === null ? null : {}));
  const problems = validate(value);
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems };
}
