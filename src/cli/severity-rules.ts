import { relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import type { Diagnostic, DiagnosticCode, Findings } from '../syntax/index.js';
import type { IgnoreRule, ProjectConfig } from './config.js';
import type { Io } from './io.js';

export interface Judged {
  readonly findings: readonly Findings[];
  /** Codes of errors for which the config has a milder word, which counts for nothing. */
  readonly stubborn: readonly DiagnosticCode[];
}

/** Warnings as the config of the project takes them. Errors stay: the engine refuses such a flow whatever a config says. */
export function applySeverityRules(findings: readonly Findings[], { config, folder }: ProjectConfig, io: Io): Judged {
  const ignores = (config.ignore ?? []).map((rule) => ignoreRule(rule, folder, io));
  const stubborn = new Set<DiagnosticCode>();
  const judged = findings.map(({ source, diagnostics }): Findings => ({
    source,
    diagnostics: diagnostics.flatMap((diagnostic) => {
      const wanted = config.severity?.[diagnostic.code];
      if (diagnostic.severity === 'error') {
        if (wanted === 'off' || wanted === 'warning') stubborn.add(diagnostic.code);
        return [diagnostic];
      }
      if (wanted === 'off' || ignores.some((ignores) => ignores(source.name, diagnostic))) return [];
      return [wanted === undefined ? diagnostic : { ...diagnostic, severity: wanted }];
    }),
  }));
  return { findings: judged, stubborn: [...stubborn] };
}

function ignoreRule(
  { code, path }: IgnoreRule,
  folder: string,
  io: Io,
): (file: string, diagnostic: Diagnostic) => boolean {
  const matches = path === undefined ? undefined : picomatch(path.replace(/^\.\//, ''), { dot: true });
  return (file, diagnostic) =>
    (code === undefined || diagnostic.code === code) &&
    (matches === undefined || matches(relative(folder, resolve(io.cwd, file)).split(sep).join('/')));
}
