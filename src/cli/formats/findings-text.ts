import { type Findings, type RenderOptions, diagnosticsToJson, renderDiagnostics } from '../../syntax/index.js';
import { packageVersion } from '../package-files.js';
import { githubAnnotations } from './github.js';
import { junitReport } from './junit.js';
import { sarifLog } from './sarif.js';

export type FindingsFormat = 'human' | 'json' | 'sarif' | 'github' | 'junit';

/** What was found, as a format prints it. JSON that follows something is one object per line. */
export function findingsText(
  findings: readonly Findings[],
  format: FindingsFormat,
  { inLines, ...options }: RenderOptions & { readonly inLines: boolean },
): string {
  const json = (value: unknown): string => `${JSON.stringify(value, undefined, inLines ? undefined : 2)}\n`;
  switch (format) {
    case 'human':
      return findings
        .filter(({ diagnostics }) => diagnostics.length > 0)
        .map(({ source, diagnostics }) => renderDiagnostics(diagnostics, source, options))
        .join('\n');
    case 'json':
      return json(diagnosticsToJson(findings));
    case 'sarif':
      return json(sarifLog(findings, packageVersion()));
    case 'github':
      return githubAnnotations(findings);
    case 'junit':
      return junitReport(findings);
  }
}
