import { type Diagnostic, type Findings, renderDiagnostics } from '../../syntax/index.js';
import { countText } from '../text.js';
import { type JunitCase, junitXml } from './junit-xml.js';
import { xmlAttribute, xmlText } from './xml.js';

/** Diagnostics as JUnit's XML: a test case for each file, which fails if there are errors in it. */
export function junitReport(findings: readonly Findings[]): string {
  const failures = findings.filter(({ diagnostics }) => errorsOf(diagnostics).length > 0).length;
  const about = { name: 'runsheet validate', tests: findings.length, failures };
  return junitXml(about, [{ attributes: { ...about, errors: 0 }, cases: findings.map(fileCase) }]);
}

function fileCase({ source, diagnostics }: Findings): JunitCase {
  const { name } = source;
  const errors = errorsOf(diagnostics);
  const [first] = errors;
  const warnings = diagnostics.filter((each) => !errors.includes(each));
  const content: string[] = [];
  if (first !== undefined) {
    const message = errors.length === 1 ? first.message : countText(errors.length, 'error');
    const text = xmlText(renderDiagnostics(errors, source));
    content.push(`<failure${xmlAttribute('message', message)}${xmlAttribute('type', first.code)}>${text}</failure>`);
  }
  if (warnings.length > 0) content.push(`<system-out>${xmlText(renderDiagnostics(warnings, source))}</system-out>`);
  return { attributes: { name, classname: 'runsheet.validate', file: name }, content };
}

function errorsOf(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === 'error');
}
