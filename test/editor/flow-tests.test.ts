import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testShapes, testWords } from '../../src/testing/flow-tests/shapes.js';
import { LanguageServer } from './language-server.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A modeline with a relative path, as files of flow tests have it. */
const head = '# yaml-language-server: $schema=../schemas/flow-test.schema.json\nworkflow: ./f.yaml\n';
const inTests = (text: string): string => `${head}tests:\n${text}`;
const inTest = (text: string): string => inTests(`  - name: a\n${text.replace(/^(?=.)/gm, '    ')}`);
const keysOf = (shape: keyof typeof testShapes, ...without: string[]): string[] =>
  Object.keys(testShapes[shape].keys)
    .filter((key) => !without.includes(key))
    .sort();

describe('the schema of flow tests in the language server of editors', () => {
  let server: LanguageServer;
  beforeAll(async () => void (server = await LanguageServer.start(root)));
  afterAll(() => server.stop());

  it('offers exactly what may stand at the top, in a test and in the defaults', async () => {
    expect(await server.keys(`${head}|\n`)).toEqual(keysOf('file', 'workflow'));
    expect(await server.keys(inTest('|\n'))).toEqual(keysOf('test', 'name'));
    expect(await server.keys(`${head}defaults:\n  |\n`)).toEqual(keysOf('testDefaults'));
  });

  it('offers exactly what may be expected', async () => {
    expect(await server.keys(inTest('expect:\n  |\n'))).toEqual(keysOf('expect'));
    expect(await server.keys(inTest('expect:\n  error:\n    |\n'))).toEqual(keysOf('expectedError'));
    expect(await server.values(inTest('expect:\n  status: |\n'))).toEqual([...testWords.status].sort());
    expect(await server.values(inTest('expect:\n  rollback: |\n'))).toEqual([...testWords.rollback].sort());
  });

  it('offers exactly what an answer may have, single, in a list and of a child', async () => {
    expect(await server.keys(inTest('handlers:\n  mail.send:\n    |\n'))).toEqual(keysOf('reply'));
    expect(await server.keys(inTest('handlers:\n  mail.send:\n    - |\n'))).toEqual(keysOf('reply'));
    expect(await server.keys(inTest('children:\n  ship:\n    |\n'))).toEqual(keysOf('reply'));
    expect(await server.keys(inTest('handlers:\n  mail.send:\n    throws:\n      |\n'))).toEqual(keysOf('throws'));
    expect(await server.keys(inTest('handlers:\n  mail.send:\n    throws: { name: A }\n    |\n'))).toEqual(
      keysOf('reply', 'throws', 'returns'),
    );
  });

  it('offers exactly what signals, crashes and a cancellation may have', async () => {
    expect(await server.keys(inTest('signals:\n  - |\n'))).toEqual(keysOf('signal'));
    expect(await server.keys(inTest('signals:\n  - after: a\n    |\n'))).toEqual(keysOf('signal', 'at', 'after'));
    expect(await server.keys(inTest('crash:\n  - |\n'))).toEqual(keysOf('crashPoint'));
    expect(await server.keys(inTest('cancel:\n  |\n'))).toEqual(keysOf('cancel'));
    expect(await server.values(inTest('signals:\n  - at: 1h\n    name: a\n    refused: |\n'))).toEqual(
      [...testWords['signal refusal']].sort(),
    );
  });

  it('explains keys under the pointer', async () => {
    expect(await server.hover(inTest('han|dlers: real\n'))).toContain('how it answers');
    expect(await server.hover(inTest('expect:\n  compen|sated: [a]\n'))).toContain('in order of undoing');
    expect(await server.hover(inTest('crash:\n  - dur|ing: a\n'))).toContain('while this item is under way');
  });

  it('has nothing to say of a file without mistakes', async () => {
    const text = `defaults:
  handlers:
    a: { returns: 1 }
    b: [{ throws: { name: X }, takes: 1s }, {}]
    c: real
tests:
  - name: one
    signals: [{ at: 1h, name: s, payload: 1 }, { after: x#1, name: s }]
    crash: [{ after: x }, { during: y:compensate }]
    expect: { status: failed, error: { name: X }, calls: { a: 0 }, inputs: { 'x:compensate': {} } }
  - name: two
    handlers: real
    crash: every
    expect: { refused: ValidationError }
`;
    expect(await server.problems(head + text)).toEqual([]);
  });

  it.each([
    ['a misspelt key of a test', 'expct: {}\n', 'expct'],
    ['a misspelt expectation', 'expect:\n  compensatd: [a]\n', 'compensatd'],
    ['a misspelt key of an answer', 'handlers:\n  a: { retrns: 1 }\n', 'retrns'],
    ['a key of an answer in a list', 'handlers:\n  a: [{ retrns: 1 }]\n', 'retrns'],
    ['returns beside throws', 'handlers:\n  a: { throws: { name: X }, returns: 1 }\n', 'returns'],
    ['at beside after', 'signals:\n  - { after: x, at: 1h, name: s }\n', 'at'],
    ['an answer that is none', 'handlers:\n  a: 5\n', 'Answer'],
    ['a status that does not exist', 'expect: { status: complete }\n', 'completed'],
    ['a duration without a unit', 'cancel: { at: 5 }\n', 'string'],
    ['a refusal with more', 'expect: { refused: ValidationError, output: 1 }\n', 'output'],
    ['an error that is a text', 'expect: { error: OrderRejected }\n', 'Error'],
  ])('says one thing of %s', async (_, text, word) => {
    const problems = await server.problems(inTest(text));
    expect(problems).toHaveLength(1);
    expect(JSON.stringify(problems)).toContain(word);
  });
});
