import { type JsonObject, type JsonValue, isJsonObject } from '../../common/index.js';
import type { HandlerDescription } from '../../handlers/index.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import type { Io } from '../io.js';
import { projectHandlers } from '../project-handlers.js';

export interface HandlersOptions {
  readonly json: boolean;
  readonly handlers?: string;
}

/** Lists the handlers of the project with what they take, give and throw. */
export async function handlers(options: HandlersOptions, io: Io): Promise<ExitCode> {
  // Named even if not given, so that a missing folder is an error here.
  const registry = await projectHandlers(options.handlers ?? 'handlers', io);
  const described = [...(registry?.catalogue().values() ?? [])];
  if (options.json) {
    io.out(`${JSON.stringify({ version: 1, handlers: described }, undefined, 2)}\n`);
    return exitCodes.fine;
  }
  io.out(described.map(describe).join('\n'));
  if (described.length === 0) io.err(`there are no handlers in ${options.handlers ?? 'handlers'}\n`);
  return exitCodes.fine;
}

function describe({ name, description, input, output, errors }: HandlerDescription): string {
  const rows: [string, string][] = [
    ['takes', input === undefined ? 'anything' : typeOf(input)],
    ['gives', output === undefined ? 'anything' : typeOf(output)],
    ...(errors === undefined ? [] : ([['throws', errors.join(', ')]] satisfies [string, string][])),
  ];
  const lines = rows.map(([label, text]) => `  ${label.padEnd(7)} ${text}\n`);
  return `${name}${description === undefined ? '' : ` - ${description}`}\n${lines.join('')}`;
}

/** A JSON Schema as one would write the type; what has no short form is shown as JSON. */
function typeOf(schema: JsonValue | undefined): string {
  if (schema === undefined || schema === true) return 'anything';
  if (!isJsonObject(schema)) return JSON.stringify(schema);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  for (const union of [schema.anyOf, schema.oneOf]) if (Array.isArray(union)) return union.map(typeOf).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.join(' | ');
  if (schema.type === 'object') return objectType(schema);
  if (schema.type === 'array') return schema.items === undefined ? 'list' : `list of ${typeOf(schema.items)}`;
  if (typeof schema.type === 'string') return schema.type;
  return Object.keys(schema).length === 0 ? 'anything' : JSON.stringify(schema);
}

function objectType(schema: JsonObject): string {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(properties).map(
    ([name, property]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(property)}`,
  );
  if (isJsonObject(schema.additionalProperties)) fields.push(`…: ${typeOf(schema.additionalProperties)}`);
  return fields.length === 0 ? 'map' : `{ ${fields.join(', ')} }`;
}
