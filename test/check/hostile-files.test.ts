import { describe, expect, test } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { checkProject } from '../../src/check/check-project.js';
import { Source } from '../../src/syntax/index.js';

/** What is said of a flow, without a limit on time: what hangs runs into that of the test. */
function said(text: string): string[] {
  const source = new Source('flow.yaml', text);
  return checkSource(source).diagnostics.map(({ code, message, range }) => {
    const { line, column } = source.position(range.start);
    return `${line}:${column} ${code} ${message.slice(0, 80)}`;
  });
}

const steps = (items: string): string => `workflow: hostile\nsteps:\n${items}`;
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

describe('a small file that would take for ever has one diagnostic with a place', () => {
  test.each([
    ['brackets', `${'('.repeat(2000)}1${')'.repeat(2000)}`],
    ['lists', `"x" & ${'['.repeat(2000)}1${']'.repeat(2000)}`],
    ['a sum', `1${' + 1'.repeat(2000)}`],
    ['conditions', `true${' and true'.repeat(2000)}`],
    ['choices', 'true ? '.repeat(2000) + '1'],
    ['signs', `${'-'.repeat(2000)}1`],
    ['a path', `$input${'.a'.repeat(10_000)}`],
    ['functions', `${'function($x){'.repeat(2000)}1${'}'.repeat(2000)}`],
    ['calls', `1${' ~> $string()'.repeat(2000)}`],
    ['predicates', `$input.a${'[a'.repeat(2000)}${']'.repeat(2000)}`],
    ['defaults', `$input.a${' ?? $input.a'.repeat(2000)}`],
    ['a very long formula', `[${'1, '.repeat(60_000)}1]`],
  ])('%s', (_, formula) => {
    const [only, ...others] = said(steps(`  - set: '=${formula}'\n`));
    expect(only).toMatch(/^3:\d+ RS3001 the formula has more than /);
    expect(others).toEqual([]);
  });

  test('references that double', () => {
    const definitions = lines(
      40,
      (n) => `    d${n}: { anyOf: [{ $ref: '#/$defs/d${n + 1}' }, { $ref: '#/$defs/d${n + 1}' }] }\n`,
    );
    const schema = `inputSchema:\n  $ref: '#/$defs/d0'\n  $defs:\n${definitions}    d40: { type: string }\n`;
    expect(said(`workflow: hostile\n${schema}steps:\n  - set: =$input\n`)).toEqual([]);
    const properties = 'abcdefghij'.split('');
    const wide = lines(12, (n) => {
      const fields = properties.map((name) => `${name}: { $ref: '#/$defs/d${n + 1}' }`).join(', ');
      return `    d${n}: { type: object, properties: { ${fields} } }\n`;
    });
    const inputs = `inputSchema:\n  $ref: '#/$defs/d0'\n  $defs:\n${wide}    d12: { type: string }\n`;
    expect(said(`workflow: hostile\n${inputs}steps:\n  - set: =[$input]\n`)).toEqual([]);
  });
});

describe('a file of mistakes is told up to a limit, and from where on it was not checked', () => {
  test.each([
    ['steps', steps(lines(3000, (n) => `  - id: name${n}\n    set: =$steps.nmae${n}x\n`))],
    ['keys', steps(`  - step: a.b\n${lines(3000, (n) => `    key${n}: 1\n`)}`)],
    ['variables', steps(lines(3000, (n) => `  - set: =$inptu${n}\n`))],
    ['items', steps('  - {}\n'.repeat(3000))],
    ['tags', steps(lines(3000, (n) => `  - set: !tag${n} 1\n`))],
    ['markers', steps(lines(3000, (n) => `  - set: {{x${n}}}\n`))],
    ['keys that stand twice', steps(`  - set:\n${'      a: 1\n'.repeat(3000)}`)],
  ])('%s', (_, text) => {
    const all = said(text);
    expect(all.length).toBeLessThanOrEqual(502);
    expect(all.filter((each) => each.includes('RS1035'))).toHaveLength(1);
    expect(all.join('\n')).toMatch(/\d+:\d+ RS1035 the file has more than 500 mistakes/);
  });
});

test('a file that cannot be checked hides nothing of the others', () => {
  const hostile = new Source('hostile.yaml', steps(`  - set: =${'('.repeat(100_000)}\n`));
  const unread = Source.unreadable('pipe.yaml', 'it is not a regular file');
  const wrong = new Source('wrong.yaml', 'workflow: wrong\nsteps:\n  - stp: a.b\n');
  const { findings } = checkProject({ flows: [hostile, unread, wrong], others: [], workflowsMayBeMissing: false });
  expect(findings.map(({ diagnostics }) => diagnostics.map(({ code }) => code))).toEqual([
    ['RS3001'],
    ['RS1036'],
    ['RS2007'],
  ]);
});

test('nothing is repeated of a file that is no flow', () => {
  expect(said('password: "hunter2\nsecret: x\n')).toEqual(['1:1 RS2047 this file is not a flow']);
  expect(said('root:x:0:0\n// hunter2\n').join()).not.toContain('hunter2');
});
