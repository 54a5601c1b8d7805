import { type Findings, type RenderOptions, diagnosticsToJson, renderDiagnostics } from '../../syntax/index.js';
import { packageVersion } from '../package-files.js';
import { printedJson } from '../text.js';

export type FindingsFormat = 'human' | 'json' | 'sarif' | 'github' | 'junit';

/** What was found, as a format prints it, which is loaded for it. JSON that follows something is one object per line. */
export async function findingsText(
  findings: readonly Findings[],
  format: FindingsFormat,
  { inLines, ...options }: RenderOptions & { readonly inLines: boolean },
): Promise<string> {
  const json = (value: unknown): string => `${printedJson(value, inLines ? undefined : 2)}\n`;
  switch (format) {
    case 'human':
      return findings
        .filter(({ diagnostics }) => diagnostics.length > 0)
        .map(({ source, diagnostics }) => renderDiagnostics(diagnostics, source, options))
        .join('\n');
    case 'json':
      return json(diagnosticsToJson(findings));
    case 'sarif':
      return json((await import('./sarif.js')).sarifLog(findings, packageVersion()));
    case 'github':
      return (await import('./github.js')).githubAnnotations(findings);
    case 'junit':
      return (await import('./junit.js')).junitReport(findings);
  }
}
