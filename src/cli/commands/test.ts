import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Definition } from '../../definition/index.js';
import type { HandlerRegistry } from '../../handlers/index.js';
import { Source, renderDiagnostics } from '../../syntax/index.js';
import { FlowCoverage, runLoadedTests } from '../../testing/flow-runner/index.js';
import { FlowLibrary, checkFlowTestSource } from '../../testing/flow-tests/index.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure, systemCodeOf } from '../failure.js';
import { type Io, pathOf, wantsColor } from '../io.js';
import { projectHandlers } from '../project-handlers.js';
import { definitionsSetting } from '../settings.js';
import { testFilesOf } from '../test-files.js';
import {
  type TestReport,
  type TestedFile,
  coverageText,
  fileText,
  isInvalid,
  reportJson,
  reportJunit,
  summaryText,
} from '../test-report.js';

export interface TestOptions {
  readonly format: 'human' | 'json' | 'junit';
  readonly filter?: string;
  readonly coverage?: boolean;
  /** Least percentage of each flow. */
  readonly coverageMin?: number;
  readonly handlers?: string | false;
  readonly definitions?: string;
}

/** Runs flow tests. */
export async function test(paths: readonly string[], options: TestOptions, io: Io): Promise<ExitCode> {
  const folder = definitionsSetting(options.definitions, io).path;
  const files = await testFilesOf(paths.length === 0 ? [folder] : paths, io);
  const handlers = options.handlers === false ? undefined : await projectHandlers(options.handlers, io);
  const run = new TestRun(options, handlers, io);
  for (const path of files) await run.file(path);
  return run.end();
}

class TestRun {
  readonly #options: TestOptions;
  readonly #handlers: HandlerRegistry | undefined;
  readonly #io: Io;
  readonly #library = new FlowLibrary();
  readonly #files: TestedFile[] = [];
  /** By hash of the flow. */
  readonly #coverage = new Map<string, FlowCoverage>();

  constructor(options: TestOptions, handlers: HandlerRegistry | undefined, io: Io) {
    this.#options = options;
    this.#handlers = handlers;
    this.#io = io;
  }

  async file(path: string): Promise<void> {
    const io = this.#io;
    const { definitions, filter, format } = this.#options;
    const handlers = this.#handlers;
    const folder = pathOf(io, definitionsSetting(definitions, io).path);
    const loaded = await checkFlowTestSource(Source.fromBytes(pathOf(io, path), await read(path, io)), {
      ...(existsSync(folder) && { definitions: folder }),
      ...(handlers !== undefined && { handlers: handlers.catalogue() }),
      library: this.#library,
    });
    const { root, diagnostics, workflow } = loaded;
    // Messages call the file as its user did.
    const source = new Source(path, loaded.source.text);
    const file: TestedFile = { source, root, diagnostics, results: [] };
    if (workflow !== undefined && !isInvalid(file)) this.#coverageOf(workflow);
    const results = isInvalid(file)
      ? []
      : await runLoadedTests(loaded, {
          ...(handlers !== undefined && { handlers }),
          ...(filter !== undefined && { filter }),
          onJournal: (definition, entries) => this.#coverageOf(definition).add(entries),
        });
    const tested = { ...file, results };
    this.#files.push(tested);
    if (format !== 'human') return;
    if (diagnostics.length > 0) {
      io.err(renderDiagnostics(diagnostics, source, { color: wantsColor(io, io.errIsTerminal) }));
    }
    if (results.length > 0) io.out(fileText(tested, wantsColor(io, io.outIsTerminal)));
  }

  end(): ExitCode {
    const { format, coverage, coverageMin, filter } = this.#options;
    const wanted = coverage === true || coverageMin !== undefined;
    const summaries = wanted ? [...this.#coverage.values()].map((each) => each.summary()) : undefined;
    const report: TestReport = { files: this.#files, coverage: summaries };
    if (format === 'json') this.#io.out(reportJson(report));
    else if (format === 'junit') this.#io.out(reportJunit(report));
    else if (summaries !== undefined) this.#io.out(`\n${coverageText(summaries)}`);
    this.#io.err(`${summaryText(report)}\n`);
    if (this.#files.some(isInvalid)) return exitCodes.invalidFlow;
    const results = this.#files.flatMap((file) => file.results);
    if (results.length === 0 && filter !== undefined) {
      throw new CommandFailure(exitCodes.notFound, `no test has a name that holds ${JSON.stringify(filter)}`);
    }
    if (results.some(({ ok }) => !ok)) return exitCodes.failed;
    return this.#isCoveredEnough(summaries ?? [], coverageMin ?? 0) ? exitCodes.fine : exitCodes.failed;
  }

  #isCoveredEnough(coverage: NonNullable<TestReport['coverage']>, least: number): boolean {
    const low = coverage.filter(({ percent }) => percent < least);
    for (const { definition, percent } of low) {
      this.#io.err(`error: ${percent}% of ${definition.name} is covered, and --coverage-min asks for ${least}%\n`);
    }
    return low.length === 0;
  }

  #coverageOf(definition: Definition): FlowCoverage {
    const known = this.#coverage.get(definition.hash) ?? new FlowCoverage(definition);
    this.#coverage.set(definition.hash, known);
    return known;
  }
}

async function read(path: string, io: Io): Promise<Uint8Array> {
  try {
    return await readFile(pathOf(io, path));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const missing = systemCodeOf(error) === 'ENOENT';
    throw new CommandFailure(missing ? exitCodes.notFound : exitCodes.usage, `${path} cannot be read: ${reason}`);
  }
}
