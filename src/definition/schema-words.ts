import { nearest } from '../syntax/index.js';

const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** What a JSON Schema says, and the types of other languages that mean it. */
const meant: ReadonlyMap<string, string> = new Map(
  [
    ['type: integer', 'int int32 int64 long short whole bigint ganzzahl'],
    ['type: number', 'float double decimal real num money currency amount zahl'],
    ['type: string', 'str text varchar char password zeichenkette'],
    ['type: boolean', 'bool bit flag yesno'],
    ['type: array', 'list tuple set sequence liste'],
    ['type: object', 'map dict dictionary struct record json hash'],
    ['type: string, format: date', 'date datum'],
    ['type: string, format: date-time', 'datetime timestamp date-time dateTime'],
    ['type: string, format: time', 'time'],
    ['type: string, format: email', 'email mail'],
    ['type: string, format: uri', 'url uri link'],
    ['type: string, format: uuid', 'uuid guid'],
  ].flatMap(([schema = '', words = '']) =>
    words.split(' ').map((word): [string, string] => [word.toLowerCase(), schema]),
  ),
);

/** For a word that is no type: what of a JSON Schema is meant by it, such as `type: string, format: date` by `date`. */
export function typeMeant(word: string): string | undefined {
  if (types.includes(word)) return `type: ${word}`;
  if (word.endsWith('?')) {
    const inner = typeMeant(word.slice(0, -1));
    return inner && `${inner}, optional: true`;
  }
  const known = meant.get(word.toLowerCase());
  const guess = known === undefined ? nearest(word, types) : undefined;
  return known ?? (guess && `type: ${guess}`);
}

/** Keywords that other schema languages have, and JSON Schema's. */
export const keywordsMeant: Readonly<Record<string, string | undefined>> = Object.assign(
  Object.create(null) as object,
  {
    min: 'minimum',
    max: 'maximum',
    minValue: 'minimum',
    maxValue: 'maximum',
    regex: 'pattern',
    options: 'enum',
    choices: 'enum',
    values: 'enum',
    oneof: 'enum',
    defaultValue: 'default',
    fields: 'properties',
  },
);
