import type { z } from 'zod';
import { RunsheetError } from './errors.js';
import { nearest } from './nearest.js';

/**
 * Checks what a public call was given against a schema, before anything is done with it.
 *
 * @param given by name; what stands under `options` is named by itself
 * @throws RunsheetError `RS_OPTIONS_INVALID` naming each unknown option, with the one that was probably meant, and each
 *   impossible value
 */
export function checkOptions(call: string, schema: z.ZodType, given: Readonly<Record<string, unknown>>): void {
  let problems: string[];
  try {
    const checked = schema.safeParse(given);
    if (checked.success) return;
    problems = checked.error.issues.flatMap((issue) => problemsOf(issue, schema, given));
  } catch (cause) {
    throw new RunsheetError('RS_OPTIONS_INVALID', `${call}: the options cannot be read`, { cause });
  }
  throw new RunsheetError('RS_OPTIONS_INVALID', `${call}: ${problems.join('; ')}`);
}

function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType, given: unknown): string[] {
  const where = pathText(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, issue.path);
    return issue.keys.map((key) => unknownOption(pathText([...issue.path, key]), key, known));
  }
  const meant =
    issue.code === 'invalid_value' ? nearest(String(valueAt(given, issue.path)), texts(issue.values)) : undefined;
  return [
    `${where === '' ? '' : `${where}: `}${issue.message}${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
  ];
}

function unknownOption(name: string, key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  const remedy =
    meant !== undefined
      ? `did you mean "${meant}"?`
      : known.length > 0
        ? `there are ${known.join(', ')}`
        : 'there are none';
  return `unknown option "${name}"; ${remedy}`;
}

const texts = (values: readonly unknown[]): string[] => values.filter((value) => typeof value === 'string');

function pathText(path: readonly PropertyKey[]): string {
  const shown = path[0] === 'options' ? path.slice(1) : path;
  return shown.length === 0 && path.length > 0 ? 'options' : shown.map(String).join('.');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (around, key) => (typeof around === 'object' && around !== null ? Reflect.get(around, key) : undefined),
    value,
  );
}

/** The options that a schema knows at a place. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let inside: unknown = unwrapped(schema);
  for (const key of path)
    inside = unwrapped((inside as { shape?: Record<PropertyKey, unknown> } | undefined)?.shape?.[key]);
  return Object.keys((inside as { shape?: object } | undefined)?.shape ?? {});
}

/** What an optional option is where it is given. */
function unwrapped(schema: unknown): unknown {
  const { type, innerType } = (schema as z.ZodOptional | undefined)?.def ?? {};
  return type === 'optional' ? unwrapped(innerType) : schema;
}
