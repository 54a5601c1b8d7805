import { harmless, loggedCommands } from '../../common/index.js';
import type { Diagnostic, Findings, Source } from '../../syntax/index.js';
import { placeOf, textOf } from './place-of.js';

/** Diagnostics as workflow commands of GitHub Actions, which shows them beside the lines of a pull request. */
export function githubAnnotations(findings: readonly Findings[]): string {
  return findings
    .flatMap(({ source, diagnostics }) => diagnostics.map((diagnostic) => annotation(source, diagnostic)))
    .join('');
}

function annotation(source: Source, diagnostic: Diagnostic): string {
  const { start, end } = placeOf(source, diagnostic);
  const properties: [string, string | number][] = [
    ['file', source.name],
    ['line', start.line],
    ['endLine', end.line],
    // GitHub takes columns only of what stands on one line.
    ...(start.line === end.line
      ? ([
          ['col', start.column],
          ['endColumn', end.column],
        ] satisfies [string, number][])
      : []),
    ['title', diagnostic.code],
  ];
  const written = properties.map(([name, value]) => `${name}=${escapedProperty(String(value))}`).join(',');
  return `::${diagnostic.severity} ${written}::${escapedData(textOf(diagnostic))}\n`;
}

function escapedData(text: string): string {
  return harmless(text).replace(loggedCommands, '# #').replaceAll('%', '%25').replaceAll('\n', '%0A');
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
