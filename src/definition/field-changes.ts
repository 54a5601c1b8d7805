import { type JsonObject, type JsonValue, canonicalJson, isJsonObject } from '../common/index.js';

/** A value that is another one; `before` or `after` is absent where there was, or is, none. */
export interface FieldChange {
  /** Dotted, from the document or the item: `input.total.minimum`, `with.amount`. */
  readonly path: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
}

/** Where two maps differ, as deep as both are maps, or lists of the same length. */
export function fieldChanges(before: JsonObject, after: JsonObject, path = ''): FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => valueChanges(before[name], after[name], path === '' ? name : `${path}.${name}`));
}

function valueChanges(before: JsonValue | undefined, after: JsonValue | undefined, path: string): FieldChange[] {
  if (before === undefined) return after === undefined ? [] : [{ path, after }];
  if (after === undefined) return [{ path, before }];
  if (canonicalJson(before) === canonicalJson(after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) return fieldChanges(before, after, path);
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((value, index) => valueChanges(value, after[index], `${path}.${index}`));
  }
  return [{ path, before, after }];
}
