import { z } from 'zod';
import { type JsonObject, isError, messageOf, propertyOf } from '../common/index.js';
import type { Handler } from './handler.js';

/** One thing a schema did not like: where in the value (`items[0].qty`, empty for the whole) and what. */
export interface SchemaProblem {
  readonly path: string;
  readonly message: string;
}

export type Parsed =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** The step's `with` as the handler's input schema parses it; the value as it is where there is none. */
export const parseInput = (handler: Handler, value: unknown): Parsed => parse(handler, 'input', value);

/** What the handler returned as its output schema parses it; the value as it is where there is none. */
export const parseOutput = (handler: Handler, value: unknown): Parsed => parse(handler, 'output', value);

/** Enough to mend a value by; a hostile one could have millions. */
const mostProblems = 50;

function parse(handler: Handler, side: 'input' | 'output', value: unknown): Parsed {
  const schema = handler[side];
  if (schema === undefined) return { ok: true, value };
  let result: ReturnType<typeof schema.safeParse>;
  try {
    result = schema.safeParse(value);
  } catch (error) {
    return { ok: false, problems: [{ path: '', message: refusalOf(error) }] };
  }
  if (result.success) return { ok: true, value: result.data };
  return {
    ok: false,
    problems: result.error.issues
      .slice(0, mostProblems)
      .map(({ path, message }) => ({ path: z.core.toDotPath(path), message })),
  };
}

/** A refinement or transform of the author's that throws has refused the value in its own words. */
function refusalOf(thrown: unknown): string {
  // By name: the author's zod may be another copy.
  if (isError(thrown) && propertyOf(propertyOf(thrown, 'constructor'), 'name') === '$ZodAsyncError') {
    return 'the schema is asynchronous; do what it waits for in run()';
  }
  return messageOf(thrown);
}

/**
 * A schema as JSON Schema 2020-12 for the checker and the editor. What it cannot say (transforms,
 * dates, custom checks) becomes `{}`, "anything": the checker must not refuse what it cannot know.
 * A plain `z.object` of an input leaves `additionalProperties` open, though zod drops what is not
 * declared; `z.strictObject` gives false, `z.looseObject` gives `{}`.
 */
export function toJsonSchema(schema: z.ZodType, side: 'input' | 'output'): JsonObject | undefined {
  try {
    const converted = z.toJSONSchema(schema, {
      io: side,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        if (side === 'input') loosen(zodSchema, jsonSchema);
      },
    });
    // Through JSON: the converter's result carries functions (`~standard`) beside the schema.
    const plain = JSON.parse(JSON.stringify(converted)) as JsonObject;
    delete plain['~standard'];
    return plain;
  } catch {
    // Whatever a schema holds that the converter refuses: nothing is known, and nothing will be checked.
    return undefined;
  }
}

/**
 * Of schemas that first convert what they are given, or replace what does not fit, zod tells only
 * what comes after; as a schema of the input that would refuse what they take.
 */
function loosen(schema: z.core.$ZodTypes, jsonSchema: z.core.JSONSchema.BaseSchema): void {
  if (takesAnything(schema)) for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
  const { def } = schema._zod;
  if (def.type === 'object' && jsonSchema.required !== undefined) {
    jsonSchema.required = jsonSchema.required.filter((key) => !standsInForAbsent(def.shape[key]));
  }
}

const takesAnything = (schema: z.core.$ZodType): boolean =>
  standsInForAbsent(schema) || ('coerce' in schema._zod.def && schema._zod.def.coerce === true);

/** `z.preprocess` and `.catch` are asked even where the field is missing. */
function standsInForAbsent(schema: z.core.$ZodType | undefined): boolean {
  const def = (schema as z.core.$ZodTypes | undefined)?._zod.def;
  return def?.type === 'catch' || (def?.type === 'pipe' && (def.in as z.core.$ZodTypes)._zod.def.type === 'transform');
}
