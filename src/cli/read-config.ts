import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import {
  Source,
  diagnosticCodes,
  nearest,
  nodeAt,
  parseDocument,
  renderDiagnostics,
  toValue,
} from '../syntax/index.js';
import type { RunsheetConfig } from './config.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import { importModule } from './import-module.js';
import { isCode } from './settings.js';

const code = z.enum(Object.keys(diagnosticCodes) as [keyof typeof diagnosticCodes]);
const path = z.string().min(1);

const schema = z.strictObject({
  db: path,
  handlers: path,
  definitions: path,
  concurrency: z.int().min(1),
  maxWarnings: z.int().min(0),
  severity: z.partialRecord(code, z.enum(['off', 'warning', 'error'])),
  ignore: z.array(
    z
      .strictObject({ code, path })
      .partial()
      .refine((rule) => rule.code !== undefined || rule.path !== undefined, 'needs a `code`, a `path`, or both'),
  ),
});

/** What a setting must be, in words that fit any mistake in it. */
const expected: Readonly<Record<string, string>> = {
  db: 'the path of a database',
  handlers: 'the path of a folder or file',
  definitions: 'the path of a folder',
  concurrency: 'a whole number from 1 on',
  maxWarnings: 'a whole number from 0 on',
  severity: 'a map from codes to `off`, `warning` or `error`',
  ignore: 'a list of rules `{ code, path }`',
};

/**
 * The config in a file: YAML and JSON are read, TypeScript and JavaScript loaded.
 *
 * @param file absolute
 * @param name what messages call it
 * @throws CommandFailure (usage) with all mistakes, a line each, at their places where the file has any
 */
export async function readConfig(file: string, name: string): Promise<RunsheetConfig> {
  const { value, placeOf } = isCode(file) ? await load(file, name) : await readText(file, name);
  const result = schema.partial().safeParse(value);
  if (result.success) return result.data as RunsheetConfig;
  const problems = result.error.issues
    .flatMap(messagesOf)
    .map(({ at, message }) => ({ place: placeOf(at), message }))
    .sort((one, other) => one.place.localeCompare(other.place, 'en', { numeric: true }))
    .map(({ place, message }) => `${name}${place}: ${message}`);
  const [only = ''] = problems;
  if (problems.length === 1) throw new CommandFailure(exitCodes.usage, only);
  const details = problems.map((line) => `  ${line}`);
  throw new CommandFailure(exitCodes.usage, `${name} has mistakes:`, { details });
}

interface Content {
  readonly value: unknown;
  /** `:3:5`, or nothing where that is not known. */
  readonly placeOf: (path: readonly PropertyKey[]) => string;
}

async function readText(file: string, name: string): Promise<Content> {
  const source = Source.fromBytes(name, await bytesOf(file, name));
  const { root, diagnostics } = parseDocument(source);
  if (root === undefined) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const details = renderDiagnostics(errors, source).trimEnd().split('\n');
    throw new CommandFailure(exitCodes.usage, 'the config file cannot be read', { details });
  }
  return {
    value: toValue(root),
    placeOf: (at) => {
      const keys = at.map((key) => (typeof key === 'symbol' ? String(key) : key));
      // What is missing has no place of its own: that of what it is missing from.
      for (let length = keys.length; length >= 0; length -= 1) {
        const parent = nodeAt(root, keys.slice(0, length - 1));
        const entry =
          parent?.kind === 'mapping'
            ? parent.entries.find(({ key }) => key.value === String(keys[length - 1]))
            : undefined;
        const node = entry?.key ?? nodeAt(root, keys.slice(0, length));
        if (node === undefined) continue;
        const { line, column } = source.position(node.range.start);
        return `:${line}:${column}`;
      }
      return '';
    },
  };
}

async function bytesOf(file: string, name: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandFailure(exitCodes.usage, `${name} cannot be read: ${reason}`, { cause });
  }
}

async function load(file: string, name: string): Promise<Content> {
  let module: unknown;
  try {
    module = await importModule(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandFailure(exitCodes.usage, `${name} cannot be loaded: ${reason}`, { cause });
  }
  const exported = typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
  if (exported === undefined) {
    const remedy = 'write export default defineConfig({ … })';
    throw new CommandFailure(exitCodes.usage, `${name}: it has no default export; ${remedy}`);
  }
  return { value: exported, placeOf: () => '' };
}

interface Problem {
  readonly at: readonly PropertyKey[];
  readonly message: string;
}

function messagesOf(issue: z.core.$ZodIssue): Problem[] {
  const [setting] = issue.path;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ at: [...issue.path, key], message: unknownKey(key, issue.path) }));
  }
  if (setting === undefined) return [{ at: [], message: 'a config is a map of settings' }];
  if (setting === 'ignore' && issue.path[2] === 'code') {
    return [{ at: issue.path, message: `${pathText(issue.path)}: ${noSuchCode(undefined)}` }];
  }
  if (issue.code === 'custom') return [{ at: issue.path, message: `${pathText(issue.path)} ${issue.message}` }];
  const wanted =
    setting === 'severity' && issue.path.length > 1 ? '`off`, `warning` or `error`' : expected[String(setting)];
  return [{ at: issue.path, message: `${pathText(issue.path)} must be ${wanted ?? 'something else'}` }];
}

function unknownKey(key: string, path: readonly PropertyKey[]): string {
  if (path[0] === 'severity') return `${pathText([...path, key])}: ${noSuchCode(key)}`;
  const known = path.length === 0 ? Object.keys(expected) : ['code', 'path'];
  const near = nearest(key, known);
  const remedy = near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`;
  return `there is no setting \`${pathText([...path, key]).slice(1, -1)}\`; ${remedy}`;
}

function noSuchCode(name: string | undefined): string {
  const near = name === undefined ? undefined : nearest(name, Object.keys(diagnosticCodes));
  return `there is no such code; ${near === undefined ? 'codes look like RS1030' : `did you mean ${near}?`}`;
}

function pathText(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>(
    (before, key) =>
      typeof key === 'number' ? `${before}[${key}]` : `${before}${before === '' ? '' : '.'}${String(key)}`,
    '',
  );
  return `\`${text}\``;
}
