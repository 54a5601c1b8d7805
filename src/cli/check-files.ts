import { existsSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type KnownFlow, checkProject, isFlowFile, isFlowTestFile, mayStartChildren } from '../check/index.js';
import type { HandlerCatalogue } from '../handlers/index.js';
import type { Findings, Source } from '../syntax/index.js';
import { CommandFailure } from './failure.js';
import { filesOf, readIn, readSources } from './flow-files.js';
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
  const isTest = ({ name }: Source): boolean => isFlowTestFile(basename(name));
  const tests = sources.filter(isTest);
  const flows = sources.filter((source) => !isTest(source));
  const isWhole = paths.every((path) => path !== '-' && statSync(pathOf(io, path)).isDirectory());
  const needsOthers = (isWhole && handlers !== undefined) || flows.some(mayStartChildren);
  const { findings: checked, known } = checkProject({
    flows,
    others: needsOthers ? await flowsAround(sources, folder, io) : [],
    workflowsMayBeMissing: givenBy === undefined && !existsSync(pathOf(io, folder)),
    ...(handlers !== undefined && { handlers }),
  });
  const checkedTests = await checkFlowTests(tests, folder, flows, handlers, io);
  const found = new Map([...checked, ...checkedTests].map((each) => [each.source, each]));
  const findings = sources.flatMap((source) => found.get(source) ?? []);
  return {
    findings,
    flows: flows.length,
    tests: tests.length,
    unusedHandlers: isWhole && handlers !== undefined ? unusedOf(handlers, known) : [],
    untestedFlows: isWhole ? untestedOf(known.slice(0, flows.length), tests) : [],
  };
}

/** The flows beside those that are checked, and those of the project: the children of a run are looked for there. */
async function flowsAround(sources: readonly Source[], folder: string, io: Io): Promise<Source[]> {
  const given = new Set(sources.map(({ name }) => resolve(io.cwd, name)));
  const folders = new Set([...sources.map(({ name }) => dirname(resolve(io.cwd, name))), resolve(io.cwd, folder)]);
  const flows: Source[] = [];
  for (const place of folders) {
    if (!existsSync(place)) continue;
    for (const file of await flowsIn(place, io)) {
      if (!given.has(resolve(file))) flows.push(await readIn(place, file, io));
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
function unusedOf(catalogue: HandlerCatalogue, flows: readonly KnownFlow[]): string[] {
  const called = new Set(flows.flatMap(({ handlers }) => handlers ?? []));
  const broken = flows.filter(({ handlers }) => handlers === undefined).map(({ source }) => source.text);
  return [...catalogue.keys()].filter((name) => !called.has(name) && !broken.some((text) => text.includes(name)));
}

function untestedOf(flows: readonly KnownFlow[], tests: readonly Source[]): string[] {
  const tested = new Set(tests.flatMap((test) => [...testedBy(test)]));
  return flows
    .filter(({ source, identity }) => !isTestOf(tested, { path: source.name, name: identity?.name }))
    .map(({ source }) => source.name);
}
