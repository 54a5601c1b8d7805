const namePattern = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

const fields = ['name', 'description', 'input', 'output', 'errors', 'run'];

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Does the value at least mean to be a handler? Decides which message its author gets. */
export const looksLikeHandler = (value: unknown): boolean => isRecord(value) && ('run' in value || 'name' in value);

/**
 * What is wrong with a handler definition and how to mend it, in one sentence; undefined if nothing.
 * Types cannot be relied on here: handlers are written in JavaScript too.
 */
export function handlerFault(value: unknown): string | undefined {
  if (!isRecord(value))
    return `a handler is an object, not ${describe(value)}; make one with defineHandler({ name, run })`;
  const { name, description, input, output, errors, run } = value;
  if (typeof name !== 'string' || name === '')
    return 'a handler has no name; give it the one that flows write after "step:"';
  if (!namePattern.test(name)) {
    return `handler name ${JSON.stringify(name)} is impossible; use letters, digits, "_", "." and "-", beginning with a letter or "_"`;
  }
  const who = `handler "${name}"`;
  if (typeof run !== 'function') return `${who} has no run function; add run(ctx) { … }`;
  if (description !== undefined && typeof description !== 'string') return `description of ${who} is no text`;
  const unknown = Object.keys(value).find((key) => !fields.includes(key));
  if (unknown !== undefined) return `${who} has an unknown field "${unknown}"; there are ${fields.join(', ')}`;
  if (
    errors !== undefined &&
    !(Array.isArray(errors) && errors.every((item) => typeof item === 'string' && item !== ''))
  ) {
    return `errors of ${who} is no list of error names`;
  }
  return schemaFault(`input of ${who}`, input) ?? schemaFault(`output of ${who}`, output);
}

function schemaFault(what: string, schema: unknown): string | undefined {
  if (schema === undefined || (isRecord(schema) && '_zod' in schema && typeof schema.safeParse === 'function'))
    return undefined;
  return isRecord(schema) && '_def' in schema
    ? `${what} is a zod 3 schema; import z from zod 4`
    : `${what} is no zod schema but ${describe(schema)}; write for example z.object({ … })`;
}

export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`;
  return typeof value === 'object' ? 'an object' : value === undefined ? 'undefined' : `a ${typeof value}`;
}
