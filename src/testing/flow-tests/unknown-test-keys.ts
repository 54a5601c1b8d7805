import { type Report, listed } from '../../definition/index.js';
import { type MappingNode, nearest } from '../../syntax/index.js';
import { type TestShape, testShapes } from './shapes.js';

/** Words that other tools use, by the shape they are used in, with what a flow test says instead. */
const otherWords = new Map<TestShape, Readonly<Record<string, string>>>([
  [testShapes.file, { flow: 'workflow', path: 'workflow', cases: 'tests', scenarios: 'tests', suite: 'tests' }],
  [
    testShapes.test,
    {
      title: 'name',
      description: 'name',
      it: 'name',
      given: 'input',
      mocks: 'handlers',
      stubs: 'handlers',
      mock: 'handlers',
      steps: 'handlers',
      then: 'expect',
      assert: 'expect',
      subWorkflows: 'children',
      compensate: 'compensation',
      operator: 'compensation',
      abandon: 'compensation',
    },
  ],
  [
    testShapes.reply,
    {
      result: 'returns',
      output: 'returns',
      value: 'returns',
      error: 'throws',
      fails: 'throws',
      delay: 'takes',
      duration: 'takes',
      if: 'when',
    },
  ],
  [testShapes.signal, { signal: 'name', data: 'payload', body: 'payload', time: 'at', workflow: 'to' }],
  [testShapes.decision, { verdict: 'decide', decision: 'decide', do: 'decide', time: 'at' }],
  [testShapes.crashPoint, { before: 'during', in: 'during', time: 'at' }],
  [testShapes.expectedElapsed, { min: 'atLeast', max: 'atMost', equals: 'exactly' }],
  [testShapes.expect, { result: 'output', state: 'status', order: 'ran', undone: 'compensated', duration: 'elapsed' }],
]);

/**
 * Reports the keys that a shape does not have. Returns the keys that a misspelling was probably meant to be, so that
 * the caller does not report them as missing too.
 */
export function reportUnknownTestKeys(node: MappingNode, shape: TestShape, report: Report): Set<string> {
  const meant = new Set<string>();
  const present = node.entries.map(({ key }) => key.value);
  const absent = Object.keys(shape.keys).filter((key) => !present.includes(key));
  for (const { key } of node.entries) {
    if (Object.hasOwn(shape.keys, key.value)) continue;
    const elsewhere = belongsTo(key.value, shape);
    const other = otherWords.get(shape)?.[key.value];
    const guess = other !== undefined && absent.includes(other) ? other : nearest(key.value, absent);
    if (elsewhere !== undefined) {
      report.error('RS6004', key.range, `\`${key.value}\` is not part of ${shape.what}`, elsewhere);
      continue;
    }
    if (guess !== undefined) meant.add(guess);
    report.error('RS6003', key.range, `${shape.what} has no \`${key.value}\``, helpFor(shape, guess));
  }
  return meant;
}

function helpFor(shape: TestShape, guess: string | undefined): string {
  if (guess !== undefined) return `did you mean \`${guess}\`?`;
  if (shape === testShapes.reply) return 'what a call gives back stands in `returns`';
  return `it may have ${listed(Object.keys(shape.keys), 'and')}`;
}

/** Where a key that is spelt right belongs, if not here. */
function belongsTo(key: string, here: TestShape): string | undefined {
  const { file, test, testDefaults, expect, reply, throws } = testShapes;
  if (here === testDefaults && key === 'expect') return 'each test says by itself what it expects';
  if (here === file && key === 'expect') return 'it belongs on a test: an entry of `tests`';
  if (here === file && Object.hasOwn(testDefaults.keys, key)) {
    return 'it belongs on a test, or in `defaults` for all of them';
  }
  if ((here === test || here === testDefaults) && Object.hasOwn(expect.keys, key)) return 'it belongs in `expect`';
  if (here === expect && Object.hasOwn(test.keys, key)) return 'it belongs on the test, beside `expect`';
  if (here === test && (key === 'workflow' || key === 'defaults')) return 'it belongs at the top of the file';
  if (here === reply && key !== 'name' && Object.hasOwn(throws.keys, key)) return 'it belongs in `throws`';
  return undefined;
}
