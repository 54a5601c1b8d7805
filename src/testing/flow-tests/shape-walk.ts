import {
  type Report,
  checkMap,
  checkPlainField,
  describe,
  exclude,
  listed,
  scalarFields,
} from '../../definition/index.js';
import { type MappingEntry, type MappingNode, type SyntaxNode, entryOf, isText } from '../../syntax/index.js';
import { type TestFieldKind, type TestShape, testShapes, testWords } from './shapes.js';
import * as testFields from './test-fields.js';
import { reportUnknownTestKeys } from './unknown-test-keys.js';

/** Checks the shape of a file of flow tests. What passes here fits `schemas/flow-test.schema.json`. */
export function checkFlowTestShape(root: SyntaxNode, report: Report): void {
  if (root.kind !== 'mapping') {
    const help = 'begin with `workflow: <path of the flow>` and `tests:`';
    report.error('RS6001', root.range, `a file of flow tests must be a map, not ${describe(root)}`, help);
    return;
  }
  checkShape(root, testShapes.file, report);
}

function checkShape(node: MappingNode, shape: TestShape, report: Report): void {
  const meant = reportUnknownTestKeys(node, shape, report);
  for (const key of shape.required) {
    if (meant.has(key) || entryOf(node, key) !== undefined) continue;
    report.error('RS6002', firstRange(node), `${shape.what} needs \`${key}\``, `write \`${key}: …\``);
  }
  for (const entry of node.entries) {
    const kind = Object.hasOwn(shape.keys, entry.key.value) ? shape.keys[entry.key.value] : undefined;
    if (kind !== undefined) checkField(kind, entry, report);
  }
}

function checkField(kind: TestFieldKind, entry: MappingEntry, report: Report): void {
  switch (kind) {
    case 'text':
    case 'boolean':
    case 'condition':
      return checkPlainField(kind, entry, report);
    case 'title':
      return testFields.title(entry, report);
    case 'name':
      return scalarFields.name(entry, 'a name', report);
    case 'attempt':
      return checkPlainField('count', entry, report);
    case 'duration':
      return checkPlainField('delay', entry, report);
    case 'time':
      return testFields.time(entry, report);
    case 'value':
      return;
    case 'literal':
      return testFields.literal(entry, report);
    case 'defaults':
      return shaped(entry, testShapes.testDefaults, report);
    case 'tests':
      return maps(entry, 'a test', report, (node) => checkShape(node, testShapes.test, report));
    case 'handlers':
      return handlers(entry, report);
    case 'children':
      return scripts(entry, 'a map of child workflow → answer', report);
    case 'throws':
      return shaped(entry, testShapes.throws, report, 'name');
    case 'signals':
      return maps(entry, 'a signal', report, (node) => {
        checkShape(node, testShapes.signal, report);
        oneOf(node, ['at', 'after'], testShapes.signal, report);
      });
    case 'crash':
      return crash(entry, report);
    case 'cancel':
      return shaped(entry, testShapes.cancel, report, 'at', (node) =>
        oneOf(node, ['at', 'after'], testShapes.cancel, report),
      );
    case 'resume':
      return shaped(entry, testShapes.resume, report, 'at');
    case 'compensation':
      return maps(entry, 'a decision', report, (node) => checkShape(node, testShapes.decision, report));
    case 'secrets':
      return namedMap(entry, 'a map of texts', 'MAIL_TOKEN: abc', testFields.secrets, report);
    case 'expect':
      return shaped(entry, testShapes.expect, report, undefined, (node) => expectation(node, report));
    case 'elapsed':
      if (entry.value.kind !== 'mapping') return checkPlainField('delay', entry, report);
      return shaped(entry, testShapes.expectedElapsed, report, undefined, (node) => elapsed(node, report));
    case 'expected children':
      return namedMap(
        entry,
        'a map of child → what is expected of it',
        'book: { status: failed }',
        expectedChildren,
        report,
      );
    case 'receiver':
      return testFields.child(entry.value, entry.key.value, report);
    case 'without':
      return testFields.without(entry, report);
    case 'expected error':
      return shaped(entry, testShapes.expectedError, report, 'name');
    case 'turn':
      return testFields.place(entry.value, { compensations: false, key: entry.key.value }, report);
    case 'place':
      return testFields.place(entry.value, { compensations: true, key: entry.key.value }, report);
    case 'turns':
      return testFields.turns(entry, report);
    case 'calls':
      return namedMap(entry, 'a map of handler → number of calls', 'mail.send: 2', testFields.calls, report);
    case 'inputs':
      return namedMap(
        entry,
        'a map of item → fields of its `with`',
        'charge: { amount: 10 }',
        testFields.inputs,
        report,
      );
    case 'status':
    case 'rollback':
    case 'start refusal':
    case 'signal refusal':
    case 'cancel refusal':
    case 'resume refusal':
    case 'verdict':
    case 'decision refusal':
      return scalarFields.oneOf(entry, testWords[kind], report);
  }
}

function firstRange(node: MappingNode): SyntaxNode['range'] {
  return node.entries[0]?.key.range ?? node.range;
}

/** A map of one shape; `short` is the key that was meant where only a text stands. */
function shaped(
  entry: MappingEntry,
  shape: TestShape,
  report: Report,
  short?: string,
  also?: (node: MappingNode) => void,
): void {
  const { key, value } = entry;
  if (value.kind === 'mapping') {
    checkShape(value, shape, report);
    also?.(value);
    return;
  }
  const help =
    isText(value) && short !== undefined
      ? `write \`${key.value}: { ${short}: ${value.value} }\``
      : `write \`${key.value}: { ${short ?? Object.keys(shape.keys)[0] ?? ''}: … }\``;
  scalarFields.wrongKind(entry, `a map with ${listed(Object.keys(shape.keys), 'and')}`, report, help);
}

/** The maps of a list that must have at least one. */
function maps(entry: MappingEntry, each: string, report: Report, check: (node: MappingNode) => void): void {
  const { key, value } = entry;
  if (value.kind !== 'sequence') {
    const help =
      value.kind === 'mapping' ? 'begin each entry with `- `' : 'write each entry on a line that begins with `- `';
    return scalarFields.wrongKind(entry, 'a list', report, help);
  }
  if (value.items.length === 0 && key.value !== 'signals') {
    report.error('RS6011', value.range, `\`${key.value}\` has no entry`, 'write one, or leave the key out');
  }
  for (const node of value.items) {
    if (node.kind === 'mapping') check(node);
    else report.error('RS6001', node.range, `${each} must be a map, not ${describe(node)}`, entryHelp(each));
  }
}

/** Says that one of two keys must be there, and not both. */
function oneOf(
  node: MappingNode,
  keys: readonly [string, string, ...string[]],
  shape: TestShape,
  report: Report,
): void {
  const help = 'make two entries of it, or leave one out';
  const pairs = keys.flatMap((one, at) => keys.slice(at + 1).map((other) => [one, other] as const));
  if (pairs.some((pair) => exclude(node, pair, help, report))) return;
  const misspelt = node.entries.some(({ key }) => !Object.hasOwn(shape.keys, key.value));
  if (misspelt || keys.some((key) => entryOf(node, key) !== undefined)) return;
  report.error(
    'RS6002',
    firstRange(node),
    `${shape.what} needs ${listed(keys)}`,
    `write ${listed(keys.map((key) => `${key}: …`))}`,
  );
}

function handlers(entry: MappingEntry, report: Report): void {
  const { value } = entry;
  if (value.kind === 'scalar' && value.value === 'real') return;
  scripts(entry, 'a map of handler → answer, or `real`', report);
}

function scripts(entry: MappingEntry, expected: string, report: Report): void {
  const isChild = entry.key.value === 'children';
  const example = `${isChild ? 'book-shipment' : 'mail.send'}: { returns: … }`;
  const check = (node: MappingNode): void => {
    for (const script of node.entries) {
      scalarFields.keyName(script, isChild ? 'workflow' : 'handler', 'name', report);
      checkScript(script, report);
    }
  };
  namedMap(entry, expected, example, check, report);
}

/** A map whose keys are names; `example` is an entry of it. */
function namedMap(
  entry: MappingEntry,
  expected: string,
  example: string,
  check: (node: MappingNode, report: Report) => void,
  report: Report,
): void {
  const help = `write each with its name: \`${example}\``;
  checkMap(entry, expected, report, (node) => check(node, report), help);
}

function entryHelp(each: string): string {
  switch (each) {
    case 'a test':
      return 'write `- name: …` and below it `input:`, `handlers:`, `expect:`';
    case 'a signal':
      return 'write `{ at: 1h, name: …, payload: … }`';
    case 'a decision':
      return 'write `{ at: 1h, decide: resume }` or `{ at: 1h, decide: abandon }`';
    case 'a crash':
      return 'write `{ after: … }` or `{ during: … }` with the `id` of an item';
    default:
      return 'write `{ returns: … }` or `{ throws: { name: … } }`';
  }
}

function checkScript(entry: MappingEntry, report: Report): void {
  const { key, value } = entry;
  if (value.kind === 'mapping') return reply(value, report);
  if (value.kind === 'sequence') return maps(entry, 'an answer', report, (node) => reply(node, report));
  if (value.value === 'real') return;
  const help =
    value.value === null
      ? `for one that returns nothing write \`${key.value}: {}\``
      : `write \`${key.value}: { returns: ${JSON.stringify(value.value)} }\``;
  scalarFields.wrongKind(entry, 'an answer, a list of answers, or `real`', report, help);
}

function reply(node: MappingNode, report: Report): void {
  checkShape(node, testShapes.reply, report);
  exclude(node, ['throws', 'returns'], 'a call does the one or the other: make two entries of a list', report);
}

function crash(entry: MappingEntry, report: Report): void {
  const { value } = entry;
  if (value.kind !== 'sequence') {
    if (value.kind === 'scalar' && value.value === 'every') return;
    const help =
      value.kind === 'mapping'
        ? 'begin each entry with `- `'
        : value.kind === 'scalar' && (value.value === null || value.value === 'none')
          ? 'a default is lifted by `without: [crash]`'
          : 'write `crash: every`, or `crash: [{ after: charge }]`';
    return scalarFields.wrongKind(
      entry,
      '`every`, or a list of `{ after: … }`, `{ during: … }` and `{ at: … }`',
      report,
      help,
    );
  }
  maps(entry, 'a crash', report, (node) => {
    checkShape(node, testShapes.crashPoint, report);
    oneOf(node, ['after', 'during', 'at'], testShapes.crashPoint, report);
  });
}

function elapsed(node: MappingNode, report: Report): void {
  const help = '`exactly` says all, `atLeast` and `atMost` are bounds';
  if (node.entries.length === 0)
    report.error('RS6011', node.range, '`elapsed` has no entry', 'write `{ exactly: 2h }`');
  if (!exclude(node, ['exactly', 'atLeast'], help, report)) exclude(node, ['exactly', 'atMost'], help, report);
}

/** Of a child everything can be expected that can be of the run under test, but that its start is refused. */
function expectedChildren(node: MappingNode, report: Report): void {
  for (const entry of node.entries) {
    testFields.childName(entry.key.value, entry.key.range, 'children', report);
    shaped(entry, testShapes.expect, report, undefined, (each) => {
      expectation(each, report);
      const refused = entryOf(each, 'refused');
      if (refused === undefined) return;
      const help = 'a child whose start is refused fails its step: expect that `error` of the run';
      report.error('RS6004', refused.key.range, '`refused` is not part of what is expected of a child', help);
    });
  }
}

function expectation(node: MappingNode, report: Report): void {
  exclude(node, ['output', 'outputMatches'], 'compare with the one or the other', report);
  exclude(node, ['ran', 'exactly'], '`exactly` is the whole order, `ran` a part of it', report);
  const refused = entryOf(node, 'refused');
  const other = node.entries.find(
    ({ key }) => key.value !== 'refused' && Object.hasOwn(testShapes.expect.keys, key.value),
  );
  if (refused === undefined || other === undefined) return;
  const help = 'a start that is refused makes no run: leave out the other';
  report.error('RS6005', other.key.range, `\`refused\` and \`${other.key.value}\` exclude each other`, help);
}
