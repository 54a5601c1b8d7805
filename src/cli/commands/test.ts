import { type Coverage, mergeCoverage } from '../../testing/flow-runner/index.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { isPath } from '../find-flow.js';
import type { Io } from '../io.js';
import { handlersPath } from '../project-handlers.js';
import { definitionsSetting } from '../settings.js';
import type { FileReport } from '../test-run/file-report.js';
import { coverageText, fileText, reportJson, reportJunit, summaryText } from '../test-run/report-text.js';
import { runFiles } from '../test-run/run-files.js';
import { renderOptions, say } from '../terminal-text.js';
import type { TestSettings } from '../test-run/run-test-file.js';
import { testFilesOf } from '../test-run/test-files.js';
import { watchProject } from '../watch-project.js';

export interface TestOptions {
  readonly format: 'human' | 'json' | 'junit';
  readonly filter?: string;
  readonly coverage?: boolean;
  /** Least percentage of each flow. */
  readonly coverageMin?: number;
  /** `false`: handlers are not loaded. */
  readonly handlers?: string | false;
  readonly definitions?: string;
  /** Run them again whenever something changes, until interrupted. */
  readonly watch: boolean;
}

/** Runs flow tests. */
export async function test(targets: readonly string[], options: TestOptions, io: Io): Promise<ExitCode> {
  const { definitions, handlers, watch } = options;
  if (!watch) return testOnce(targets, options, io);
  const paths = targets.filter((target) => isPath(target, io));
  return watchProject({ paths, definitions, handlers }, io, async () => {
    await testOnce(targets, options, io);
  });
}

async function testOnce(targets: readonly string[], options: TestOptions, io: Io): Promise<ExitCode> {
  const { format, filter, watch } = options;
  const folder = definitionsSetting(options.definitions, io);
  const files = await testFilesOf(targets, folder, io);
  const settings: TestSettings = {
    cwd: io.cwd,
    definitions: folder.path,
    handlers: options.handlers === false ? undefined : handlersPath(options.handlers, io),
    filter,
    out: format === 'human' ? renderOptions(io, 'out') : {},
    err: format === 'human' ? renderOptions(io, 'err') : {},
  };
  const reports = await runFiles(files, settings, {
    clock: io.clock,
    fresh: watch,
    onReport(report) {
      if (format !== 'human') return;
      if (report.diagnosticsText !== '') io.err(report.diagnosticsText);
      if (report.tests.length > 0) io.out(fileText(report, settings.out.color === true));
    },
  });
  return conclude(reports, options, io);
}

function conclude(reports: readonly FileReport[], options: TestOptions, io: Io): ExitCode {
  const { format, filter, coverage: isWanted, coverageMin = 0, watch } = options;
  const tests = reports.flatMap((report) => report.tests);
  const isInvalid = reports.some((report) => report.isInvalid);
  if (tests.length === 0 && !isInvalid && filter !== undefined) {
    throw new CommandFailure(exitCodes.notFound, `no test has a name that holds ${JSON.stringify(filter)}`);
  }
  const coverage =
    isWanted === true || coverageMin > 0 ? mergeCoverage(reports.flatMap(({ flows }) => flows)) : undefined;
  if (format === 'json') io.data(reportJson(reports, coverage, { inLines: watch }));
  else if (format === 'junit') io.data(reportJunit(reports));
  else if (coverage !== undefined) io.out(`\n${coverageText(coverage)}`);
  io.err(`${summaryText(reports)}\n`);
  if (isInvalid || tests.some((each) => each.isInvalid)) return exitCodes.invalidFlow;
  if (tests.some(({ ok }) => !ok)) return exitCodes.failed;
  return isCoveredEnough(coverage ?? [], coverageMin, io) ? exitCodes.fine : exitCodes.failed;
}

function isCoveredEnough(coverage: readonly Coverage[], least: number, io: Io): boolean {
  const low = coverage.filter(({ percent }) => percent < least);
  for (const { workflow, percent } of low) {
    say(io, `error: ${percent}% of ${workflow} is covered, and --coverage-min asks for ${least}%`);
  }
  return low.length === 0;
}
