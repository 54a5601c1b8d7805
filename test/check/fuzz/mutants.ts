import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { isFlowFile } from '../../../src/check/index.js';
import { type JsonValue, isJsonObject } from '../../../src/common/index.js';

const folder = fileURLToPath(new URL('../../../definitions', import.meta.url));

/** The real flows, by file name. */
export const realFlows: ReadonlyMap<string, string> = new Map(
  readdirSync(folder)
    .filter(isFlowFile)
    .map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')]),
);

/**
 * The first steps of a flow, without what comes after them: valid like the flow, since formulas look back only, and
 * quicker to check.
 */
function beginningOf(text: string, steps: number): string {
  const items = [...text.matchAll(/^ {2}- /gm)].filter(({ index }) => index > text.search(/^steps:/m));
  return text.slice(0, items[steps]?.index ?? text.length);
}

/** A real flow with a few changes. */
export interface Mutant {
  /** The file it was. */
  readonly file: string;
  readonly text: string;
}

/** One change: `by` chooses what is put in, `at` and `to` where, counted round. */
interface Edit {
  readonly at: number;
  readonly to: number;
  readonly by: string;
}

const words = [
  ...'steps step set group branch parallel forEach doWhile doUntil waitFor sleep subWorkflow pivot complete fail'.split(
    ' ',
  ),
  ...'rethrow id when with retry timeout compensate onError errors do else as concurrency maxIterations schema'.split(
    ' ',
  ),
  ...'filter onTimeout remind every join output input constants finally onFailure until attempts delay'.split(' '),
  ...'true false null never 5 -1 0 1e9 "x" 30s [] {} =1 =$input =$steps =$item {{x}} ${x} $5 ~ - : # , & * ! | > % @ ?'.split(
    ' ',
  ),
  ...'$secret __proto__ constructor é 漢字 👍 \u2028 \u0000 \t \ufeff \r *a &a <<'.split(' '),
];

const formulaWords = [
  ...'$input $steps $constants $item $error $result $signal $run $index $iteration and or in = != < > <= >= + - * / %'.split(
    ' ',
  ),
  ...'& ? : ?? ?: ~> . .. ( ) [ ] { } , ; := $sum $count $exists $not $string $now $map function($x){$x} "x" 1 true'.split(
    ' ',
  ),
  ..."null == && || ! x.y() ` ' @$i #$i ^(x) ** * $eval $$ $ length outputs".split(' '),
];

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)];

type Change = (text: string, edit: Edit) => string;

const onLines =
  (change: (lines: string[], edit: Edit) => void): Change =>
  (text, edit) => {
    const lines = text.split('\n');
    change(lines, { ...edit, at: edit.at % lines.length, to: edit.to % lines.length });
    return lines.join('\n');
  };

const onTokens =
  (change: (tokens: string[], edit: Edit) => void): Change =>
  (text, edit) => {
    const tokens = text.match(/\w+|[ \t]+|\n|[^\w\s]/gu) ?? [];
    change(tokens, { ...edit, at: edit.at % tokens.length, to: edit.to % tokens.length });
    return tokens.join('');
  };

const onFormulas =
  (change: (tokens: string[], edit: Edit) => void): Change =>
  (text, edit) => {
    const found = [...text.matchAll(/=[^\n,}]+/g)];
    const one = pick(found, edit.at);
    if (one === undefined) return text;
    const tokens = one[0].slice(1).match(/[$\w]+|\s+|[^\w\s]/gu) ?? [];
    change(tokens, {
      ...edit,
      at: edit.to % Math.max(1, tokens.length),
      to: (edit.to >> 4) % Math.max(1, tokens.length),
    });
    return `${text.slice(0, one.index + 1)}${tokens.join('')}${text.slice(one.index + one[0].length)}`;
  };

function swap(list: string[], { at, to }: Edit): void {
  [list[at], list[to]] = [list[to] ?? '', list[at] ?? ''];
}

type Holder = JsonValue[] | Record<string, JsonValue>;

/** Every place of a tree that holds a value. */
function placesOf(root: JsonValue): (readonly [holder: Holder, key: string])[] {
  const places: (readonly [Holder, string])[] = [];
  const visit = (value: JsonValue): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) places.push([value as Holder, key]);
    Object.values(value).forEach(visit);
  };
  visit(root);
  return places;
}

const valueAt = (holder: Holder, key: string): JsonValue => (holder as Record<string, JsonValue>)[key] ?? null;

const onTree =
  (change: (places: ReturnType<typeof placesOf>, edit: Edit) => void): Change =>
  (text, edit) => {
    let root: JsonValue;
    try {
      root = parse(text, { logLevel: 'silent' }) as JsonValue;
    } catch {
      return text;
    }
    const places = placesOf(root);
    if (places.length === 0) return text;
    change(places, edit);
    // A branch that was put into itself has no text.
    try {
      const json = JSON.stringify(root, null, 2);
      return edit.to % 8 === 0 ? json : stringify(JSON.parse(json));
    } catch {
      return text;
    }
  };

function parsed(word: string): JsonValue {
  try {
    return parse(word) as JsonValue;
  } catch {
    return word;
  }
}

const changes: readonly Change[] = [
  onLines((lines, { at }) => void lines.splice(at, 1)),
  onLines((lines, { at, to }) => void lines.splice(to, 0, lines[at] ?? '')),
  onLines(swap),
  onLines((lines, { at, to }) => void (lines[at] = `${' '.repeat(to % 7)}${(lines[at] ?? '').trimStart()}`)),
  onLines((lines, { at, by }) => void (lines[at] = `${/^\s*/.exec(lines[at] ?? '')?.[0] ?? ''}${by}: x`)),
  onLines((lines) => void lines.splice(0, lines.length, ...lines.map((line) => `${line}\r`))),
  onTokens((tokens, { at }) => void tokens.splice(at, 1)),
  onTokens((tokens, { at, to }) => void tokens.splice(to, 0, tokens[at] ?? '')),
  onTokens(swap),
  onTokens((tokens, { at, by }) => void tokens.splice(at, 0, by)),
  onTokens((tokens, { at, by }) => void (tokens[at] = by)),
  (text, { at }) => text.slice(0, at % text.length) + text.slice((at % text.length) + 1),
  (text, { at, by }) => text.slice(0, at % text.length) + by + text.slice(at % text.length),
  (text, { at }) => text.slice(0, at % text.length),
  onFormulas((tokens, { at }) => void tokens.splice(at, 1)),
  onFormulas(swap),
  onFormulas((tokens, { at, to }) => void tokens.splice(at, 0, pick(formulaWords, to * 31 + at) ?? '')),
  onFormulas((tokens, { at, to }) => void (tokens[at] = pick(formulaWords, to * 17 + at) ?? '')),
  onTree((places, { at }) => {
    const [holder, key] = pick(places, at) ?? [];
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else if (holder !== undefined && key !== undefined) delete holder[key];
  }),
  onTree((places, { at, by }) => {
    const [holder, key] =
      pick(
        places.filter(([each]) => isJsonObject(each)),
        at,
      ) ?? [];
    if (holder === undefined || key === undefined || Array.isArray(holder)) return;
    holder[by] = valueAt(holder, key);
    delete holder[key];
  }),
  onTree((places, { at, to }) => {
    const [[one, oneKey], [other, otherKey]] = [pick(places, at), pick(places, to)] as [
      (typeof places)[0],
      (typeof places)[0],
    ];
    const kept = valueAt(one, oneKey);
    (one as Record<string, JsonValue>)[oneKey] = valueAt(other, otherKey);
    (other as Record<string, JsonValue>)[otherKey] = kept;
  }),
  onTree((places, { at, to }) => {
    const [[one, oneKey], [other, otherKey]] = [pick(places, at), pick(places, to)] as [
      (typeof places)[0],
      (typeof places)[0],
    ];
    (one as Record<string, JsonValue>)[oneKey] = structuredClone(valueAt(other, otherKey));
  }),
  onTree((places, { at, by }) => {
    const [holder, key] = pick(places, at) as (typeof places)[0];
    (holder as Record<string, JsonValue>)[key] = parsed(by);
  }),
  onTree((places, { at, to }) => {
    const lists = places.filter(([holder]) => Array.isArray(holder));
    const [holder, key] = pick(lists, at) ?? [];
    if (!Array.isArray(holder)) return;
    const [moved] = holder.splice(Number(key), 1);
    const target = pick(lists, to)?.[0];
    if (Array.isArray(target) && moved !== undefined) target.splice(to % (target.length + 1), 0, moved);
  }),
];

const edit = fc.record({
  change: fc.nat(changes.length - 1),
  at: fc.nat(),
  to: fc.nat(),
  by: fc.constantFrom(...words),
});

export const mutants: fc.Arbitrary<Mutant> = fc
  .record({
    file: fc.constantFrom(...realFlows.keys()),
    // One in ten is of the whole flow.
    steps: fc.constantFrom(1, 1, 1, 1, 2, 2, 2, 3, 4, Infinity),
    edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
  })
  .map(({ file, steps, edits }) => {
    let text = beginningOf(realFlows.get(file) ?? '', steps);
    for (const each of edits) if (text !== '') text = changes[each.change]?.(text, each) ?? text;
    return { file, text };
  });
