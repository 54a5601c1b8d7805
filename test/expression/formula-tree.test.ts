import fc from 'fast-check';
import jsonata from 'jsonata';
import { describe, expect, it } from 'vitest';

import {
  type FormulaNode,
  FormulaSyntaxError,
  type SoundFormula,
  compileFormula,
  formulaChildren,
  inspectFormula,
  walkFormula,
} from '../../src/expression/index.js';
import { bodyOf, parseFormula } from '../../src/expression/parse.js';
import { anyFormula, tokenSoup } from './random-formula.js';
import { shapeOf, shapeOfJsonata } from './tree-shapes.js';

const runs = { seed: 5, numRuns: Number(process.env.FORMULA_RUNS ?? 500) };

function inspected(text: string): SoundFormula {
  const found = inspectFormula(text);
  if (!found.ok) throw found.error;
  return found;
}

/** Every node with the text that it stands for, as `kind: text`. */
function parts(text: string): string[] {
  const found: string[] = [];
  walkFormula(inspected(text).tree, ({ kind, start, end }) => found.push(`${kind}: ${text.slice(start, end)}`));
  return found;
}

const isFormula = (text: string): boolean => {
  try {
    parseFormula(text);
    return true;
  } catch (error) {
    if (error instanceof FormulaSyntaxError) return false;
    throw error;
  }
};

describe('the places of a formula', () => {
  it.each([
    ['= 1', ['literal: 1']],
    ['=-1 + 2', ['binary: -1 + 2', 'literal: -1', 'literal: 2']],
    ['=-$a.b', ['negate: -$a.b', 'path: $a.b', 'variable: $a']],
    [
      '=$input.items[qty > 1].sku & "x"',
      [
        'binary: $input.items[qty > 1].sku & "x"',
        'path: $input.items[qty > 1].sku',
        'variable: $input',
        'binary: qty > 1',
        'path: qty',
        'literal: 1',
        'literal: "x"',
      ],
    ],
    ['=($a) ?? [ ]', ['default: ($a) ?? [ ]', 'block: ($a)', 'variable: $a', 'list: [ ]']],
    [
      '=$map($x, function($i) { $i + 1 })',
      [
        'call: $map($x, function($i) { $i + 1 })',
        'variable: $map',
        'variable: $x',
        'lambda: function($i) { $i + 1 }',
        'binary: $i + 1',
        'variable: $i',
        'literal: 1',
      ],
    ],
    [
      '=$a ? { "k": 1 } : [1..3]',
      [
        'conditional: $a ? { "k": 1 } : [1..3]',
        'variable: $a',
        'object: { "k": 1 }',
        'literal: "k"',
        'literal: 1',
        'list: [1..3]',
        'range: 1..3',
        'literal: 1',
        'literal: 3',
      ],
    ],
    ['=$a ~> $sum()', ['apply: $a ~> $sum()', 'variable: $a', 'call: $sum()', 'variable: $sum']],
    ['=$a.`b c`^(>d)[0]', ['path: $a.`b c`^(>d)[0]', 'variable: $a', 'path: d', 'literal: 0']],
  ])('%s', (text, expected) => {
    expect(parts(text)).toEqual(expected);
  });

  it('of a name are known with and without its quotes', () => {
    const text = '=$steps.`a b`."c"';
    const { tree } = inspected(text);
    const steps = tree.kind === 'path' ? tree.steps : [];
    const names = steps.flatMap((step) =>
      step.kind === 'name' ? [[step.name, step.start, step.end, step.nameSpan]] : [],
    );
    expect(names).toEqual([
      ['a b', 8, 13, { start: 9, end: 12 }],
      ['c', 14, 17, { start: 15, end: 16 }],
    ]);
  });

  it('a variable knows whether it is the formula’s own', () => {
    const own: string[] = [];
    walkFormula(inspected('=($x := $y; $map($x, function($y) { $y + $z })) + $x').tree, (node) => {
      if (node.kind === 'variable') own.push(`${node.name} ${node.own}`);
    });
    expect(own).toEqual(['y false', 'map false', 'x true', 'y true', 'z false', 'x false']);
  });

  it('a call knows which function of the language it calls, unless the formula has one of that name', () => {
    const called = (text: string): (string | undefined)[] => {
      const names: (string | undefined)[] = [];
      walkFormula(inspected(text).tree, (node) => node.kind === 'call' && names.push(node.function));
      return names;
    };
    expect(called('$sum($a)')).toEqual(['sum']);
    expect(called('($sum := function($x) { $x }; $sum($a))')).toEqual([undefined]);
  });

  it('a text that is no formula says where, and is read once', () => {
    const broken = inspectFormula('=1 +');
    expect(broken).toMatchObject({ ok: false, error: { start: 3, end: 4 } });
    expect(inspectFormula('=1 +')).toBe(broken);
  });
});

describe('for any text', () => {
  it.each([
    ['grammar', anyFormula],
    ['tokens', tokenSoup],
  ])('it is a formula here where it is one for JSONata, and of the same shape: %s', (_, texts) => {
    let formulas = 0;
    fc.assert(
      fc.property(texts, (text) => {
        const found = inspectFormula(text);
        expect(found.ok, text).toBe(isFormula(text));
        if (!found.ok) return;
        formulas++;
        const { body } = bodyOf(text);
        const [ours, theirs] = [shapeOf(found.tree), shapeOfJsonata(jsonata(body).ast(), body)];
        expect(ours.replaceAll('…', '')).toBe(theirs.replaceAll('…', ''));
        expect(ours.includes('…')).toBe(theirs.includes('…'));
      }),
      runs,
    );
    expect(formulas).toBeGreaterThan(runs.numRuns / 20);
  });

  it('children lie inside their parents, in order, and the text of each stands for the same alone', () => {
    fc.assert(
      fc.property(anyFormula, fc.constantFrom('', '=', ' = '), (body, sign) => {
        const text = sign + body;
        const found = inspectFormula(text);
        if (!found.ok) return;
        const visit = (node: FormulaNode): void => {
          let at = node.start;
          for (const { node: child } of formulaChildren(node)) {
            expect(child.start, text).toBeGreaterThanOrEqual(at);
            expect(child.end, text).toBeLessThanOrEqual(node.end);
            at = child.end;
            visit(child);
          }
          // A range is one only inside its list.
          if (node.kind === 'range') return;
          const own = text.slice(node.start, node.end);
          expect(own.trim()).toBe(own);
          const alone = inspectFormula(own);
          // `%` leads out of a part, and so has no meaning in it alone.
          if (!alone.ok && body.includes('%')) return;
          // A text is a name where it is a step of a longer path.
          const shape = (each: FormulaNode): string => shapeOf(each).replaceAll('."', '"');
          expect(shape(inspected(own).tree), `${own} in ${text}`).toBe(shape(node));
        };
        visit(found.tree);
        expect(found.tree.end).toBe(text.trimEnd().length);
      }),
      runs,
    );
  });

  it('the free variables are those that the compiled formula asks for', () => {
    fc.assert(
      fc.property(anyFormula, (text) => {
        const found = inspectFormula(text);
        if (!found.ok || found.free.some(({ node }) => node.name === 'f')) return;
        const formula = compileFormula(text);
        const names = found.free.map(({ node }) => node.name);
        for (const name of formula.variables) if (name !== 'clone') expect(names, text).toContain(name);
        if (formula.steps !== 'all') expect(new Set(found.steps.map(({ id }) => id))).toEqual(formula.steps);
      }),
      runs,
    );
  });
});
