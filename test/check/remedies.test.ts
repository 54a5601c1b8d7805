import { describe, expect, test } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { Source } from '../../src/syntax/index.js';

interface Said {
  readonly code: string;
  readonly help: string;
  readonly start: number;
  readonly end: number;
}

function said(text: string): Said[] {
  return checkSource(new Source('flow.yaml', text)).diagnostics.map(({ code, help, range }) => ({
    code,
    help,
    ...range,
  }));
}

/** What the help proposes to write, in its first backquotes. */
function proposal({ help }: Said): string {
  return /`([^`]+)`/.exec(help)?.[1] ?? '';
}

const head = `workflow: remedies
input:
  first: { type: string }
  last: { type: string }
  due: { type: string, format: date-time }
  note: { type: string, optional: true }
steps:
`;

describe('what is proposed can be written as it is', () => {
  test.each([
    ['=CONCATENATE($input.first, " ", $input.last)', 'RS3003', 'write `$input.first & " " & $input.last`'],
    ['=$input.due - $now()', 'RS3007', 'milliseconds between two times: `$toMillis($input.due) - $toMillis($now())`'],
  ])('%s', (formula, code, help) => {
    const [only, ...others] = said(`${head}  - set: '${formula}'\n`);
    expect([only?.code, only?.help, others]).toEqual([code, help, []]);
    expect(said(`${head}  - set: '=${only === undefined ? '' : proposal(only)}'\n`)).toEqual([]);
  });

  test.each([
    ['- sleep: { duration: 5m }', 'sleep: 5m', '- sleep: 5m'],
    ['- sleep: { for: 5m }', 'sleep: 5m', '- sleep: 5m'],
    ['- { step: a.b, with: $input }', 'with: =$input', '- { step: a.b, with: =$input }'],
  ])('%s', (wrong, written, right) => {
    const [only, ...others] = said(`${head}  ${wrong}\n`);
    expect([only === undefined ? '' : proposal(only), others]).toEqual([written, []]);
    expect(said(`${head}  ${right}\n`)).toEqual([]);
  });

  test('a default by `||` is one by `??`', () => {
    const [only] = said(`${head}  - set: '=$input.note || "none"'\n`);
    expect(only?.help).toBe('for a default write `??`');
    expect(said(`${head}  - set: '=$input.note ?? "none"'\n`)).toEqual([]);
  });
});

describe('verdicts', () => {
  const codes = (text: string): string[] => said(text).map(({ code }) => code);

  test('`$run.startedAt` is a number, as it is in runs', () => {
    expect(
      codes(`${head}  - when: $millis() - $run.startedAt > 60000\n    set: =$fromMillis($run.startedAt)\n`),
    ).toEqual([]);
    expect(codes(`${head}  - when: $toMillis($run.startedAt) > 0\n    set: 1\n`)).toEqual(['RS3014']);
  });

  test('`$run.status` is one of few words', () => {
    const finished = (word: string): string =>
      `${head}  []\nfinally:\n  - when: $run.status = "${word}"\n    step: a.b\n`;
    for (const word of ['completed', 'failed', 'cancelled']) expect(codes(finished(word))).toEqual([]);
    expect(codes(finished('success'))).toEqual(['RS3012']);
  });

  test.each(['[{ fail: NoAnswer }]', '{ fail: NoAnswer, message: nobody }', '[{ step: mail.send }]'])(
    '`onTimeout: %s` runs nothing',
    (value) => {
      expect(codes(`${head}  - waitFor: answer\n    timeout: 1d\n    onTimeout: ${value}\n`)).toEqual(['RS2046']);
    },
  );

  test('a value of `onTimeout` may have fields that are called like verbs', () => {
    expect(codes(`${head}  - waitFor: answer\n    timeout: 1d\n    onTimeout: { step: 3, set: a }\n`)).toEqual([]);
  });

  test('a field that is declared as `length` is read as one', () => {
    const box = 'box: { type: object, properties: { length: { type: number } } }';
    expect(codes(`workflow: x\ninput:\n  ${box}\nsteps:\n  - set: =$input.box.length\n`)).toEqual([]);
    expect(codes(`${head}  - id: a\n    step: a.b\n  - set: =$steps.a.list.length\n`)).toEqual(['RS3006']);
  });
});

describe('what spreadsheets and other languages write', () => {
  test.each([
    ['=FILTER($input.list, $input.list.paid = false)', '[$input.list[paid = false]]'],
    ['=$formatDate($now(), "[Y]")', '$fromMillis($toMillis($now()), "[Y]")'],
    ['=$input.amount > 1,000', '1000'],
    ['=$input.amount > 1,250,000', '1250000'],
  ])('%s', (formula, right) => {
    const fields = '  amount: { type: number }\n  list: { type: array }\nsteps:\n';
    const [first] = said(`${head.replace('steps:\n', fields)}  - set: '${formula}'\n`);
    expect(first && proposal(first)).toBe(right);
  });
});

describe('a variable inside a quoted text', () => {
  test.each([
    ['="Hello $input.first"', '"Hello " & $input.first'],
    ['="$input.first"', '$input.first'],
    ['="Dear $input.first $input.last, hello."', '"Dear " & $input.first & " " & $input.last & ", hello."'],
  ])('%s', (formula, right) => {
    const [only, ...others] = said(`${head}  - set: '${formula}'\n`);
    expect([only?.code, only?.help, others]).toEqual(['RS3022', `texts are joined by \`&\`: \`${right}\``, []]);
    expect(said(`${head}  - set: '=${right}'\n`)).toEqual([]);
  });

  test.each([
    '="5 $USD"',
    '=$replace($input.first, /(a)/, "$1")',
    '=$contains($input.first, "$input.last")',
    '="Use $now() for the time"',
  ])('%s passes', (formula) => {
    expect(said(`${head}  - set: '${formula}'\n`)).toEqual([]);
  });
});
