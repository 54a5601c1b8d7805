import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nearest } from '../../src/syntax/index.js';

const verbs = ['step', 'set', 'group', 'branch', 'parallel', 'forEach', 'doWhile', 'doUntil', 'waitFor', 'sleep'];

it.each([
  ['chrage', ['charge', 'change'], 'charge'],
  ['foreach', verbs, 'forEach'],
  ['setp', verbs, 'step'],
  ['paralel', verbs, 'parallel'],
  ['untilDo', verbs, undefined],
  ['dountl', verbs, 'doUntil'],
  ['xyz', verbs, undefined],
  ['x', ['y', 'z'], undefined],
  ['ad', ['id', 'as'], 'id'],
  ['payments.chrage', ['payments.refund', 'payments.charge'], 'payments.charge'],
  ['timeOut', ['timeout'], 'timeout'],
  ['step', [], undefined],
])('%s among %j is %s', (word, candidates, expected) => {
  expect(nearest(word, candidates)).toBe(expected);
});

it('finds any word of six characters again after one slip', () => {
  const word = fc.stringMatching(/^[a-z]{6,12}$/);
  const slip = fc.constantFrom('drop', 'double', 'swap', 'replace');
  fc.assert(
    fc.property(word, slip, fc.nat(4), (right, kind, at) => {
      const [before, here, next, after] = [
        right.slice(0, at),
        right[at] ?? '',
        right[at + 1] ?? '',
        right.slice(at + 2),
      ];
      const wrong = {
        drop: before + next + after,
        double: before + here + here + next + after,
        swap: before + next + here + after,
        replace: `${before}#${next}${after}`,
      }[kind];
      fc.pre(wrong !== right);
      expect(nearest(wrong, ['unrelated-words', right])).toBe(right);
    }),
    { numRuns: 300, seed: 20262 },
  );
});
