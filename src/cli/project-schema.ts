import { type JsonObject, type JsonValue, isJsonObject } from '../common/index.js';
import type { HandlerCatalogue, HandlerDescription } from '../handlers/index.js';

/**
 * The schema of flows for the editor, made for one project: `step` is one of its handlers, and `with` what that handler
 * takes. A formula or a secret may stand anywhere in `with`.
 *
 * @param schema of all flows, `schemas/workflow.schema.json`
 */
export function projectSchema(schema: JsonObject, handlers: HandlerCatalogue): JsonObject {
  const { $id: _id, $defs, ...rest } = structuredClone(schema) as JsonObject & { $defs: Record<string, JsonObject> };
  const typed = [...handlers.values()].filter(({ input }) => input !== undefined);
  for (const name of callers) {
    const definition = $defs[name];
    if (definition === undefined) continue;
    definition.properties = { ...(definition.properties as JsonObject), step: stepSchema(definition, handlers) };
    if (typed.length > 0) definition.allOf = typed.map(withOf);
  }
  const inputs = typed.map((handler) => [keyOf(handler), withSchema(handler)]);
  return { ...rest, $defs: { ...$defs, formulaOrSecret, ...Object.fromEntries(inputs) } };
}

const formulaOrSecret = {
  anyOf: [
    { type: 'string', pattern: '^=' },
    { type: 'object', required: ['$secret'] },
  ],
} satisfies JsonObject;

/** What calls a handler by its name. */
const callers = ['stepItem', 'compensation', 'reminder'];

function stepSchema({ properties }: JsonObject, handlers: HandlerCatalogue): JsonObject {
  const given = isJsonObject(properties) && isJsonObject(properties.step) ? properties.step : {};
  const { $ref: _ref, ...texts } = given;
  const described = [...handlers.values()];
  return {
    ...texts,
    enum: described.map(({ name }) => name),
    markdownEnumDescriptions: described.map(({ description = '' }) => description),
    errorMessage: 'There is no such handler.',
  };
}

const keyOf = ({ name }: HandlerDescription): string => `with.${name}`;

function withOf(handler: HandlerDescription): JsonObject {
  return {
    if: { type: 'object', required: ['step'], properties: { step: { const: handler.name } } },
    then: { properties: { with: { $ref: `#/$defs/${keyOf(handler)}` } } },
  };
}

function withSchema(handler: HandlerDescription): JsonObject {
  const { $schema: _schema, ...input } = handler.input ?? {};
  return withFormulas(input, `#/$defs/${keyOf(handler)}`);
}

/** Instead of any value a formula may stand, whose value nobody knows yet, or a secret. */
function withFormulas(schema: JsonObject, root: string): JsonObject {
  return { if: { $ref: '#/$defs/formulaOrSecret' }, else: inside(schema, root) };
}

function inside(schema: JsonObject, root: string): JsonObject {
  const result: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    // With formulas in it a value can fit several of what only one may fit, and what it must not be is not known.
    if (['not', 'if', 'then', 'else', 'contains', 'uniqueItems'].includes(keyword)) continue;
    if (keyword === '$ref' && typeof value === 'string')
      result.$ref = value === '#' ? root : value.replace(/^#/, `${root}/else`);
    else if (keyword === '$defs' || keyword === 'properties' || keyword === 'patternProperties') {
      result[keyword] = eachOf(value, root);
    } else result[keyword === 'oneOf' ? 'anyOf' : keyword] = subschemas.has(keyword) ? formulasIn(value, root) : value;
  }
  return result;
}

const subschemas = new Set(['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf']);

function eachOf(schemas: JsonValue, root: string): JsonValue {
  if (!isJsonObject(schemas)) return schemas;
  return Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, formulasIn(each, root)]));
}

function formulasIn(schema: JsonValue, root: string): JsonValue {
  if (Array.isArray(schema)) return schema.map((each) => formulasIn(each, root));
  return isJsonObject(schema) ? withFormulas(schema, root) : schema;
}
