import { type JsonObject, type JsonValue, isJsonObject, linearPattern } from '../common/index.js';
import {
  type MappingNode,
  type ScalarNode,
  type SyntaxNode,
  type TextNode,
  entryOf,
  isText,
  nearest,
  nodeAt,
  textOf,
  toValue,
} from '../syntax/index.js';
import { inputSchemaOf } from './input.js';
import { formatNames, newAjv, schemaErrors, typeWords, validatorOf } from './json-schema.js';
import { schemaKeywords, schemaListKeywords, schemaMapKeywords } from './json-schema-walk.js';
import { fitsPlainly } from './plainly-fits.js';
import { isPlainlySound } from './plainly-sound.js';
import { booleanHelp } from './scalar-fields.js';
import { keywordsMeant, typeMeant } from './schema-words.js';
import { type Report, describe, listed, quoted } from './report.js';

const dialect = 'https://json-schema.org/draft/2020-12/schema';

const plainKeywords = [
  '$anchor $comment $dynamicAnchor $dynamicRef $id $ref $schema $vocabulary',
  'const contentEncoding contentMediaType default dependentRequired deprecated description enum examples',
  'exclusiveMaximum exclusiveMinimum format maxContains maxItems maxLength maxProperties maximum',
  'minContains minItems minLength minProperties minimum multipleOf pattern readOnly required title type uniqueItems writeOnly',
].flatMap((line) => line.split(' '));

const keywords: ReadonlySet<string> = new Set([
  ...plainKeywords,
  ...schemaKeywords,
  ...schemaListKeywords,
  ...schemaMapKeywords,
]);

/** Checks one plain JSON Schema (`inputSchema`, the `schema` of a gate). */
export function checkSchema(node: SyntaxNode, report: Report): void {
  const locate: Locate = (path) => nodeAt(node, path);
  if (!isSound(node, false, report)) return;
  checkMeaning(node, toValue(node) as JsonObject | boolean, report, locate);
}

/** Checks the fields of `input`: each by itself, then together those that are sound so far. */
export function checkInputFields(node: MappingNode, report: Report): void {
  const sound = node.entries.filter(({ value }) => isSound(value, true, report));
  const input = toValue({ ...node, entries: sound }) as Record<string, JsonObject>;
  const locate: Locate = ([keyword, ...rest]) => (keyword === 'properties' ? nodeAt(node, rest) : node);
  const schema = inputSchemaOf({ workflow: 'input', steps: [], input });
  checkMeaning(node, schema, report, locate, { referencesKnown: sound.length === node.entries.length });
}

/** Whether a schema is valid by itself, as far as that can be said without what it refers to. */
function isSound(node: SyntaxNode, isField: boolean, report: Report): boolean {
  const walk = new SchemaWalk(report, isField);
  walk.schema(node, isField);
  const schema = toValue(node);
  // The walk has said so.
  if (!isJsonObject(schema) && typeof schema !== 'boolean') return false;
  if (isPlainlySound(schema)) return walk.refused.size === 0;
  const errors = schemaErrors(schema);
  const seen = new Set<string>();
  for (const { keyword, instancePath, params, message } of errors) {
    // What `anyOf` says only repeats what is said below it.
    if (seen.has(instancePath) || keyword === 'anyOf') continue;
    seen.add(instancePath);
    const path = pointerPath(instancePath);
    const place = nodeAt(node, path);
    if (place !== undefined && walk.refused.has(place)) continue;
    const expected = Array.isArray(params.allowedValues)
      ? `one of ${listed(params.allowedValues.map(String))}`
      : keyword === 'type'
        ? typeWords(params.type)
        : (message ?? '').replace(/^must be /, '');
    const what = `\`${String(path.at(-1) ?? 'schema')}\` of a JSON Schema must be ${expected}`;
    report.error('RS2030', (place ?? node).range, what, valueHelp(path.at(-1), place, isField, expected));
  }
  return errors.length === 0 && walk.refused.size === 0;
}

/** What can be seen at single keywords: unknown ones, unknown formats, patterns that cannot run in linear time. */
class SchemaWalk {
  /** What was found to be wrong. */
  readonly refused = new Set<SyntaxNode>();

  constructor(
    private readonly report: Report,
    /** Whether `optional` may stand on fields. */
    private readonly shorthand: boolean,
  ) {}

  schema(node: SyntaxNode, isField: boolean): void {
    if (node.kind === 'scalar' && typeof node.value === 'boolean') return;
    if (node.kind !== 'mapping') {
      if (node.kind === 'sequence') {
        const inner = textOf(node.items[0]);
        const item = (inner === undefined ? undefined : typeMeant(inner)) ?? 'type: string';
        this.fail(node, 'a JSON Schema must be a map, not a list', `write \`{ type: array, items: { ${item} } }\``);
        return;
      }
      const type = isText(node) ? (typeMeant(node.value) ?? `type: ${node.value}`) : 'type: string';
      const help = isText(node) ? `write \`{ ${type} }\`` : `write its type, such as \`{ ${type} }\``;
      this.fail(node, `a JSON Schema must be a map, not ${describe(node)}`, help);
      return;
    }
    const fields = node.entries.map(({ key, value }) => ({ name: key.value, type: typeOf(value) }));
    const [first] = fields;
    if (isField && first !== undefined && fields.every(({ name, type }) => isNoKeyword(name) && type !== undefined)) {
      const help = `write \`{ type: object, properties: { ${first.name}: { ${first.type ?? ''} }${fields.length > 1 ? ', …' : ''} } }\``;
      this.fail(node, 'the fields of a map stand in its `properties`', help);
      return;
    }
    for (const { key, value } of node.entries) this.keyword(key, value, isField);
  }

  private keyword(key: TextNode, value: SyntaxNode, isField: boolean): void {
    const word = key.value;
    if (word === 'optional' && this.shorthand) this.optional(key, value, isField);
    else if (schemaKeywords.has(word)) this.schema(value, false);
    else if (schemaListKeywords.has(word) && value.kind === 'sequence') {
      for (const each of value.items) this.schema(each, false);
    } else if (schemaMapKeywords.has(word) && value.kind === 'mapping') this.map(word, value);
    else if (word === 'format') this.format(value);
    else if (word === 'pattern') this.pattern(value);
    else if (word === '$schema' && value.kind === 'scalar' && value.value !== dialect) {
      this.fail(value, `the dialect must be "${dialect}"`, 'leave `$schema` out: it is the only one');
    } else if (!keywords.has(word) && !word.startsWith('x-')) {
      const guess = keywordsMeant[word] ?? nearest(word, keywords);
      const help =
        word === 'optional'
          ? 'in a plain JSON Schema leave the field out of `required`'
          : guess && `did you mean \`${guess}\`?`;
      this.fail(key, `JSON Schema has no keyword \`${word}\``, help ?? 'begin notes of your own with `x-`');
    }
  }

  private map(word: string, value: MappingNode): void {
    for (const entry of value.entries) {
      if (word === 'patternProperties') this.pattern(entry.key);
      this.schema(entry.value, word === 'properties');
    }
  }

  private optional(key: ScalarNode, value: SyntaxNode, isField: boolean): void {
    if (!isField) this.fail(key, '`optional` has a meaning only on a field', 'leave it out here');
    else if (value.kind !== 'scalar' || typeof value.value !== 'boolean') {
      this.fail(value, `\`optional\` must be true or false, not ${describe(value)}`, booleanHelp(value));
    }
  }

  private format(node: SyntaxNode): void {
    if (!isText(node) || formatNames.has(node.value)) return;
    const guess = nearest(node.value, formatNames);
    const some = 'some are `date`, `date-time`, `email`, `uri` and `uuid`';
    this.fail(
      node,
      `no format is called ${quoted(node.value)}`,
      guess === undefined ? some : `did you mean \`${guess}\`?`,
    );
  }

  private pattern(node: SyntaxNode): void {
    if (!isText(node)) return;
    try {
      linearPattern(node.value);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.fail(
        node,
        `the pattern cannot be used: ${reason}`,
        'look-around and back references are not available: they can take for ever',
      );
    }
  }

  private fail(node: SyntaxNode, message: string, help: string): void {
    this.refused.add(node);
    this.report.error('RS2030', node.range, message, help);
  }
}

/** Nor a misspelt one. */
function isNoKeyword(name: string): boolean {
  return !keywords.has(name) && keywordsMeant[name] === undefined && nearest(name, keywords) === undefined;
}

/** What a field says of its type, in a word or as a schema. */
function typeOf(node: SyntaxNode): string | undefined {
  const word = textOf(node.kind === 'mapping' ? entryOf(node, 'type')?.value : node);
  return word === undefined ? undefined : typeMeant(word);
}

type Locate = (path: (string | number)[]) => SyntaxNode | undefined;

/** What only the schema as a whole shows: references that lead nowhere, defaults that do not fit. */
function checkMeaning(
  root: SyntaxNode,
  schema: JsonObject | boolean,
  report: Report,
  locate: Locate,
  { referencesKnown } = { referencesKnown: true },
): void {
  if (!needsCompiling(schema)) return;
  const ajv = newAjv({ fillDefaults: true, schema });
  try {
    ajv.addSchema(schema === true || schema === false ? {} : schema, 'schema');
    ajv.getSchema('schema');
  } catch (error) {
    // A field that is left out here because it is wrong itself may be what a reference leads to.
    if (!referencesKnown) return;
    const reference =
      error instanceof Error && 'missingRef' in error
        ? String(error.missingRef).replace(/^schema(?=#)/, '')
        : undefined;
    const node = reference === undefined ? undefined : findReference(root, reference);
    const message = reference === undefined ? (error as Error).message : `\`$ref\` leads nowhere: ${quoted(reference)}`;
    const help =
      reference === undefined
        ? 'leave `$id` and `$anchor` out, or give each another name'
        : 'write the schema that is meant in its place, or under `$defs`';
    report.error('RS2030', (node ?? root).range, message, help);
    return;
  }
  checkDefaults(schema, report, locate, (pointer, value) => {
    const validate = ajv.getSchema(`schema#${pointer}`);
    return validate === undefined ? [] : validatorOf(validate)(value);
  });
}

/** Compiling takes milliseconds, and only references and defaults can still be wrong. */
function needsCompiling(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return false;
  const told = ['$ref', '$dynamicRef', '$id', '$anchor', '$dynamicAnchor'];
  if (told.some((key) => Object.hasOwn(schema, key))) return true;
  const { default: value } = schema;
  if (value !== undefined && !fitsPlainly(schema, value, { fillDefaults: true })) return true;
  return innerSchemas(schema).some(([, inner]) => needsCompiling(inner));
}

/** How to mend the value of a keyword. */
function valueHelp(
  keyword: string | number | undefined,
  node: SyntaxNode | undefined,
  isField: boolean,
  expected: string,
): string {
  if (keyword === 'type' && isText(node)) {
    const meant = typeMeant(node.value);
    return meant === undefined
      ? 'write `string`, `number`, `integer`, `boolean`, `array` or `object`'
      : `write \`${meant}\``;
  }
  const general = `write ${expected} behind \`${String(keyword ?? 'schema')}:\``;
  if (node?.kind !== 'scalar') return general;
  if (isText(node) && expected.includes('number') && Number.isFinite(Number(node.value)))
    return `leave the quotes out: \`${node.value}\``;
  if (keyword === 'required' && typeof node.value === 'boolean' && !isField) {
    return 'it lists the fields that must be there, and stands beside `properties`: `required: [name]`';
  }
  if (keyword === 'required' && typeof node.value === 'boolean' && isField) {
    return 'leave it out: a field is required unless it has `optional: true` or a `default`';
  }
  return keyword === 'enum' ? `write \`enum: [${String(node.value)}]\`` : general;
}

function checkDefaults(
  schema: JsonValue,
  report: Report,
  locate: Locate,
  validate: (pointer: string, value: JsonValue) => { path: string; message: string }[],
): void {
  const visit = (value: JsonValue, path: (string | number)[]): void => {
    if (!isJsonObject(value)) return;
    if (Object.hasOwn(value, 'default') && value.default !== undefined) {
      const pointer = path
        .map((segment) => `/${encodeURIComponent(String(segment).replaceAll('~', '~0').replaceAll('/', '~1'))}`)
        .join('');
      const [problem] = validate(pointer, structuredClone(value.default));
      const node = locate([...path, 'default']);
      if (problem !== undefined && node !== undefined) {
        const message = `the default does not fit its own schema: ${problemText(problem)}`;
        const isBoolean = value.type === 'boolean' && isText(node);
        const help = isBoolean ? booleanHelp(node) : 'change the default, or what the schema allows';
        report.error('RS2031', node.range, message, help);
      }
    }
    for (const [below, inner] of innerSchemas(value)) visit(inner, [...path, ...below]);
  };
  visit(schema, []);
}

function innerSchemas(schema: JsonObject): [(string | number)[], JsonValue][] {
  return Object.entries(schema).flatMap(([keyword, value]): [(string | number)[], JsonValue][] => {
    if (schemaKeywords.has(keyword)) return [[[keyword], value]];
    if (schemaListKeywords.has(keyword) && Array.isArray(value)) {
      return value.map((each, index) => [[keyword, index], each]);
    }
    if (schemaMapKeywords.has(keyword) && isJsonObject(value)) {
      return Object.entries(value).map(([name, each]) => [[keyword, name], each]);
    }
    return [];
  });
}

function findReference(node: SyntaxNode, reference: string): SyntaxNode | undefined {
  if (node.kind === 'scalar') return undefined;
  if (node.kind === 'mapping') {
    const own = entryOf(node, '$ref')?.value;
    if (own?.kind === 'scalar' && own.value === reference) return own;
  }
  const inner = node.kind === 'mapping' ? node.entries.map((entry) => entry.value) : node.items;
  for (const each of inner) {
    const found = findReference(each, reference);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function problemText({ path, message }: { path: string; message: string }): string {
  return path === '' ? `it ${message}` : `\`${path}\` ${message}`;
}

function pointerPath(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment));
}
