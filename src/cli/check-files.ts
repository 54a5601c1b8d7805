import { existsSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type ReadFlow, catalogueOf, checkFlows, isFlowFile, isFlowTestFile, readFlowFile } from '../check/index.js';
import { handlersOf, walkItems } from '../definition/index.js';
import type { HandlerCatalogue } from '../handlers/index.js';
import type { Findings, Source } from '../syntax/index.js';
import { CommandFailure } from './failure.js';
import { filesOf, readFlow, readSources } from './flow-files.js';
import { checkFlowTests } from './flow-tests.js';
import { type Io, pathOf } from './io.js';
import { definitionsSetting } from './settings.js';
import { isTestOf, testedBy } from './tested-flow.js';

export interface CheckFilesOptions {
  /** Absent: the folder of definitions. `-` is stdin. */
  readonly paths: readonly string[];
  /** The file whose text comes on stdin: it gives the name, and stands in for what is saved there. */
  readonly stdinFilename?: string;
  readonly definitions?: string;
}

/** What was found in the files of a project. */
export interface CheckedFiles {
  /** Of each file, in the order in which they were given. */
  readonly findings: readonly Findings[];
  readonly flows: number;
  readonly tests: number;
  /** Names of handlers that no flow calls, and files of flows without a test; empty where single files were given. */
  readonly unusedHandlers: readonly string[];
  readonly untestedFlows: readonly string[];
}

/** Checks flows and flow tests together with the workflows that they may start. */
export async function checkFiles(
  options: CheckFilesOptions,
  handlers: HandlerCatalogue | undefined,
  io: Io,
): Promise<CheckedFiles> {
  const { path: folder, givenBy } = definitionsSetting(options.definitions, io);
  const paths = options.paths.length === 0 ? [folder] : options.paths;
  const isWanted = (name: string): boolean => isFlowFile(name) || isFlowTestFile(name);
  const sources = await readSources(paths, isWanted, options.stdinFilename ?? '<stdin>', io);
  const tests = sources.filter(({ name }) => isFlowTestFile(basename(name)));
  const flows = sources.filter((source) => !tests.includes(source)).map(readFlowFile);
  const isWhole = paths.every((path) => path !== '-' && statSync(pathOf(io, path)).isDirectory());
  const needsOthers = (isWhole && handlers !== undefined) || flows.some(mayStartChildren);
  const others = needsOthers ? await flowsAround(sources, folder, io) : [];
  const known = [...flows, ...others];
  const checked = checkFlows(flows, {
    workflows: catalogueOf(known),
    // Nobody knows which workflow a file is that cannot be read.
    workflowsMayBeMissing:
      (givenBy === undefined && !existsSync(pathOf(io, folder))) || known.some(({ read }) => read.root === undefined),
    ...(handlers !== undefined && { handlers }),
  });
  const told = flows.map(({ source }) => source);
  const checkedTests = await checkFlowTests(tests, folder, told, handlers, io);
  const found = new Map([...checked, ...checkedTests].map((each) => [each.source, each]));
  const findings = sources.flatMap((source) => found.get(source) ?? []);
  return {
    findings,
    flows: flows.length,
    tests: tests.length,
    unusedHandlers: isWhole && handlers !== undefined ? unusedOf(handlers, known) : [],
    untestedFlows: isWhole ? untestedOf(flows, tests) : [],
  };
}

/** A backslash may spell the word in another way. */
function mayStartChildren({ source }: ReadFlow): boolean {
  return /subWorkflow|\\/.test(source.text);
}

/** The flows beside those that are checked, and those of the project: the children of a run are looked for there. */
async function flowsAround(sources: readonly Source[], folder: string, io: Io): Promise<ReadFlow[]> {
  const given = new Set(sources.map(({ name }) => resolve(io.cwd, name)));
  const folders = new Set([...sources.map(({ name }) => dirname(resolve(io.cwd, name))), resolve(io.cwd, folder)]);
  const flows: ReadFlow[] = [];
  for (const place of folders) {
    if (!existsSync(place)) continue;
    for (const file of await flowsIn(place, io)) {
      if (!given.has(resolve(file))) flows.push(readFlowFile(await readFlow(file, io)));
    }
  }
  return flows;
}

/** One without flows is no mistake here. */
async function flowsIn(folder: string, io: Io): Promise<string[]> {
  try {
    return await filesOf(folder, io);
  } catch (error) {
    if (error instanceof CommandFailure) return [];
    throw error;
  }
}

/** Of a flow with mistakes in its shape it is enough that the name stands in it. */
function unusedOf(catalogue: HandlerCatalogue, flows: readonly ReadFlow[]): string[] {
  const called = new Set<string>();
  for (const { read } of flows) {
    if (read.document === undefined) continue;
    walkItems(read.document, ({ item }) => {
      for (const handler of handlersOf(item)) called.add(handler);
    });
  }
  const broken = flows.filter(({ read }) => read.document === undefined).map(({ source }) => source.text);
  return [...catalogue.keys()].filter((name) => !called.has(name) && !broken.some((text) => text.includes(name)));
}

function untestedOf(flows: readonly ReadFlow[], tests: readonly Source[]): string[] {
  const tested = new Set(tests.flatMap((test) => [...testedBy(test)]));
  return flows
    .filter(({ source, read }) => !isTestOf(tested, { path: source.name, name: read.document?.workflow }))
    .map(({ source }) => source.name);
}
