import type { OutputType } from '../check/index.js';
import { keyText } from './type-text.js';

/** What the checker knows of an output as a type of TypeScript; what it does not know is `JsonValue`. */
export function outputTypeText(type: OutputType): string {
  if (type.anything) return 'JsonValue';
  const parts = [
    ...(type.null ? ['null'] : []),
    ...(type.boolean ? ['boolean'] : []),
    ...values('number', type.number),
    ...values('string', type.string),
    ...(type.list === undefined ? [] : [`readonly (${outputTypeText(type.list.items)})[]`]),
    ...(type.map === undefined ? [] : [mapText(type.map)]),
  ];
  // A run without an output has null.
  return parts.length === 0 ? 'null' : parts.join(' | ');
}

function values(name: string, known: OutputType['number'] | OutputType['string']): string[] {
  if (known === undefined) return [];
  return known === 'any' ? [name] : [...known].map((value) => JSON.stringify(value));
}

function mapText({ fields, rest }: NonNullable<OutputType['map']>): string {
  const mayHaveMore = rest.anything || outputTypeText(rest) !== 'null';
  if (fields.size === 0) return mayHaveMore ? '{ readonly [name: string]: JsonValue }' : 'Record<string, never>';
  const lines = [...fields].map(
    ([name, type]) => `readonly ${keyText(name)}${type.absent ? '?' : ''}: ${outputTypeText(type)};`,
  );
  return `{\n${lines.join('\n').replace(/^/gm, '  ')}\n}`;
}
