import { describe, expect, it } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { Source } from '../../src/syntax/index.js';

function check(text: string): { valid: boolean; said: string[] } {
  const source = new Source('flow.yaml', text);
  const { definition, diagnostics } = checkSource(source, { handlers: new Map(), workflows: new Map() });
  const said = diagnostics.map(({ code, message, range }) => {
    const { line, column } = source.position(range.start);
    return `${line}:${column} ${code} ${message}`;
  });
  return { valid: definition !== undefined, said };
}

const flow = (...lines: string[]): string =>
  `workflow: f\nsteps:\n${lines.map((line) => `  ${line}\n`).join('')}input: { items: { type: array } }\n`;

describe('# runsheet-ignore', () => {
  it('has a warning ignored on its own line, or on the next that is no comment', () => {
    expect(check(flow('- set: { a: no } # runsheet-ignore RS1030'))).toEqual({ valid: true, said: [] });
    expect(
      check(flow('# runsheet-ignore RS1030 -- their word', '', '# no, not ours', '- set: { a: no }')).said,
    ).toEqual([]);
  });

  it('takes several codes, and only those', () => {
    const line = '- set: { a: no, b: 1.10 }';
    expect(check(flow(`${line} # runsheet-ignore RS1030, RS1031`)).said).toEqual([]);
    expect(check(flow(`${line} # runsheet-ignore RS1031`)).said).toEqual([expect.stringMatching(/^3:15 RS1030 /)]);
  });

  it('does not reach further than its line', () => {
    const { said } = check(flow('# runsheet-ignore RS1030', '- set: { a: no }', '- set: { a: no }'));
    expect(said).toEqual([expect.stringMatching(/^5:15 RS1030 /)]);
  });

  it('reaches all lines of a text written as a block or in quotes, where no comment can stand', () => {
    const block = ['- set: >-', '    =$exists(', '      $input.items.length)'];
    expect(check(flow(...block)).said).toEqual([expect.stringMatching(/^5:\d+ RS3006 /)]);
    expect(check(flow('# runsheet-ignore RS3006', ...block)).said).toEqual([]);
    expect(check(flow('- set: >- # runsheet-ignore RS3006', ...block.slice(1))).said).toEqual([]);
    const quoted = ['- set: "=$exists(', '    $input.items.length)" # runsheet-ignore RS3006'];
    expect(check(flow(...quoted)).said).toEqual([]);
  });

  it('is no comment inside a text', () => {
    const { said } = check(flow('- set: { a: "# runsheet-ignore RS1030", b: no }'));
    expect(said).toEqual([expect.stringMatching(/ RS1030 /)]);
    expect(check(flow('- set: |', '    # runsheet-ignore RS1030')).said).toEqual([]);
  });

  it('ignores no error, and says so: the engine would refuse the flow', () => {
    const { valid, said } = check(flow('- step: nosuch # runsheet-ignore RS4007'));
    expect(valid).toBe(false);
    expect(said).toEqual([
      expect.stringMatching(/^3:11 RS4007 /),
      '3:36 RS1034 `RS4007` is an error here, which no comment can ignore',
    ]);
  });

  it('is reported where it ignores nothing', () => {
    expect(check(flow('- set: 1 # runsheet-ignore RS4010 RS1030')).said).toEqual([
      '3:30 RS1034 there is no RS4010 to ignore on line 3',
      '3:37 RS1034 there is no RS1030 to ignore on line 3',
    ]);
    expect(check(flow('- set: 1 # runsheet-ignore')).said).toEqual([
      '3:12 RS1034 this comment names no code to ignore',
    ]);
    expect(check(flow('- set: 1 # runsheet-ignore RS9999 -- why')).said).toEqual([
      '3:30 RS1034 there is no code `RS9999`',
    ]);
    expect(check(`${flow('- set: 1')}# runsheet-ignore RS1030\n`).said).toEqual([
      '5:19 RS1034 there is no RS1030 to ignore on a line after it',
    ]);
  });

  it('is not called useless where not everything could be looked at', () => {
    const broken = flow('- set: 1 # runsheet-ignore RS4010', '- step: nosuch');
    expect(check(broken).said).toEqual([expect.stringMatching(/RS4007/)]);
    const source = new Source('flow.yaml', flow('- set: 1 # runsheet-ignore RS4010'));
    expect(checkSource(source).diagnostics).toEqual([]);
  });

  it('leaves other comments alone', () => {
    expect(check(flow('- set: 1 # runsheet-ignored', '# see runsheet-ignore RS1030')).said).toEqual([]);
  });
});
