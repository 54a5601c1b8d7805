import type { Log, ReportingDescriptor, Result } from 'sarif';
import { isAbsolute, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { harmless } from '../../common/index.js';
import {
  type Diagnostic,
  type DiagnosticCode,
  type Findings,
  type Source,
  diagnosticCodes,
} from '../../syntax/index.js';
import { placeOf, textOf } from './place-of.js';

/**
 * Diagnostics as a log of SARIF 2.1.0, for what shows findings beside code. Relative paths stay relative to where the
 * command was run (`%SRCROOT%`).
 *
 * @param version of Runsheet
 */
export function sarifLog(findings: readonly Findings[], version: string): Log {
  const found = findings.flatMap(({ source, diagnostics }) =>
    diagnostics.map((diagnostic) => ({ source, diagnostic })),
  );
  const codes = [...new Set(found.map(({ diagnostic }) => diagnostic.code))].sort();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'runsheet', semanticVersion: version, rules: codes.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        results: found.map(({ source, diagnostic }) => resultOf(source, diagnostic, codes)),
      },
    ],
  };
}

function ruleOf(code: DiagnosticCode): ReportingDescriptor {
  return {
    id: code,
    shortDescription: { text: diagnosticCodes[code] },
    help: { text: `\`runsheet explain ${code}\` shows a wrong and a right example.` },
  };
}

function resultOf(source: Source, diagnostic: Diagnostic, codes: readonly DiagnosticCode[]): Result {
  const { start, end } = placeOf(source, diagnostic);
  return {
    ruleId: diagnostic.code,
    ruleIndex: codes.indexOf(diagnostic.code),
    level: diagnostic.severity,
    message: { text: harmless(textOf(diagnostic)) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: artifactOf(source.name),
          region: { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column },
        },
      },
    ],
  };
}

function encoded(name: string): string {
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\ufffd'));
}

function artifactOf(path: string): { uri: string; uriBaseId?: string } {
  if (isAbsolute(path)) return { uri: pathToFileURL(path).href };
  return { uri: path.split(sep).map(encoded).join('/'), uriBaseId: '%SRCROOT%' };
}
