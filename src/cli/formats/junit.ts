import { type Diagnostic, type Findings, renderDiagnostics } from '../../syntax/index.js';
import { countText } from '../text.js';
import { xmlAttribute, xmlText } from './xml.js';

/** Diagnostics as JUnit's XML: a test case for each file, which fails if there are errors in it. */
export function junitReport(findings: readonly Findings[]): string {
  const failures = findings.filter(({ diagnostics }) => errorsOf(diagnostics).length > 0).length;
  const counts = `${xmlAttribute('tests', findings.length)}${xmlAttribute('failures', failures)}`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${xmlAttribute('name', 'runsheet validate')}${counts}>`,
    `  <testsuite${xmlAttribute('name', 'runsheet validate')}${counts}${xmlAttribute('errors', 0)}>`,
    ...findings.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ source, diagnostics }: Findings): string {
  const { name } = source;
  const opening = `    <testcase${xmlAttribute('name', name)}${xmlAttribute('classname', 'runsheet.validate')}${xmlAttribute('file', name)}`;
  if (diagnostics.length === 0) return `${opening}/>`;
  const errors = errorsOf(diagnostics);
  const [first] = errors;
  const warnings = diagnostics.filter((each) => !errors.includes(each));
  const lines = [`${opening}>`];
  if (first !== undefined) {
    const message = errors.length === 1 ? first.message : countText(errors.length, 'error');
    const text = xmlText(renderDiagnostics(errors, source));
    lines.push(
      `      <failure${xmlAttribute('message', message)}${xmlAttribute('type', first.code)}>${text}</failure>`,
    );
  }
  if (warnings.length > 0) {
    lines.push(`      <system-out>${xmlText(renderDiagnostics(warnings, source))}</system-out>`);
  }
  return [...lines, '    </testcase>'].join('\n');
}

function errorsOf(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === 'error');
}
