import { checkSource } from '../../check/index.js';
import { type Diagnostic, type Findings, diagnosticsToJson, renderDiagnostics } from '../../syntax/index.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { readFlows } from '../flow-files.js';
import { type Io, wantsColor } from '../io.js';
import { noHandlersNote, projectHandlers } from '../project-handlers.js';

export interface ValidateOptions {
  readonly format: 'human' | 'json';
  /** `false`: handlers are not loaded, and nothing about them is checked. */
  readonly handlers?: string | false;
  readonly definitions: string;
  readonly maxWarnings?: number;
}

/** Checks flows and shows every mistake at once. */
export async function validate(paths: readonly string[], options: ValidateOptions, io: Io): Promise<ExitCode> {
  const sources = await readFlows(paths.length === 0 ? [options.definitions] : paths, io);
  const handlers = options.handlers === false ? undefined : await projectHandlers(options.handlers, io);
  if (handlers === undefined && options.handlers !== false) io.err(noHandlersNote);

  const findings: Findings[] = [];
  for (const source of sources) {
    const checked = await checkSource(source, handlers === undefined ? {} : { handlers: handlers.catalogue() });
    findings.push({ source, diagnostics: checked.diagnostics });
  }

  const all = findings.flatMap(({ diagnostics }) => diagnostics);
  const errors = countOf(all, 'error');
  const warnings = countOf(all, 'warning');
  if (options.format === 'json') io.out(`${JSON.stringify(diagnosticsToJson(findings), undefined, 2)}\n`);
  else {
    const color = wantsColor(io, io.outIsTerminal);
    const shown = findings.filter(({ diagnostics }) => diagnostics.length > 0);
    io.out(shown.map(({ source, diagnostics }) => renderDiagnostics(diagnostics, source, { color })).join('\n'));
    io.err(`${summary(sources.length, errors, warnings)}\n`);
  }
  if (errors > 0) return exitCodes.failed;
  if (options.maxWarnings !== undefined && warnings > options.maxWarnings) {
    io.err(`error: ${plural(warnings, 'warning')}, and --max-warnings allows ${options.maxWarnings}\n`);
    return exitCodes.failed;
  }
  return exitCodes.fine;
}

function countOf(diagnostics: readonly Diagnostic[], severity: Diagnostic['severity']): number {
  return diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
}

function summary(files: number, errors: number, warnings: number): string {
  const flows = plural(files, 'flow');
  if (errors === 0 && warnings === 0) return `${flows} checked, no problems`;
  const found = [
    ...(errors > 0 ? [plural(errors, 'error')] : []),
    ...(warnings > 0 ? [plural(warnings, 'warning')] : []),
  ];
  return `${flows} checked, ${found.join(' and ')}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
