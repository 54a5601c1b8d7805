import {
  type MappingNode,
  type ScalarNode,
  type SyntaxNode,
  foreignMarker,
  foreignMarkerMessage,
  isText,
  ourPath,
  toValue,
  waysOutOf,
} from '../syntax/index.js';
import { warnOfItems, warnOfQuotes, warnOfVariable } from './likely-slips.js';
import { type Report, quoted } from './report.js';
import { secretName } from './secret-references.js';

/** Variables that the language binds somewhere; a literal that begins with one nearly always lacks its `=`. */
export const languageVariables: readonly string[] = [
  'input',
  'constants',
  'steps',
  'index',
  'iteration',
  'signal',
  'result',
  'error',
  'workflow',
  'run',
];

/**
 * What is another tool's only in all likelihood: paths such as `$.order.id` (Step Functions), `$(params.name)` (Tekton,
 * Azure). A handler may be given such a text, so they are warnings.
 */
const likelyMarker =
  /^\$\.[A-Za-z_][\w.[\]]*$|\$\((?:params|inputs?|steps|tasks|context|variables|vars|workflow|outputs)\.[\w.-]+\)/;

export interface ValueRules {
  /** Names of variables bound here beside `languageVariables`: those of the `forEach` around. */
  readonly loopVariables: readonly string[];
  /** Whether `{ $secret: NAME }` may stand here. */
  readonly secrets: boolean;
}

/**
 * Checks a value with formulas at any depth. Returns the maps that are references to secrets, so that the caller can
 * tell every other `$secret` in the file.
 */
export function checkValue(node: SyntaxNode, rules: ValueRules, report: Report): MappingNode[] {
  warnOfItems(node, report);
  switch (node.kind) {
    case 'scalar':
      if (typeof node.value === 'string') checkText(node, node.value, rules, report);
      return [];
    case 'sequence':
      return node.items.flatMap((item) => checkValue(item, rules, report));
    case 'mapping':
      if (rules.secrets && node.entries.some(({ key }) => key.value === '$secret')) {
        checkSecret(node, report);
        return [node];
      }
      return node.entries.flatMap(({ key, value }) => {
        if (!isPathKey(key.value, value)) return checkValue(value, rules, report);
        const name = key.value.slice(0, -2);
        const message = `\`${key.value}\` is the marker of another tool: the handler would be given a field of that name`;
        report.error('RS2026', key.range, message, `write \`${name}: =${ourPath(String(toValue(value)))}\``);
        return [];
      });
  }
}

/** `"order.$": "$.order"` of Step Functions. */
function isPathKey(key: string, value: SyntaxNode): boolean {
  return /.\.\$$/.test(key) && value.kind === 'scalar' && /^\$/.test(String(value.value));
}

function checkText(node: ScalarNode, text: string, rules: ValueRules, report: Report): void {
  if (text.startsWith('=')) return;
  const variable = /^\$([A-Za-z_]\w*)/.exec(text);
  // `item` too where `as` gives it another name: it is as sure a slip there.
  if (variable !== null && [...languageVariables, 'item', ...rules.loopVariables].includes(variable[1] ?? '')) {
    report.error(
      'RS2025',
      node.range,
      `${quoted(text)} is a literal text, though it begins like a variable`,
      `for its value write \`=${text}\`, for the text itself \`=${JSON.stringify(text)}\``,
    );
    return;
  }
  const certain = foreignMarker.exec(text);
  const found = certain ?? likelyMarker.exec(text);
  if (found === null) {
    warnOfQuotes(node, text, report);
    warnOfVariable(node, text, [...languageVariables, 'item', ...rules.loopVariables], report);
    return;
  }
  const range = { start: node.offsetOf(found.index), end: node.offsetOf(found.index + found[0].length) };
  const help = waysOutOf(text, found[0]);
  if (certain !== null) {
    report.error('RS2026', range, foreignMarkerMessage(found[0]), help);
  } else {
    report.warning('RS2043', range, `\`${found[0]}\` looks like the path of another tool; here it is only text`, help);
  }
}

function checkSecret(node: MappingNode, report: Report): void {
  const [entry, other] = node.entries;
  if (other !== undefined) {
    const extra = node.entries.find(({ key }) => key.value !== '$secret') ?? other;
    report.error('RS2027', extra.key.range, '`$secret` stands alone in its map', 'write `{ $secret: NAME }`');
    return;
  }
  const value = entry?.value;
  if (!isText(value) || !secretName.test(value.value)) {
    const message = 'the name of a secret has letters, digits and `_`, and is written out';
    report.error(
      'RS2027',
      (value?.kind === 'scalar' ? value : node).range,
      message,
      'write for example `{ $secret: MAIL_TOKEN }`',
    );
  }
}

/** Keys whose maps name fields of data in a JSON Schema. */
const fieldMaps = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependentRequired', '$defs']);

/** The keys of a schema (or with `inFields` of a map of fields) that say that data may have a field `$secret`. */
export function fieldsCalledSecret(node: SyntaxNode, inFields: boolean): ScalarNode[] {
  if (node.kind === 'scalar') return [];
  if (node.kind === 'sequence') return node.items.flatMap((item) => fieldsCalledSecret(item, false));
  return node.entries.flatMap(({ key, value }) => [
    ...(inFields && key.value === '$secret' ? [key] : []),
    ...fieldsCalledSecret(value, !inFields && fieldMaps.has(key.value)),
  ]);
}

/** Reports every `$secret` of the tree but those known to be fine: references, and fields in schemas. */
export function reportStraySecrets(root: SyntaxNode, known: ReadonlySet<SyntaxNode>, report: Report): void {
  if (root.kind === 'scalar' || known.has(root)) return;
  if (root.kind === 'sequence') {
    for (const item of root.items) reportStraySecrets(item, known, report);
    return;
  }
  for (const { key, value } of root.entries) {
    if (key.value === '$secret' && !known.has(key)) {
      const help = 'secrets are for handlers: move it into the `with` of a `step` or of its `compensate`';
      report.error('RS2027', key.range, 'no secret can stand here', help);
    }
    reportStraySecrets(value, known, report);
  }
}

/** Warns of formulas where nothing evaluates them: constants, the input of a schedule. */
export function warnOfFormulas(node: SyntaxNode, where: string, help: string, report: Report): void {
  if (node.kind === 'sequence') for (const item of node.items) warnOfFormulas(item, where, help, report);
  else if (node.kind === 'mapping') for (const { value } of node.entries) warnOfFormulas(value, where, help, report);
  else if (typeof node.value === 'string' && node.value.startsWith('=')) {
    report.warning('RS2041', node.range, `${where} is literal: ${quoted(node.value)} is not evaluated`, help);
  }
}

/** Whether a value holds a formula at any depth, so that what it will be cannot be known yet. */
export function holdsFormula(node: SyntaxNode): boolean {
  if (node.kind === 'sequence') return node.items.some(holdsFormula);
  if (node.kind === 'mapping') return node.entries.some(({ value }) => holdsFormula(value));
  return typeof node.value === 'string' && node.value.startsWith('=');
}
