import { readTimestamp } from '../../common/index.js';
import { type Report, describe, quoted, scalarFields, valueRange, warnOfFormulas } from '../../definition/index.js';
import { type MappingEntry, type MappingNode, type SyntaxNode, isText } from '../../syntax/index.js';
import { parseChild, parsePlace } from './places.js';

// The checks of single fields that flows do not have.

export function title(entry: MappingEntry, report: Report): void {
  const text = scalarFields.textOf(entry, 'a text', report);
  if (text?.trim() === '')
    report.error('RS6011', entry.value.range, `\`${entry.key.value}\` is empty`, 'write a text behind it');
}

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

export function time(entry: MappingEntry, report: Report): void {
  const text = scalarFields.textOf(entry, 'a point in time', report);
  if (text === undefined || (timestamp.test(text) && readTimestamp(text) !== undefined)) return;
  const help = 'write for example `2030-01-31T09:00:00Z`, with `Z` or an offset such as `+02:00`';
  report.error('RS6013', entry.value.range, `${quoted(text)} is no point in time`, help);
}

export function literal({ key, value }: MappingEntry, report: Report): void {
  warnOfFormulas(value, `\`${key.value}\` of a test`, 'write the value itself', report);
}

export function secrets({ entries }: MappingNode, report: Report): void {
  for (const entry of entries) {
    scalarFields.keyName(entry, 'secret', 'identifier', report);
    scalarFields.text(entry, report);
  }
}

export function turns(entry: MappingEntry, report: Report): void {
  const { key, value } = entry;
  if (value.kind !== 'sequence') {
    const help = `write \`${key.value}: [${isText(value) ? value.value : 'charge'}]\``;
    return scalarFields.wrongKind(entry, 'a list of ids of items', report, help);
  }
  for (const item of value.items) place(item, { compensations: false, key: key.value }, report);
}

interface PlaceRules {
  /** Whether `charge:compensate` may stand here. */
  readonly compensations: boolean;
  readonly key: string;
}

export function place(node: SyntaxNode, rules: PlaceRules, report: Report): void {
  if (!isText(node)) {
    report.error(
      'RS6001',
      node.range,
      `\`${rules.key}\` must name an item, not ${describe(node)}`,
      'write the `id` of the item, such as `charge`',
    );
    return;
  }
  placeText(node.value, node.range, rules, report);
}

function placeText(text: string, range: SyntaxNode['range'], { compensations, key }: PlaceRules, report: Report): void {
  const parsed = parsePlace(text);
  if (parsed === undefined) {
    report.error('RS6012', range, `${quoted(text)} is no place in a run`, placeHelp(text, compensations));
  } else if (parsed.compensation && !compensations) {
    const help =
      key === 'compensated'
        ? `write \`${text.slice(0, -':compensate'.length)}\``
        : 'what was undone stands in `compensated`';
    report.error('RS6012', range, `\`${key}\` names items, not their compensations`, help);
  }
}

function placeHelp(text: string, compensations: boolean): string {
  const turn = /^([A-Za-z_]\w*)(?:\[(\d+)\]|[@.](\d+))$/.exec(text);
  if (turn !== null) return `a turn is \`${turn[1]}#${turn[2] ?? turn[3]}\``;
  if (/[.@-]/.test(text)) return 'items are named by their id: give the item one';
  return `write an id such as \`charge\`, or a turn \`pick#2\`${compensations ? ', or a compensation `charge:compensate`' : ''}`;
}

export function calls({ entries }: MappingNode, report: Report): void {
  for (const entry of entries) {
    const { key, value } = entry;
    scalarFields.keyName(entry, 'handler', 'name', report);
    const isCount = value.kind === 'scalar' && Number.isSafeInteger(value.value) && Number(value.value) >= 0;
    if (isCount) continue;
    const message = `\`${key.value}\` must be a whole number of calls, not ${describe(value)}`;
    report.error('RS6007', valueRange(entry), message, 'write 0, 1, 2 …, without quotes');
  }
}

export function inputs({ entries }: MappingNode, report: Report): void {
  for (const { key } of entries) placeText(key.value, key.range, { compensations: true, key: 'inputs' }, report);
}

export function child(node: SyntaxNode, key: string, report: Report): void {
  if (isText(node)) return childName(node.value, node.range, key, report);
  const help = 'write the `id` of the step that starts it, such as `book`';
  report.error('RS6001', node.range, `\`${key}\` must name a child, not ${describe(node)}`, help);
}

export function childName(text: string, range: SyntaxNode['range'], key: string, report: Report): void {
  if (parseChild(text) !== undefined) return;
  const help = 'write the `id` of its step such as `book`, an iteration `book#2`, or its workflow';
  report.error('RS6012', range, `${quoted(text)} does not name a child, as \`${key}\` must`, help);
}

const liftable = /^(now|signals|crash|cancel|resume|compensation|(input|handlers|children|secrets)(\..+)?)$/;

export function without(entry: MappingEntry, report: Report): void {
  const { value } = entry;
  const help = 'write keys of `defaults`, such as `crash` or `input.total`';
  if (value.kind !== 'sequence')
    return scalarFields.wrongKind(entry, 'a list of defaults', report, `write \`without: [crash]\``);
  if (value.items.length === 0) report.error('RS6011', value.range, '`without` has no entry', 'leave it out');
  for (const item of value.items) {
    if (isText(item) && liftable.test(item.value)) continue;
    const what = isText(item) ? quoted(item.value) : describe(item);
    report.error('RS6012', item.range, `${what} is not a default that a test can lift`, help);
  }
}
