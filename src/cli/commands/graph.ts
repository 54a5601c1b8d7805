import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { type Definition, definitionFromCanonical } from '../../definition/index.js';
import type { RunRecord, Storage } from '../../storage/index.js';
import { databasePath, withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { findDefinitions, isPath } from '../find-flow.js';
import { findRun } from '../find-run.js';
import type { GraphFormat } from '../graph-formats.js';
import { type Graph, buildGraph, statesOf, toDot, toMermaid } from '../graph/index.js';
import type { Io } from '../io.js';
import { definitionsSetting } from '../settings.js';
import { say } from '../terminal-text.js';
import { writeOutput } from '../write-output.js';

export interface GraphOptions {
  readonly format?: GraphFormat;
  /** Path of a file instead of stdout. */
  readonly output?: string;
  /** Whose key it is, where several workflows have it. */
  readonly workflow?: string;
  readonly db?: string;
  readonly definitions?: string;
}

/** Draws a flow, by path or name, or a run, by id or key. Needs no handlers. */
export async function graph(target: string, options: GraphOptions, io: Io): Promise<ExitCode> {
  const format = formatOf(options);
  const text = await render(await graphOf(target, options, io), format);
  if (options.output === undefined) io.data(text);
  else {
    writeOutput(options.output, text, io);
    say(io, `wrote ${options.output}`);
  }
  return exitCodes.fine;
}

function formatOf({ format, output }: GraphOptions): GraphFormat {
  if (format !== undefined || output === undefined) return format ?? 'mermaid';
  const suffix = extname(output).toLowerCase();
  const known = formatOfSuffix[suffix];
  if (known !== undefined) return known;
  throw new CommandFailure(
    exitCodes.usage,
    `the name ${output} does not say which format is meant: end it in .svg, .mmd or .dot, or give --format`,
  );
}

const formatOfSuffix: Readonly<Record<string, GraphFormat>> = {
  '.svg': 'svg',
  '.mmd': 'mermaid',
  '.mermaid': 'mermaid',
  '.dot': 'dot',
  '.gv': 'dot',
};

async function render(drawn: Graph, format: GraphFormat): Promise<string> {
  switch (format) {
    case 'mermaid':
      return toMermaid(drawn);
    case 'dot':
      return toDot(drawn);
    case 'svg':
      return (await import('../graph/svg/svg.js')).toSvg(drawn);
  }
}

async function graphOf(target: string, options: GraphOptions, io: Io): Promise<Graph> {
  const isRunId = /^wf_[0-9a-f]{4,32}$/.test(target) && !isPath(target, io);
  if (!isRunId) {
    const definition = await flowOf(target, options, io);
    if (definition !== undefined) return buildGraph(definition);
  }
  return withExistingStorage(options.db, io, async (storage) =>
    runGraph(storage, await findRun(storage, target, options.workflow), io.clock.now()),
  );
}

/** The flow that is meant; undefined where the word can only be the key of a run. */
async function flowOf(target: string, { definitions, db }: GraphOptions, io: Io): Promise<Definition | undefined> {
  try {
    const found = await findDefinitions(target, definitionsSetting(definitions, io), undefined, io);
    return [...found].sort((a, b) => b.revision - a.revision)[0];
  } catch (error) {
    const isUnknown = error instanceof CommandFailure && error.exitCode === exitCodes.notFound;
    if (!isUnknown || isPath(target, io) || !(await hasRun(target, db, io))) throw error;
    return undefined;
  }
}

async function hasRun(key: string, db: string | undefined, io: Io): Promise<boolean> {
  if (!existsSync(databasePath(db, io))) return false;
  return withExistingStorage(db, io, async (storage) => {
    try {
      await findRun(storage, key, undefined);
      return true;
    } catch (error) {
      if (error instanceof CommandFailure) return error.exitCode !== exitCodes.notFound;
      throw error;
    }
  });
}

/** A run as a picture, for those who have its storage at hand. */
export async function drawRun(storage: Storage, record: RunRecord): Promise<string> {
  return render(await runGraph(storage, record, record.endedAt ?? record.createdAt), 'svg');
}

async function runGraph(storage: Storage, record: RunRecord, now: number): Promise<Graph> {
  const stored = await storage.readDefinition(record.definitionHash);
  if (stored === undefined) {
    throw new CommandFailure(
      exitCodes.notFound,
      `the flow of ${record.id} (${record.workflow} revision ${record.revision}) is not stored, so it cannot be drawn`,
    );
  }
  const { readHistory } = await import('../../engine/index.js');
  const definition = definitionFromCanonical(stored.document);
  const history = await readHistory(storage, record);
  return buildGraph(definition, statesOf(definition.document, history, now));
}
