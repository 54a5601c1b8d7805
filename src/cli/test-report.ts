import { durationText } from '../common/index.js';
import {
  type Diagnostic,
  type Source,
  type SyntaxNode,
  diagnosticsToJson,
  renderDiagnostics,
} from '../syntax/index.js';
import { type Coverage, type TestResult, renderFailures } from '../testing/flow-runner/index.js';

/** What came of one file of tests: of one with mistakes nothing was run. */
export interface TestedFile {
  readonly source: Source;
  readonly root: SyntaxNode | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly results: readonly TestResult[];
}

export interface TestReport {
  readonly files: readonly TestedFile[];
  /** Where it was asked for. */
  readonly coverage: readonly Coverage[] | undefined;
}

export function isInvalid({ diagnostics }: TestedFile): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/** A file for people: its tests, and what is wrong with each at its line. */
export function fileText(file: TestedFile, color: boolean): string {
  const tests = file.results.map((result) => {
    const { name, ok, durationMs } = result;
    const word = ok ? 'ok  ' : 'FAIL';
    const line = `  ${color ? `\u001b[${ok ? 32 : 31}m${word}\u001b[0m` : word}  ${name} (${durationText(durationMs)})\n`;
    return ok ? line : `${line}\n${failureText(result, file, color)}\n`;
  });
  return `${file.source.name}\n${tests.join('')}`;
}

function failureText(result: TestResult, { source, root }: TestedFile, color = false): string {
  return root === undefined ? '' : renderFailures(result, { source, root }, { color });
}

export function summaryText({ files }: TestReport): string {
  const results = files.flatMap((file) => file.results);
  const failed = results.filter(({ ok }) => !ok).length;
  const invalid = files.filter(isInvalid).length;
  const parts = [
    `${results.length} ${results.length === 1 ? 'test' : 'tests'}`,
    failed === 0 ? (results.length === 0 ? undefined : 'all passed') : `${failed} failed`,
    invalid === 0
      ? undefined
      : `${invalid} ${invalid === 1 ? 'file has' : 'files have'} mistakes and ${invalid === 1 ? 'was' : 'were'} not run`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

export function coverageText(coverage: readonly Coverage[]): string {
  return coverage
    .map(({ definition, covered, total, percent, missing }) => {
      const file = definition.source === undefined ? '' : ` (${definition.source.name})`;
      const head = `${definition.name}${file}: ${percent}% covered, ${covered} of ${total} places\n`;
      return `${head}${missing.map(({ line, what }) => `  line ${line ?? '?'}: no test came to ${what}\n`).join('')}`;
    })
    .join('');
}

export function reportJson({ files, coverage }: TestReport): string {
  const json = {
    version: 1,
    tests: files.flatMap((file) =>
      file.results.map((result) => ({
        file: file.source.name,
        name: result.name,
        ok: result.ok,
        durationMs: Number(result.durationMs.toFixed(1)),
        message: result.ok ? null : failureText(result, file),
      })),
    ),
    diagnostics: diagnosticsToJson(files).diagnostics,
    ...(coverage && { coverage: coverage.map(coverageJson) }),
  };
  return `${JSON.stringify(json, undefined, 2)}\n`;
}

function coverageJson({ definition, covered, total, percent, missing }: Coverage): object {
  const { name: workflow, revision, source } = definition;
  const points = missing.map(({ line = null, kind, what }) => ({ line, kind, what }));
  return { workflow, revision, file: source?.name ?? null, covered, total, percent, missing: points };
}

/** JUnit XML, as CI systems read it. A file with mistakes is a suite with one error. */
export function reportJunit({ files }: TestReport): string {
  const suites = files.map((file) => {
    const { results, source } = file;
    const failed = results.filter(({ ok }) => !ok).length;
    const cases = isInvalid(file) ? [errorCase(file)] : results.map((result) => testCase(result, file));
    const time = results.reduce((sum, { durationMs }) => sum + durationMs, 0);
    const counts = `tests="${cases.length}" failures="${failed}" errors="${isInvalid(file) ? 1 : 0}"`;
    return `  <testsuite name="${xml(source.name)}" ${counts} time="${seconds(time)}">\n${cases.join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

function testCase(result: TestResult, file: TestedFile): string {
  const head = `    <testcase classname="${xml(file.source.name)}" name="${xml(result.name)}" time="${seconds(result.durationMs)}"`;
  if (result.ok) return `${head}/>\n`;
  const message = xml(result.failures[0]?.message ?? 'it failed');
  return `${head}>\n      <failure message="${message}">${xml(failureText(result, file))}</failure>\n    </testcase>\n`;
}

function errorCase({ source, diagnostics }: TestedFile): string {
  const message = xml(diagnostics[0]?.message ?? '');
  const text = xml(renderDiagnostics(diagnostics, source));
  return `    <testcase classname="${xml(source.name)}" name="the file has no mistakes">\n      <error message="${message}">${text}</error>\n    </testcase>\n`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** Control characters have no place in XML, escaped or not. */
function xml(text: string): string {
  const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g, '\ufffd')
    .replace(/[&<>"]/g, (character) => escapes[character] ?? character);
}
