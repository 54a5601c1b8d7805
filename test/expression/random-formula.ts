import fc from 'fast-check';

const name = fc.constantFrom('a', 'b', '`x y`', '"quoted"', 'and', 'in', 'length');
const variable = fc.constantFrom('$v', '$w', '$input', '$steps', '$x', '$', '$$');
const literal = fc.constantFrom('1', '-2.5', '0', '"text"', "'it'", '"a\\nb"', 'true', 'false', 'null', '[]', '{}');
const operator = fc.constantFrom(
  ...['=', '!=', '<', '<=', '>', '>=', 'in', 'and', 'or', '&', '+', '-', '*', '/', '%', '??', '?:', '~>'],
);
const space = fc.constantFrom('', ' ', '  ', '\n', ' /* why */ ');
const spaced = fc.constantFrom(' ', '  ', '\n', ' /* why */ ');

/** Formulas of the whole grammar, sensible or not. Not all of them are accepted by JSONata. */
export const { anyFormula } = fc.letrec<{ anyFormula: string }>((tie) => {
  const inner = tie('anyFormula');
  return {
    anyFormula: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      literal,
      variable,
      name,
      fc.tuple(variable, fc.array(name, { minLength: 1, maxLength: 3 })).map(([v, names]) => [v, ...names].join('.')),
      fc.tuple(inner, spaced, operator, spaced, inner).map((parts) => parts.join('')),
      fc.tuple(inner, space, inner).map(([left, gap, right]) => `${left}${gap}.${gap}${right}`),
      fc.tuple(inner, inner).map(([left, right]) => `${left}[${right}]`),
      inner.map((left) => `${left}[]`),
      fc.tuple(inner, inner, inner).map(([left, key, value]) => `${left}{${key}: ${value}}`),
      fc.tuple(inner, fc.constantFrom('', '<', '>'), inner).map(([left, way, term]) => `${left}^(${way}${term})`),
      fc.tuple(inner, fc.constantFrom('@$x', '#$i', '.*', '.**', '.%.a')).map(([left, right]) => left + right),
      fc.tuple(inner, space, inner, inner).map(([a, gap, b, c]) => `${a}${gap} ? ${b} : ${c}`),
      fc.tuple(inner, inner).map(([a, b]) => `${a} ? ${b}`),
      fc.tuple(space, inner, space).map(([before, each, after]) => `(${before}${each}${after})`),
      fc.tuple(inner, inner).map(([a, b]) => `($x := ${a}; ${b})`),
      fc.array(inner, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc.tuple(inner, inner).map(([a, b]) => `[${a} .. ${b}]`),
      fc.tuple(inner, inner).map(([key, value]) => `{${key}: ${value}, "k": ${value}}`),
      fc
        .tuple(fc.constantFrom('$sum', '$count', '$map', '$f', 'count'), fc.array(inner, { maxLength: 2 }))
        .map(([called, given]) => `${called}(${given.join(', ')})`),
      inner.map((argument) => `$substring(?, ${argument})`),
      inner.map((body) => `function($x, $y) { ${body} }`),
      inner.map((body) => `function($x)<x:x>{ ${body} }`),
      inner.map((each) => `-${each}`),
      fc.tuple(inner, inner).map(([pattern, update]) => `|${pattern}|${update}|`),
      fc.constantFrom('/a[b/]c/i', '$match("x", /x/)'),
    ),
  };
});

/** Tokens in any order: most are no formulas, and those that are, are strange. */
export const tokenSoup = fc
  .array(
    fc.oneof(
      name,
      variable,
      literal,
      operator,
      fc.constantFrom(...['(', ')', '[', ']', '{', '}', '.', ',', ';', ':', ':=', '?', '..', '^', '@', '#', '|', '**']),
      fc.constantFrom('function', '/x/', '"', '`', '/*', '*/', '!', '~', '5.', '1e999', '\\', 'é', '\u00a0'),
    ),
    { maxLength: 12 },
  )
  .chain((tokens) => space.map((gap) => tokens.join(gap)));
