import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { type JsonValue, isJsonObject } from '../../src/common/index.js';

/** One way of writing a document down as YAML. */
export interface Layout {
  readonly indent: number;
  readonly quotes: 'double' | 'single' | 'plain' | 'literal' | 'folded';
  readonly flow: boolean;
  readonly comments: boolean;
  readonly order: number;
}

export const layouts: fc.Arbitrary<Layout> = fc.record({
  indent: fc.integer({ min: 1, max: 8 }),
  quotes: fc.constantFrom('double', 'single', 'plain', 'literal', 'folded'),
  flow: fc.boolean(),
  comments: fc.boolean(),
  order: fc.nat(),
});

/** The value with the keys of every map in an order that the number decides. */
export function shuffled(value: JsonValue, order: number): JsonValue {
  if (Array.isArray(value)) return value.map((each) => shuffled(each, order));
  if (!isJsonObject(value)) return value;
  const ranked = Object.entries(value).map(([key, each]) => ({
    key,
    each,
    rank: createHash('md5').update(`${order}${key}`).digest('hex'),
  }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return Object.fromEntries(ranked.map(({ key, each }) => [key, shuffled(each, order)]));
}

export function write(value: JsonValue, layout: Layout): string {
  const ordered = shuffled(value, layout.order);
  return layout.flow ? `${flow(ordered, layout, '')}\n` : block(ordered, layout, '').replace(/^\n/, '');
}

function flow(value: JsonValue, layout: Layout, margin: string): string {
  const inner = margin + ' '.repeat(layout.indent);
  const remark = layout.comments ? ` # a remark: [ " {` : '';
  // Unquoted formulas are refused inside flow collections.
  const quotes = layout.quotes === 'single' ? 'single' : 'double';
  const lines = (parts: string[], open: string, close: string): string =>
    parts.length === 0
      ? open + close
      : `${open}${remark}\n${inner}${parts.join(`,${remark}\n${inner}`)}\n${margin}${close}`;
  if (Array.isArray(value))
    return lines(
      value.map((each) => flow(each, layout, inner)),
      '[',
      ']',
    );
  if (!isJsonObject(value)) return scalar(value, quotes, inner);
  const parts = Object.entries(value).map(([key, each]) => `${scalar(key, quotes, '')}: ${flow(each, layout, inner)}`);
  return lines(parts, '{', '}');
}

/** Begins with a line break if it is a collection that is not empty. */
function block(value: JsonValue, layout: Layout, margin: string): string {
  const remark = layout.comments ? `${margin}# a remark: [ " {\n` : '';
  const inner = margin + ' '.repeat(layout.indent);
  if (Array.isArray(value) && value.length > 0) {
    return `\n${value.map((each) => `${remark}${margin}- ${after(each, layout, inner)}`).join('\n')}`;
  }
  if (isJsonObject(value) && Object.keys(value).length > 0) {
    const entries = Object.entries(value);
    return `\n${entries.map(([key, each]) => `${remark}${margin}${plainOr(key)}: ${after(each, layout, inner)}`).join('\n')}`;
  }
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : scalar(value, layout.quotes, inner);
}

function after(value: JsonValue, layout: Layout, margin: string): string {
  return block(value, layout, margin);
}

function plainOr(text: string): string {
  return /^[A-Za-z$][\w$]*$/.test(text) ? text : JSON.stringify(text);
}

function scalar(value: string | number | boolean | null, quotes: Layout['quotes'], margin: string): string {
  if (typeof value !== 'string') return String(value);
  const oneLine = value !== '' && value.trim() === value && !/[\n\t]/.test(value);
  switch (quotes) {
    case 'double':
      return JSON.stringify(value);
    case 'single':
      return oneLine ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
    case 'plain':
      return oneLine &&
        /^[A-Za-z=$][\w=$.()<>+ -]*$/.test(value) &&
        !/ #|^(true|false|null|y|n|yes|no|on|off)$/i.test(value)
        ? value
        : JSON.stringify(value);
    case 'literal':
      return oneLine ? `|-\n${margin}${value}` : JSON.stringify(value);
    case 'folded':
      return oneLine ? `>-\n${margin}${value.replace(/(?<=\S) (?=\S)/g, `\n${margin}`)}` : JSON.stringify(value);
  }
}
