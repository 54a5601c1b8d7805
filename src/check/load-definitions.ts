import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { RunsheetError } from '../common/index.js';
import { type Definition, Revisions } from '../definition/index.js';
import { type Findings, Source } from '../syntax/index.js';
import { type CheckOptions, checkSource } from './check-source.js';

/** Flow files have mistakes; `findings` holds those of every file that has an error. */
export class InvalidDefinitionsError extends RunsheetError {
  readonly findings: readonly Findings[];

  constructor(findings: readonly Findings[]) {
    super('RS_DEFINITION_INVALID', messageOf(findings));
    this.name = 'InvalidDefinitionsError';
    this.findings = findings;
  }

  /** The diagnostics of all those files. */
  get diagnostics(): Findings['diagnostics'] {
    return this.findings.flatMap(({ diagnostics }) => diagnostics);
  }
}

/** In a folder: YAML and JSON, save flow tests, sample inputs, the config of a project and what editors hide there. */
export function isFlowFile(name: string): boolean {
  return (
    !name.startsWith('.') &&
    /\.(yaml|yml|json)$/.test(name) &&
    !/\.test\.[a-z]+$|\.input\.json$|^runsheet\.config\./.test(name)
  );
}

/** In a folder: the tests of its flows. */
export function isFlowTestFile(name: string): boolean {
  return !name.startsWith('.') && /\.test\.(yaml|yml|json)$/.test(name);
}

/**
 * Reads and checks the flow in a file, or those directly in a folder, in order of their names.
 *
 * @throws InvalidDefinitionsError (`RS_DEFINITION_INVALID`) with the mistakes of all files at once
 * @throws RunsheetError `RS_DEFINITION_CONFLICT` where two files have other contents of one revision
 * @throws RunsheetError `RS_OPTIONS_INVALID` if the path cannot be read, or is a folder without any flow, and for
 *   unknown options
 */
export async function loadDefinitions(path: string, options: CheckOptions = {}): Promise<Definition[]> {
  // Loaded here: the command line checks flows without it, and is slower to start with zod.
  const { checkLoadOptions } = await import('./load-options.js');
  checkLoadOptions(path, options);
  const definitions: Definition[] = [];
  const revisions = new Revisions();
  const findings: Findings[] = [];
  for (const file of await flowFilesOf(path)) {
    const source = Source.fromBytes(file, await readFile(file));
    const { definition, diagnostics } = checkSource(source, options);
    if (definition === undefined) findings.push({ source, diagnostics });
    else definitions.push(definition);
  }
  if (findings.length > 0) throw new InvalidDefinitionsError(findings);
  for (const definition of definitions) revisions.add(definition);
  return definitions;
}

async function flowFilesOf(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isDirectory() && isFlowFile(entry.name)).map(({ name }) => name);
    if (names.length > 0) return names.sort().map((name) => join(path, name));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RunsheetError('RS_OPTIONS_INVALID', `flows cannot be read from ${path}: ${reason}`, { cause });
  }
  throw new RunsheetError('RS_OPTIONS_INVALID', `there is no flow (*.yaml, *.yml, *.json) in the folder ${path}`);
}

function messageOf(findings: readonly Findings[]): string {
  const lines = findings.flatMap(({ source, diagnostics }) =>
    diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ code, message, range }) => {
        const { line, column } = source.position(range.start);
        return `${source.name}:${line}:${column}: ${code}: ${message}`;
      }),
  );
  const shown = lines.slice(0, 10);
  const rest = lines.length - shown.length;
  return [`flows have mistakes:`, ...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n');
}
