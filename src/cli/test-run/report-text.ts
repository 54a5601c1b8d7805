import { durationText, paint } from '../../common/index.js';
import type { Coverage } from '../../testing/flow-runner/index.js';
import { type JunitCase, type JunitSuite, junitXml } from '../formats/junit-xml.js';
import { xmlAttribute, xmlText } from '../formats/xml.js';
import { countText, oneLine, printedJson } from '../text.js';
import type { FileReport, TestReport } from './file-report.js';

/** A file for people: its tests, and what is wrong with each at its line. */
export function fileText({ file, tests }: FileReport, color: boolean): string {
  const shown = tests.map(({ name, ok, durationMs, text }) => {
    const word = ok ? 'ok  ' : 'FAIL';
    const line = `  ${paint(word, color ? (ok ? 'green' : 'red') : undefined)}  ${oneLine(name)} (${durationText(durationMs)})\n`;
    return ok ? line : `${line}\n${text}\n`;
  });
  return `${oneLine(file)}\n${shown.join('')}`;
}

/** `12 tests, 1 failed, 1 file has mistakes and was not run` */
export function summaryText(files: readonly FileReport[]): string {
  const tests = files.flatMap((file) => file.tests);
  const failed = tests.filter(({ ok }) => !ok).length;
  const invalid = files.filter(({ isInvalid }) => isInvalid).length;
  const verb = invalid === 1 ? 'has mistakes and was not run' : 'have mistakes and were not run';
  return [
    countText(tests.length, 'test'),
    ...(failed > 0 ? [`${failed} failed`] : tests.length > 0 ? ['all passed'] : []),
    ...(invalid > 0 ? [`${countText(invalid, 'file')} ${verb}`] : []),
  ].join(', ');
}

export function coverageText(coverage: readonly Coverage[]): string {
  return coverage
    .map(({ workflow, file, covered, total, percent, missing }) => {
      const head = `${oneLine(`${workflow}${file === null ? '' : ` (${file})`}`)}: ${percent}% covered, ${covered} of ${total} places\n`;
      const rest = missing.map(
        ({ line, what }) => `  ${line === null ? '' : `line ${line}: `}no test came to ${oneLine(what)}\n`,
      );
      return `${head}${rest.join('')}`;
    })
    .join('');
}

/** @param inLines one object a line, where there may be more to come */
export function reportJson(
  files: readonly FileReport[],
  coverage: readonly Coverage[] | undefined,
  { inLines }: { inLines: boolean },
): string {
  const json = {
    version: 1,
    tests: files.flatMap((report) =>
      [...report.tests, ...unreadable(report)].map(({ name, ok, durationMs, text }) => ({
        file: report.file,
        name,
        ok,
        durationMs: Number(durationMs.toFixed(1)),
        message: ok ? null : text,
      })),
    ),
    diagnostics: files.flatMap(({ diagnostics }) => diagnostics),
    ...(coverage && { coverage }),
  };
  return `${printedJson(json, inLines ? undefined : 2)}\n`;
}

/** A file that nothing was run of is one test that has failed: who counts tests must not miss it. */
function unreadable({
  isInvalid,
  diagnosticsText,
}: FileReport): Pick<TestReport, 'name' | 'ok' | 'durationMs' | 'text'>[] {
  return isInvalid ? [{ name: noMistakes, ok: false, durationMs: 0, text: diagnosticsText }] : [];
}

const noMistakes = 'the file has no mistakes';

/** JUnit's XML: a suite for each file, in which one with mistakes has a single case that could not be run. */
export function reportJunit(files: readonly FileReport[]): string {
  return junitXml({ name: 'runsheet test' }, files.map(suite));
}

function suite(report: FileReport): JunitSuite {
  const { file, tests, isInvalid } = report;
  const cases = isInvalid ? [errorCase(report)] : tests.map((test) => testCase(file, test));
  const attributes = {
    name: file,
    tests: cases.length,
    failures: tests.filter(({ ok }) => !ok).length,
    errors: isInvalid ? 1 : 0,
    time: seconds(tests.reduce((sum, { durationMs }) => sum + durationMs, 0)),
  };
  return { attributes, cases };
}

function testCase(file: string, { name, ok, durationMs, summary, text }: TestReport): JunitCase {
  const failure = `<failure${xmlAttribute('message', summary ?? '')}>${xmlText(text)}</failure>`;
  return { attributes: { name, classname: file, file, time: seconds(durationMs) }, content: ok ? [] : [failure] };
}

function errorCase({ file, diagnostics, diagnosticsText }: FileReport): JunitCase {
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  const attributes = `${xmlAttribute('message', first?.message ?? '')}${xmlAttribute('type', first?.code ?? '')}`;
  return {
    attributes: { name: noMistakes, classname: file, file },
    content: [`<error${attributes}>${xmlText(diagnosticsText)}</error>`],
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
