import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkSource, isFlowFile } from '../../src/check/index.js';
import { Source, renderDiagnostics } from '../../src/syntax/index.js';
import { suspiciousFlows } from './suspicious-flows.js';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

function said(name: string, text: string): string {
  const source = new Source(name, text);
  return renderDiagnostics(checkSource(source).diagnostics, source, { color: false });
}

describe('nothing is said', () => {
  const flows = [
    'test/definition/order-fulfilment.yaml',
    'test/definition/everything-else.yaml',
    ...readdirSync(at('definitions'))
      .filter(isFlowFile)
      .map((name) => `definitions/${name}`),
  ];

  test.each(flows)('of %s', (name) => {
    expect(said(name, readFileSync(at(name), 'utf8'))).toBe('');
  });

  test.each<[string, string]>([
    [
      'a step read through its handler, from wherever it has run',
      `
  - step: lookup
  - group: [{ step: other }]
  - set: { a: =$steps.lookup, b: =$steps.other }`,
    ],
    [
      'the last turn of a loop',
      `
  - id: loop
    doUntil: =($steps.second ?? 0) > 2
    do:
      - id: first
        set: =$steps.second ?? 0
      - id: second
        set: =$steps.first + 1`,
    ],
    [
      'another arm of a branch inside a loop',
      `
  - doWhile: =$iteration < 2
    do:
      - branch:
          - when: =$iteration = 0
            do: [{ id: one, set: 1 }]
          - else:
              - set: =$steps.one`,
    ],
    [
      'a step of this turn inside a forEach inside a loop',
      `
  - doWhile: =$iteration < 2
    do:
      - forEach: [1, 2]
        do:
          - id: inner
            set: =$item
          - set: =$steps.inner + $iteration`,
    ],
    [
      'the branches of a parallel, after it and in the onError of what is around it',
      `
  - group:
      - parallel:
          one: [{ id: one, set: 1 }]
          two: [{ id: two, set: 2 }]
      - set: =$steps.one + $steps.two
    onError:
      - do:
          - set: =$steps.one ?? $steps.two ?? $error.message
  - set: =($steps.one ?? 0) + ($steps.two ?? 0)`,
    ],
    [
      'a step of an arm in the onError of its branch',
      `
  - branch:
      - when: true
        do:
          - id: one
            set: 1
          - fail: Later
      - else: []
    onError:
      - do:
          - set: =$steps.one ?? 0`,
    ],
    [
      'names that a formula binds itself, and fields of elements',
      `
  - set: '=( $x := 5; $f := function($input) { $input.anything + $x }; $f({ "anything": 1 }) )'
  - set: >-
      =[{ "a": 1, "b": 2 }][a = 1].b
  - set: =$sort([3, 1], function($l, $r) { $l > $r })
  - set: =$map([1, 2], function($v, $i) { $v * $i })`,
    ],
    [
      'two names that differ in place only',
      `
  - id: lookup
    step: other
  - step: lookup
  - set: =$steps.lookup`,
    ],
    [
      'literals that only look a little like markers or variables',
      `
  - step: mail.send
    with:
      price: $5
      unknown: $inputs and more
      braces: "{ a }"
      percent: 100 %
      css: "a{b}"
      "{{key}}": $
      formula: '="{{name}}"'`,
    ],
  ])('of %s', (_, steps) => {
    expect(said('flow.yaml', `workflow: fine\nsteps:${steps}\n`)).toBe('');
  });
});

describe('nothing is said of what only looks suspicious', () => {
  const around = 'input: { order: { type: object }, items: { type: array }, note: { type: string } }';

  test.each(suspiciousFlows)('%s', (_, text) => {
    const flow = text.startsWith('\n') ? `workflow: fine\n${around}\nsteps:${text}\n` : text;
    expect(said('fine.yaml', flow)).toBe('');
  });
});

describe('a large flow', () => {
  test('of a thousand steps that read one another', () => {
    const steps = Array.from({ length: 1000 }, (_, index) =>
      index === 0 ? '  - id: s0\n    set: 1\n' : `  - id: s${index}\n    set: =$steps.s${index - 1} + $input.total\n`,
    );
    const text = `workflow: large\ninput: { total: { type: number } }\nsteps:\n${steps.join('')}`;
    expect(said('large.yaml', text)).toBe('');
  });
});
