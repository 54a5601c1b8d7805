import fc from 'fast-check';

/** Pieces of YAML with no regard to where they may stand. */
const pieces = [
  ...[
    'a',
    'b',
    'key',
    'true',
    'null',
    '~',
    'no',
    '0',
    '-1',
    '1.5',
    '0x1F',
    '1e3',
    '.5',
    '007',
    '=$x',
    '$x',
    '=f(1, 2)',
  ],
  ...[': ', ':', '- ', '-', '? ', ', ', ',', '{', '}', '[', ']', '{ ', ' }', '"', "'", '"a"', "'b'", '""', "''"],
  ...['|', '>', '|-', '>+', '|2', '>1-', ' #', '#', '# c', ' #$', '&a ', '*a', '!t ', '%', '@', '`', '<<', '\\', '\\n'],
  ...['\n', '\n', '\n', '\n\n', '\n  ', '\n    ', '\n- ', '\n  - ', '\na: ', '\n  b: ', ' ', '  ', '\t', '\r\n', '---'],
  ...['...', 'é', '漢', '👍', '\u00a0', '\u2028', '\ufeff', '\u0000', '\ud800'],
];

export const anyPieces = fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((parts) => parts.join(''));

type Weighted<T> = readonly [weight: number, ...values: T[]];

const oneOf = <T>(...options: readonly Weighted<T>[]): fc.Arbitrary<T> =>
  fc.oneof(...options.map(([weight, ...values]) => ({ weight, arbitrary: fc.constantFrom(...(values as T[])) })));

const scalar = oneOf<string>(
  [20, 'x', 'x y', '=$x', '"q"', "'s'", '5', 'true', 'null', '{}', '[]', '=$a & "b"', 'a#b', 'a:b'],
  [
    10,
    '{ a: 1 }',
    '[1, "b"]',
    '{ a: { b: =$x } }',
    '[[x], {}, ]',
    '{"a":1,"b" : [2]}',
    '"a\\n\\u0041"',
    "'it''s'",
    '-1.5',
  ],
  [4, '=$x[0]', 'a, b', '{ a: =$x[0] }', '[=f(1, 2)]', '[a b, c]', '{a: b:c}', '"', "'", 'x"', '[', '{', ']', 'b: 1'],
  [1, '1.0', '0x1F', 'no', '---', '-', '?', ':', '&a', '*a', '!t', '|', '>', '~', '\t', '%', '@', '- x', '=', '$'],
);

const key = oneOf<string>(
  [20, 'a', 'b', 'c', 'd', 'e', 'when'],
  [2, '"f"', "'g'", 'h ', 'on', '=i', '1', 'null', '<<', '""', 'constructor', '{ a: 1 }', '-j', '- k', '"l":"m'],
);

const comment = oneOf<string>([20, ''], [1, ' ', ' # c', ' #c', '# c', '#', ' #$i', '   #']);

/** What stands on a line of its own, and is no value. */
const filler = oneOf<string>(
  [3, ''],
  [1, ' ', '  ', '   ', '    '],
  [2, '# c', '  # c', '    # c'],
  [1, ' # c', '#c', '  #'],
);

const fillers = fc.array(filler, { maxLength: 2, size: '-1' });

/** A value: what stands on the line of its key or `-`, and lines below. */
interface Value {
  readonly head: string;
  readonly below: readonly string[];
  /** How much deeper than their key the lines below stand. */
  readonly indent: number;
}

const indented = (lines: readonly string[], indent: number): string[] =>
  lines.map((line) => (line === '' ? '' : ' '.repeat(indent) + line));

const behind = (mark: string, { head, below, indent }: Value, comment: string): string[] => [
  `${mark}${head === '' ? '' : ` ${head}`}${comment}`,
  ...indented(below, indent),
];

/** `-` and a collection on one line, or below it. */
const item = (value: Value, comment: string): string[] => {
  const [first, ...rest] = value.below;
  if (value.head !== '' || first === undefined || value.indent > 2) return behind('-', value, comment);
  return [`- ${first}`, ...indented(rest, 2)];
};

const flowLine = oneOf<string>(
  [6, 'a: 1,', '"b": [2],', 'c,', '"d",'],
  [1, '', ' ', '# c', '[', ']', 'a: 1', 'x # c', ', # c', '{ a: =$x },', 'x', '- x'],
);

/** `{ … }` or `[ … ]` over several lines. */
const flowOverLines: fc.Arbitrary<Value> = fc
  .tuple(
    oneOf<string>([4, '{', '[', '[ # c'], [1, '[x,', '{ a: 1,', '{#']),
    fc.array(flowLine, { maxLength: 3 }),
    oneOf<string>([4, '}', ']'], [1, '} # c', ']]', '  }', '']),
    oneOf<number>([6, 2], [2, 0, 1, 4]),
  )
  .map(([head, lines, close, indent]) => ({ head, below: [...lines.map((line) => ` ${line}`), close], indent }));

const { map, list, value } = fc.letrec<{ value: Value; block: Value; map: Value; list: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: scalar.map((head) => ({ head, below: [], indent: 2 })) },
    { weight: 1, arbitrary: fc.constant({ head: '', below: [], indent: 2 }) },
    { weight: 1, arbitrary: scalar.map((line) => ({ head: '', below: [line], indent: 2 })) },
    { weight: 1, arbitrary: tie('block') },
    { weight: 1, arbitrary: flowOverLines },
    { weight: 3, arbitrary: tie('map') },
    { weight: 3, arbitrary: tie('list') },
  ),
  block: fc
    .tuple(
      oneOf<string>([4, '|', '>', '>-', '|-', '|+', '>+'], [1, '|2', '>1-', '|-3', '|++', '>x']),
      fc.array(oneOf<string>([4, 'x', 'y z', ''], [1, '  x', ' ', '   ', '# c', '- x', ' y']), { maxLength: 4 }),
      oneOf<number>([6, 2], [1, 1, 3, 0]),
    )
    .map(([head, below, indent]) => ({ head, below, indent })),
  map: fc
    .tuple(
      fc.uniqueArray(fc.tuple(key, tie('value'), comment, fillers), { maxLength: 3, selector: ([name]) => name }),
      oneOf<number>([6, 2], [1, 1, 3, 0]),
    )
    .map(([entries, indent]) => ({
      head: '',
      below: entries.flatMap(([name, each, end, after]) => [...behind(`${name}:`, each, end), ...after]),
      indent,
    })),
  list: fc
    .tuple(fc.array(fc.tuple(tie('value'), comment, fillers), { maxLength: 3 }), oneOf<number>([3, 2, 0], [1, 1, 4]))
    .map(([items, indent]) => ({
      head: '',
      below: items.flatMap(([each, end, after]) => [...item(each, end), ...after]),
      indent,
    })),
}));

/** Whole texts, mostly sound, in every layout. */
export const anyDocuments = fc
  .tuple(
    fillers,
    fc.oneof({ weight: 8, arbitrary: map }, { weight: 4, arbitrary: list }, { weight: 1, arbitrary: value }),
    oneOf<string>([4, '\n'], [1, '', '\n\n', ' ', '\n  ']),
  )
  .map(([before, { head, below }, end]) => [...before, ...(head === '' ? [] : [head]), ...below].join('\n') + end);
