import { type ScalarNode, type SyntaxNode, entryOf, textOf } from '../syntax/index.js';
import type { Report } from './report.js';
import { itemShapes } from './shapes.js';

/*
 * Literal values that are sound, and in all likelihood not what their author means: warnings.
 */

/** A path that begins with a variable, with the `=` that was meant to make a formula of it. */
function variablePaths(text: string, variables: readonly string[]): RegExpExecArray | null {
  return new RegExp(`(?<![\\w$\\\\])=?\\$(?:${variables.join('|')})(?:\\.[A-Za-z_]\\w*)+`).exec(text);
}

/** `Hello $input.name`: nothing is put in the place of a variable inside a text. */
export function warnOfVariable(node: ScalarNode, text: string, variables: readonly string[], report: Report): void {
  const found = variablePaths(text, variables);
  if (found === null) return;
  const range = { start: node.offsetOf(found.index), end: node.offsetOf(found.index + found[0].length) };
  const message = `nothing is put in the place of \`${found[0].replace(/^=/, '')}\`: this is a literal text`;
  report.warning('RS2044', range, message, `for its value write \`${formulaFor(text, variables)}\``);
}

/** `="Hello " & $input.name`; of what looks like a formula already, that. */
function formulaFor(text: string, variables: readonly string[]): string {
  const parts: string[] = [];
  let rest = text;
  for (let found = variablePaths(rest, variables); found !== null; found = variablePaths(rest, variables)) {
    if (found.index > 0) parts.push(rest.slice(0, found.index));
    parts.push(found[0]);
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest !== '') parts.push(rest);
  const isPath = (part: string): boolean => /^=?\$/.test(part);
  const isSum = parts.every((part) => isPath(part) || /^[\d\s+\-*/().<>=]+$/.test(part));
  if (isSum) return `=${text.replaceAll('=$', '$')}`;
  return `=${parts.map((part) => (isPath(part) ? part.replace(/^=/, '') : JSON.stringify(part))).join(' & ')}`;
}

/** `“hello”`: quotes of a text program are a part of the text. */
export function warnOfQuotes(node: ScalarNode, text: string, report: Report): void {
  const inside = /^[“”„‟‘‚‛«»](.*)[“”‟‘’‛«»]$/s.exec(text)?.[1];
  if (inside === undefined || node.style !== 'plain') return;
  const message = `${text.charAt(0)} and ${text.charAt(text.length - 1)} are no quotes in YAML: they are a part of this text`;
  report.warning('RS2045', node.range, message, `write \`${JSON.stringify(inside)}\``);
}

/** Steps that are given as data: to `onTimeout`, which is a value, or to a handler, since they are indented too deep. */
export function warnOfItems(node: SyntaxNode, report: Report): void {
  if (node.kind === 'sequence' && node.items.length > 0 && node.items.every(isStep)) {
    const help = 'what shall be done is written as items of its own, where a list of items stands';
    const [first] = node.items;
    report.warning(
      'RS2046',
      first?.kind === 'mapping' ? (first.entries[0]?.key.range ?? first.range) : node.range,
      message,
      help,
    );
  }
  if (node.kind !== 'mapping') return;
  for (const { key, value } of node.entries) {
    const isMisplaced =
      (key.value === 'onError' &&
        value.kind === 'sequence' &&
        value.items.some((each) => entryOf(each, 'do') !== undefined)) ||
      (key.value === 'compensate' && textOf(entryOf(value, 'step')?.value) !== undefined);
    if (!isMisplaced) continue;
    const help = `\`${key.value}\` of the step stands beside its \`with\`: indent it as deep as that`;
    report.warning('RS2046', key.range, message, help);
  }
}

const message = 'this is only a value here: nothing in it is run';

/** `{ step: mail.send, with: … }`, with nothing beside that an item could not have. */
function isStep(node: SyntaxNode): boolean {
  if (node.kind !== 'mapping') return false;
  if (!/^[A-Za-z_][\w-]*(\.[\w-]+)+$/.test(textOf(entryOf(node, 'step')?.value) ?? '')) return false;
  return node.entries.every(({ key }) => Object.hasOwn(itemShapes.step.keys, key.value));
}
