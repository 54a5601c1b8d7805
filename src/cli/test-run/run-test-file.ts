import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { HandlerRegistry } from '../../handlers/index.js';
import { type RenderOptions, Source, diagnosticsToJson, renderDiagnostics } from '../../syntax/index.js';
import { FlowCoverage, renderFailures, runLoadedTests } from '../../testing/flow-runner/index.js';
import { FlowLibrary, checkFlowTestSource } from '../../testing/flow-tests/index.js';
import { importModule } from '../import-module.js';
import type { FileReport } from './file-report.js';

/** How the files of one call of the command are run. Plain data: it is told to other threads. */
export interface TestSettings {
  readonly cwd: string;
  /** Where flows are looked for that are not beside their tests. */
  readonly definitions: string;
  /** Of the registered handlers; undefined where there are none. */
  readonly handlers: string | undefined;
  readonly filter: string | undefined;
  /** How what is wrong is shown on stdout, and on stderr. */
  readonly out: RenderOptions;
  readonly err: RenderOptions;
}

/** Runs files of tests in this thread; flows and handlers are read once. */
export class TestRunner {
  readonly #settings: TestSettings;
  readonly #library = new FlowLibrary();
  #handlers: Promise<HandlerRegistry | undefined> | undefined;

  constructor(settings: TestSettings) {
    this.#settings = settings;
  }

  /** @throws RunsheetError `RS_HANDLER_INVALID`, `RS_HANDLER_DUPLICATE` */
  async run(path: string): Promise<FileReport> {
    const { cwd, definitions, filter, out, err } = this.#settings;
    const handlers = await this.handlers();
    const placed = Source.fromBytes(resolve(cwd, path), await readFile(resolve(cwd, path)));
    const loaded = await checkFlowTestSource(placed, {
      definitions: resolve(cwd, definitions),
      ...(handlers !== undefined && { handlers: handlers.catalogue() }),
      library: this.#library,
    });
    const { root, diagnostics, document, workflow, mistakes } = loaded;
    // Messages call the file as its user did.
    const source = new Source(path, placed.text, placed.undecodableAt);
    const isInvalid = document === undefined || workflow === undefined;
    // What is wrong in a test is shown with it.
    const ofTests = new Set([...mistakes.values()].flat());
    const others = isInvalid ? diagnostics : diagnostics.filter((each) => !ofTests.has(each));
    const report = {
      file: path,
      isInvalid,
      diagnostics: diagnosticsToJson([{ source, diagnostics }]).diagnostics,
      diagnosticsText: renderDiagnostics(others, source, err),
    };
    if (isInvalid || root === undefined) return { ...report, tests: [], flows: [] };
    const coverage = new Map([[workflow.hash, new FlowCoverage(workflow)]]);
    const results = await runLoadedTests(loaded, {
      ...(handlers !== undefined && { handlers }),
      ...(filter !== undefined && { filter }),
      onJournal(definition, entries) {
        const known = coverage.get(definition.hash) ?? new FlowCoverage(definition);
        coverage.set(definition.hash, known);
        known.add(entries);
      },
    });
    const tests = results.map((result) => ({
      name: result.name,
      ok: result.ok,
      durationMs: result.durationMs,
      isInvalid: mistakes.has(Number(result.path[1])),
      summary: result.failures[0]?.message ?? null,
      text: renderFailures(result, { source, root }, out),
    }));
    return { ...report, tests, flows: [...coverage.values()].map((each) => each.marks(cwd)) };
  }

  handlers(): Promise<HandlerRegistry | undefined> {
    this.#handlers ??= this.#load();
    return this.#handlers;
  }

  async #load(): Promise<HandlerRegistry | undefined> {
    const { cwd, handlers } = this.#settings;
    if (handlers === undefined) return undefined;
    const { HandlerRegistry, loadHandlers } = await import('../../handlers/index.js');
    return new HandlerRegistry(await loadHandlers(resolve(cwd, handlers), { importModule }));
  }
}
