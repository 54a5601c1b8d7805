import type { HandlerCatalogue } from '../../handlers/index.js';
import type { Diagnostic } from '../../syntax/index.js';
import { type CheckedFiles, checkFiles } from '../check-files.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { type FindingsFormat, findingsText } from '../formats/findings-text.js';
import { type Io, wantsColor } from '../io.js';
import { noHandlersNote, projectHandlers } from '../project-handlers.js';
import { applySeverityRules } from '../severity-rules.js';
import { countText } from '../text.js';
import { watchProject } from '../watch-project.js';

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
  if (handlers === undefined && options.handlers !== false) io.err(noHandlersNote(io));

  const { findings, stubborn } = applySeverityRules(checked.findings, io);
  io.out(findingsText(findings, format, { color: wantsColor(io, io.outIsTerminal), inLines: options.watch }));
  for (const code of stubborn) {
    io.err(`note: ${code} is an error, which ${io.project?.name} cannot make any milder\n`);
  }
  const all = findings.flatMap(({ diagnostics }) => diagnostics);
  const errors = countOf(all, 'error');
  const warnings = countOf(all, 'warning');
  if (format === 'human') io.err(summary(checked, errors, warnings));
  if (errors > 0) return exitCodes.failed;
  const allowed = options.maxWarnings ?? io.project?.config.maxWarnings;
  if (allowed === undefined || warnings <= allowed) return exitCodes.fine;
  const who = options.maxWarnings === undefined ? io.project?.name : '--max-warnings';
  io.err(`error: ${countText(warnings, 'warning')}, and ${who} allows ${allowed}\n`);
  return exitCodes.failed;
}

function countOf(diagnostics: readonly Diagnostic[], severity: Diagnostic['severity']): number {
  return diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
}

function summary(checked: CheckedFiles, errors: number, warnings: number): string {
  const { flows, tests, unusedHandlers, untestedFlows } = checked;
  const files = [...some(flows, 'flow'), ...some(tests, 'flow test')].join(' and ');
  const found = [...some(errors, 'error'), ...some(warnings, 'warning')].join(' and ');
  const idle = [
    ...listed('handlers never used', unusedHandlers),
    ...listed('flows without a test', untestedFlows),
  ].join('; ');
  return `${files} checked, ${found === '' ? 'no problems' : found}\n${idle === '' ? '' : `note: ${idle}\n`}`;
}

function some(count: number, noun: string): string[] {
  return count === 0 ? [] : [countText(count, noun)];
}

/** Enough of them to begin with. */
const mostListed = 5;

function listed(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const rest = names.length - mostListed;
  return [`${what}: ${names.slice(0, mostListed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`];
}
