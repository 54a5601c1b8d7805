import { type JsonObject, type JsonValue, isJsonObject } from '../../common/index.js';
import { type SyntaxNode, toValue } from '../../syntax/index.js';
import {
  type Type,
  absent,
  anything,
  booleanType,
  intersection,
  listOf,
  mapOf,
  never,
  nullType,
  numberType,
  optional,
  present,
  stringType,
  union,
  unknown,
} from './type.js';

/** The JSON Schema that a node holds, if it is one. */
export function schemaAt(node: SyntaxNode | undefined): JsonObject | boolean | undefined {
  const value = node && toValue(node);
  return isJsonObject(value) || typeof value === 'boolean' ? value : undefined;
}

/** Schemas that refer to themselves, and very deep ones, are known down to here. */
const deepest = 12;

/** References may double at each level: of more schemas than this, one in another, nothing is known. */
const mostSchemas = 10_000;

interface Reading {
  readonly root: JsonObject | boolean;
  /** Whether what validates the value puts defaults in; only on the direct way of fields and items, not inside choices. */
  readonly fillsDefaults: boolean;
  readonly depth: number;
  /** How many more schemas are read. */
  readonly budget: { left: number };
}

/**
 * The values that a JSON Schema 2020-12 accepts. Keywords that are not understood only narrow what a schema
 * accepts, so that they may be passed over.
 */
export function typeOfSchema(schema: JsonObject | boolean, options: { fillsDefaults?: boolean } = {}): Type {
  return read(schema, {
    root: schema,
    fillsDefaults: options.fillsDefaults === true,
    depth: 0,
    budget: { left: mostSchemas },
  });
}

function read(schema: JsonValue | undefined, reading: Reading): Type {
  if (schema === false) return never;
  if (!isJsonObject(schema) || reading.depth > deepest || reading.budget.left <= 0) return anything;
  reading.budget.left -= 1;
  const deeper = { ...reading, depth: reading.depth + 1 };
  let type = kindsOf(schema, deeper);
  if (Object.hasOwn(schema, 'const')) type = intersection(type, typeOfValue(schema.const));
  if (Array.isArray(schema.enum)) type = intersection(type, union(...schema.enum.map(typeOfValue)));
  // Defaults inside choices are not filled in.
  const choosing = { ...deeper, fillsDefaults: false };
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const choices = schema[keyword];
    if (Array.isArray(choices)) type = intersection(type, union(...choices.map((each) => read(each, choosing))));
  }
  if (Array.isArray(schema.allOf)) for (const each of schema.allOf) type = intersection(type, read(each, deeper));
  if (typeof schema.$ref === 'string') type = intersection(type, referred(schema.$ref, deeper));
  return type;
}

function kindsOf(schema: JsonObject, reading: Reading): Type {
  if (schema.type === undefined && !sayingMuch.some((keyword) => Object.hasOwn(schema, keyword))) return anything;
  const names = schema.type === undefined ? allKinds : [schema.type].flat();
  return union(...names.map((name) => kindOf(name, schema, reading)));
}

const allKinds = ['null', 'boolean', 'number', 'string', 'array', 'object'];
const sayingMuch = ['properties', 'required', 'additionalProperties', 'items', 'prefixItems', 'minItems', 'maxItems'];

function kindOf(name: JsonValue, schema: JsonObject, reading: Reading): Type {
  switch (name) {
    case 'null':
      return nullType;
    case 'boolean':
      return booleanType;
    case 'number':
    case 'integer':
      return numberType;
    case 'string':
      return stringType;
    case 'array':
      return listKind(schema, reading);
    case 'object':
      return mapKind(schema, reading);
    default:
      return anything;
  }
}

function listKind(schema: JsonObject, reading: Reading): Type {
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const rest = read(schema.items, reading);
  const items = union(rest, ...prefix.map((each) => read(each, reading)));
  const count = (keyword: string): number | undefined => {
    const value = schema[keyword];
    return typeof value === 'number' ? value : undefined;
  };
  const max = schema.items === false ? prefix.length : Infinity;
  return listOf(items, count('minItems') ?? 0, Math.min(max, count('maxItems') ?? Infinity));
}

function mapKind(schema: JsonObject, reading: Reading): Type {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = new Map<string, Type>();
  for (const [name, field] of Object.entries(properties)) {
    const type = read(field, reading);
    const isThere =
      required.has(name) || (reading.fillsDefaults && isJsonObject(field) && Object.hasOwn(field, 'default'));
    fields.set(name, isThere ? type : optional(type));
  }
  const others = restOf(schema, reading);
  for (const name of required) {
    if (typeof name === 'string' && !fields.has(name)) fields.set(name, present(others));
  }
  return mapOf(fields, others);
}

/** What the fields are that a schema does not name. */
function restOf(schema: JsonObject, reading: Reading): Type {
  if (isJsonObject(schema.patternProperties) && Object.keys(schema.patternProperties).length > 0) return unknown;
  const { additionalProperties } = schema;
  if (additionalProperties === undefined || additionalProperties === true) return unknown;
  return additionalProperties === false ? absent : optional(read(additionalProperties, reading));
}

function referred(reference: string, reading: Reading): Type {
  if (!/^#(\/|$)/.test(reference)) return anything;
  let target: JsonValue | undefined = reading.root;
  for (const segment of reference.split('/').slice(1)) {
    const key = decoded(segment)?.replaceAll('~1', '/').replaceAll('~0', '~');
    if (key === undefined) return anything;
    if (Array.isArray(target)) target = target[Number(key)];
    else target = isJsonObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  return target === undefined ? anything : read(target, reading);
}

/** A part of a reference, which is written as in a URL; undefined where its `%` are not those of a URL. */
function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** The type of one known value. */
export function typeOfValue(value: JsonValue | undefined): Type {
  switch (typeof value) {
    case 'boolean':
      return booleanType;
    case 'number':
      return { ...never, number: new Set([value]) };
    case 'string':
      return { ...never, string: new Set([value]) };
    case 'object':
      if (value === null) return nullType;
      if (Array.isArray(value)) return listOf(union(...value.map(typeOfValue)), value.length, value.length);
      return mapOf(Object.entries(value).map(([name, field]) => [name, typeOfValue(field)]));
    default:
      return absent;
  }
}
