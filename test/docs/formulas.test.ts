import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/common/index.js';
import { type Bindings, compileFormula, evaluate } from '../../src/expression/index.js';
import { manual, page } from './manual.js';

const guide = page('docs/guide/expressions.md');
const input = JSON.parse(guide.blocks.find(({ language }) => language === 'json')?.text ?? 'null') as JsonValue;
const steps: Record<string, JsonValue> = { quote: { price: 12.5, currency: 'EUR' } };
const bindings: Bindings = {
  variable: (name) => (name === 'input' ? input : undefined),
  step: (id) => steps[id],
  stepIds: () => Object.keys(steps),
};
const surroundings = { now: Date.UTC(2030, 1, 1), random: () => 0.5 };

/** `formula → what it gives`, a line each. */
const examples = manual().flatMap(({ path, blocks }) =>
  blocks
    .filter(({ language }) => language === 'formulas')
    .flatMap(({ line, text }) =>
      text
        .trimEnd()
        .split('\n')
        .map((each, index): [string, string] => [`${path}:${line + index}`, each]),
    ),
);

describe('formulas in the manual', () => {
  it('are there', () => expect(examples.length).toBeGreaterThan(30));

  it.each(examples)('%s: %s', async (_place, example) => {
    const [, formula = '', expected = ''] = /^(=.*?) +→ (.*)$/.exec(example) ?? [];
    expect(await evaluate(compileFormula(formula), bindings, surroundings)).toEqual(JSON.parse(expected));
  });
});
