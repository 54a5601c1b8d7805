import { xmlAttribute } from './xml.js';

type Attributes = Readonly<Record<string, string | number>>;

/** A case of a suite; what stands in it is XML already. */
export interface JunitCase {
  readonly attributes: Attributes;
  readonly content: readonly string[];
}

export interface JunitSuite {
  readonly attributes: Attributes;
  readonly cases: readonly JunitCase[];
}

/** A report as CI servers read it. */
export function junitXml(attributes: Attributes, suites: readonly JunitSuite[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${written(attributes)}>`,
    ...suites.flatMap((suite) => [
      `  <testsuite${written(suite.attributes)}>`,
      ...suite.cases.map(caseXml),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n');
}

function caseXml({ attributes, content }: JunitCase): string {
  const opening = `    <testcase${written(attributes)}`;
  if (content.length === 0) return `${opening}/>`;
  return [`${opening}>`, ...content.map((each) => `      ${each}`), '    </testcase>'].join('\n');
}

function written(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => xmlAttribute(name, value))
    .join('');
}
