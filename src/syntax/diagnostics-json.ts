import type { Diagnostic, Severity } from './diagnostic.js';
import type { DiagnosticCode } from './diagnostic-codes.js';
import type { Source } from './source.js';

/** Diagnostics as programs read them; lines and columns as in `Position`, the end exclusive. */
export interface DiagnosticsJson {
  readonly version: 1;
  readonly diagnostics: readonly {
    readonly file: string;
    readonly line: number;
    readonly column: number;
    readonly endLine: number;
    readonly endColumn: number;
    readonly severity: Severity;
    readonly code: DiagnosticCode;
    readonly message: string;
    readonly help: string;
  }[];
}

/** The diagnostics of one file or of several. */
export interface Findings {
  readonly source: Source;
  readonly diagnostics: readonly Diagnostic[];
}

export function diagnosticsToJson(findings: readonly Findings[]): DiagnosticsJson {
  return {
    version: 1,
    diagnostics: findings.flatMap(({ source, diagnostics }) =>
      diagnostics.map(({ range, severity, code, message, help }) => {
        const start = source.position(range.start);
        const end = source.position(range.end);
        return {
          file: source.name,
          line: start.line,
          column: start.column,
          endLine: end.line,
          endColumn: end.column,
          severity,
          code,
          message,
          help,
        };
      }),
    ),
  };
}
