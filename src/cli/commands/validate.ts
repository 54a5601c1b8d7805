import type { HandlerCatalogue } from '../../handlers/index.js';
import type { Diagnostic, Findings } from '../../syntax/index.js';
import { type CheckedFiles, checkFiles } from '../check-files.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { type FindingsFormat, findingsText } from '../formats/findings-text.js';
import type { Io } from '../io.js';
import type { Judged } from '../severity-rules.js';
import { noHandlersNote, projectHandlers } from '../project-handlers.js';
import { renderOptions, say } from '../terminal-text.js';
import { countText, someOf } from '../text.js';

export interface ValidateOptions {
  readonly format: FindingsFormat;
  /** `false`: handlers are not loaded, and nothing about them is checked. */
  readonly handlers?: string | false;
  readonly definitions?: string;
  readonly maxWarnings?: number;
  /** The file whose text comes on stdin. */
  readonly stdinFilename?: string;
  /** Check again whenever something changes, until interrupted. */
  readonly watch: boolean;
}

/** Checks flows and flow tests, and shows every mistake at once. */
export async function validate(paths: readonly string[], options: ValidateOptions, io: Io): Promise<ExitCode> {
  if (options.stdinFilename !== undefined && !paths.includes('-')) {
    throw new CommandFailure(exitCodes.usage, '--stdin-filename names the text on stdin: give the path - with it');
  }
  const { definitions, handlers: flag, watch } = options;
  if (!watch) {
    const handlers = flag === false ? undefined : (await projectHandlers(flag, io))?.catalogue();
    return validateOnce(paths, options, handlers, io);
  }
  if (paths.includes('-')) throw new CommandFailure(exitCodes.usage, '--watch follows files; it cannot follow stdin');
  const { watchProject } = await import('../watch-project.js');
  return watchProject({ paths, definitions, handlers: flag }, io, async () => {
    const { currentCatalogue } = await import('../handler-catalogue.js');
    await validateOnce(paths, options, flag === false ? undefined : await currentCatalogue(flag, io), io);
  });
}

async function validateOnce(
  paths: readonly string[],
  options: ValidateOptions,
  handlers: HandlerCatalogue | undefined,
  io: Io,
): Promise<ExitCode> {
  const { format, stdinFilename, definitions } = options;
  const checked = await checkFiles(
    {
      paths,
      ...(stdinFilename !== undefined && { stdinFilename }),
      ...(definitions !== undefined && { definitions }),
    },
    handlers,
    io,
  );
  if (handlers === undefined && options.handlers !== false) say(io, noHandlersNote(io));

  const { findings, stubborn } = await judged(checked.findings, io);
  const print = format === 'human' ? io.out : io.data;
  print(await findingsText(findings, format, { ...renderOptions(io, 'out'), inLines: options.watch }));
  for (const code of stubborn) {
    say(io, `note: ${code} is an error, which ${io.project?.name} cannot make any milder`);
  }
  const all = findings.flatMap(({ diagnostics }) => diagnostics);
  const errors = countOf(all, 'error');
  const warnings = countOf(all, 'warning');
  if (format === 'human') summary(checked, errors, warnings).forEach((line) => say(io, line));
  if (errors > 0) return exitCodes.failed;
  const allowed = options.maxWarnings ?? io.project?.config.maxWarnings;
  if (allowed === undefined || warnings <= allowed) return exitCodes.fine;
  const who = options.maxWarnings === undefined ? io.project?.name : '--max-warnings';
  say(io, `error: ${countText(warnings, 'warning')}, and ${who} allows ${allowed}`);
  return exitCodes.failed;
}

/** Few projects have a word of their own on severities. */
async function judged(findings: readonly Findings[], io: Io): Promise<Judged> {
  if (io.project === undefined) return { findings, stubborn: [] };
  const { applySeverityRules } = await import('../severity-rules.js');
  return applySeverityRules(findings, io.project, io);
}

function countOf(diagnostics: readonly Diagnostic[], severity: Diagnostic['severity']): number {
  return diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
}

function summary(checked: CheckedFiles, errors: number, warnings: number): string[] {
  const { flows, tests, unusedHandlers, untestedFlows } = checked;
  const files = [...some(flows, 'flow'), ...some(tests, 'flow test')].join(' and ');
  const found = [...some(errors, 'error'), ...some(warnings, 'warning')].join(' and ');
  const idle = [
    ...listed('handlers never used', unusedHandlers),
    ...listed('flows without a test', untestedFlows),
  ].join('; ');
  const first = `${files} checked, ${found === '' ? 'no problems' : found}`;
  return idle === '' ? [first] : [first, `note: ${idle}`];
}

function some(count: number, noun: string): string[] {
  return count === 0 ? [] : [countText(count, noun)];
}

/** Enough of them to begin with. */
const mostListed = 5;

function listed(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  return [`${what}: ${someOf(names, mostListed)}`];
}
