import { describe, expect, it } from 'vitest';
import {
  type Diagnostic,
  Source,
  diagnosticsToJson,
  parseDocument,
  renderDiagnostics,
} from '../../src/syntax/index.js';

function rendered(text: string, words: string, help?: string): string[] {
  const start = text.indexOf(words);
  const diagnostic: Diagnostic = {
    code: 'RS1001',
    severity: 'error',
    message: 'this is wrong',
    range: { start, end: start + words.length },
    help: help ?? 'mend it',
  };
  const lines = renderDiagnostics([diagnostic], new Source('a/flow.yaml', text)).split('\n');
  return help === undefined ? lines.filter((line) => line !== '  help: mend it') : lines;
}

describe('renderDiagnostics', () => {
  it('shows place, line, carets under exactly the wrong words, and the help', () => {
    expect(rendered('a: 1\nto: $chrage.id\n', 'chrage', 'did you mean `charge`?')).toEqual([
      'a/flow.yaml:2:6: error RS1001: this is wrong',
      '  2 | to: $chrage.id',
      '    |      ^^^^^^',
      '  help: did you mean `charge`?',
      '',
    ]);
  });

  it('counts tabs as the spaces that it prints', () => {
    expect(rendered('{\n\t"a":\tbad }', 'bad').slice(1, 3)).toEqual([
      '  2 |     "a":    bad }',
      '    |             ^^^',
    ]);
  });

  it('counts wide characters twice and combining ones not at all, while columns count UTF-16 units', () => {
    expect(rendered('名前: e\u0301 😀 错 x', '错')).toEqual([
      'a/flow.yaml:1:11: error RS1001: this is wrong',
      '  1 | 名前: e\u0301 😀 错 x',
      '    |            ^^',
      '',
    ]);
    expect(rendered('a: 👨‍👩‍👧 x', 'x').slice(1, 3)).toEqual(['  1 | a: 👨‍👩‍👧 x', '    |       ^']);
  });

  it('marks the first line of words over several, and the end of a line that ends too soon', () => {
    expect(rendered('a: =$f(1,\r\n  2)\r\n', '=$f(1,\r\n  2)')[2]).toBe('    |    ^^^^^^');
    expect(rendered('a: [\nb', '\n').slice(1, 3)).toEqual(['  1 | a: [', '    |     ^']);
  });

  it('shows no line where there is none', () => {
    const source = new Source('<stdin>', '');
    expect(renderDiagnostics(parseDocument(source).diagnostics, source)).toBe(
      '<stdin>:1:1: error RS1002: the file is empty\n  help: a flow begins with `workflow: <name>`\n',
    );
  });

  it('cuts a very long line to the part around the mistake', () => {
    const [, line = '', carets = ''] = rendered(`{ a: "${'x'.repeat(5000)}", bad: "${'y'.repeat(5000)}" }`, 'bad');
    expect(line.length).toBeLessThan(160);
    expect(line.slice(carets.indexOf('^'), carets.lastIndexOf('^') + 1)).toBe('bad');
  });

  it('lets no file steer the terminal', () => {
    const text = 'a: "\u001b[2J\u009b1m\u202e" bad';
    expect(rendered(text, 'bad').join('\n')).not.toMatch(/[\u001b\u009b\u202e]/);
  });

  it('aligns the lines of a longer help, and separates diagnostics by an empty line', () => {
    const source = new Source('flow.yaml', 'x: =$a ? 1 : 2\nb: 1\nb: 2\n');
    expect(renderDiagnostics(parseDocument(source).diagnostics, source)).toBe(
      [
        'flow.yaml:1:12: error RS1018: an unquoted formula cannot hold `: `, which starts a map in YAML',
        '  1 | x: =$a ? 1 : 2',
        '    |            ^',
        '  help: write it as a block of text:',
        '          x: >-',
        '            =$a ? 1 : 2',
        '',
        'flow.yaml:3:1: error RS1009: the key `b` stands twice in one map, in line 2 and in line 3',
        '  3 | b: 2',
        '    | ^',
        '  help: remove or rename one of the two',
        '',
      ].join('\n'),
    );
  });

  it('colours on request only', () => {
    const source = new Source('flow.yaml', 'a: no\n');
    const { diagnostics } = parseDocument(source);
    expect(renderDiagnostics(diagnostics, source)).not.toContain('\u001b');
    const colored = renderDiagnostics(diagnostics, source, { color: true });
    expect(colored).toContain('\u001b[33mwarning RS1030:\u001b[0m');

    expect(colored.replace(/\u001b\[\d+m/g, '')).toBe(renderDiagnostics(diagnostics, source));
  });
});

describe('diagnosticsToJson', () => {
  it('gives 1-based lines and columns, the end exclusive, for all files together', () => {
    const sources = [new Source('a.yaml', 'a: 1\na: 2\n'), new Source('b.yaml', 'b: { c: =$f(1,\n 2) }\n')];
    const findings = sources.map((source) => ({ source, diagnostics: parseDocument(source).diagnostics }));
    expect(JSON.parse(JSON.stringify(diagnosticsToJson(findings)))).toEqual({
      version: 1,
      diagnostics: [
        {
          file: 'a.yaml',
          line: 2,
          column: 1,
          endLine: 2,
          endColumn: 2,
          severity: 'error',
          code: 'RS1009',
          message: 'the key `a` stands twice in one map, in line 1 and in line 2',
          help: 'remove or rename one of the two',
        },
        {
          file: 'b.yaml',
          line: 1,
          column: 9,
          endLine: 2,
          endColumn: 4,
          severity: 'error',
          code: 'RS1019',
          message: 'inside `{ … }` or `[ … ]` YAML cuts an unquoted formula up at its own commas, colons and brackets',
          help: "quote it: '=$f(1, 2)'\nor write the collection in block style, one entry a line",
        },
      ],
    });
  });
});
