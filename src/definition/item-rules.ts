import type { JsonObject } from '../common/index.js';
import { type MappingEntry, type MappingNode, type SyntaxNode, entryOf, textOf, toValue } from '../syntax/index.js';
import { firstProblem } from './json-schema.js';
import { Report } from './report.js';
import { checkSchema, problemText } from './schema-fields.js';
import { itemShapes } from './shapes.js';
import type { Surroundings } from './surroundings.js';
import { holdsFormula } from './value-fields.js';
import { type Verb, isVerb } from './verbs.js';

/** Rules on where a verb may stand. */
export function checkPlace(verb: Verb, node: MappingNode, around: Surroundings, report: Report): void {
  const range = entryOf(node, verb)?.key.range ?? node.range;
  const { closing, concurrent } = around;
  if (verb === 'rethrow' && !around.inOnError) {
    const help = 'to fail with an error of your own write `fail`';
    report.error('RS2023', range, '`rethrow` has no error to let go on: it belongs in `onError`', help);
  }
  if (closing !== undefined && (verb === 'complete' || verb === 'pivot')) {
    report.error(
      'RS2022',
      range,
      `\`${verb}\` cannot stand in \`${closing}\`: the outcome stands already`,
      'leave it out: only `steps` say how the run ends',
    );
  } else if (concurrent !== undefined && verb === 'complete') {
    const message = `\`complete\` cannot stand inside \`${concurrent}\`: what else runs there would be cut off`;
    report.error('RS2021', range, message, `write it after the \`${concurrent}\`, with a \`when\``);
  }
}

/** Of a `waitFor`: what it gives when nobody answers must be what others may expect of an answer. */
export function checkOnTimeout(node: MappingNode, report: Report): void {
  const onTimeout = entryOf(node, 'onTimeout')?.value;
  const schema = entryOf(node, 'schema')?.value;
  if (onTimeout !== undefined && holdsItems(onTimeout)) {
    const [item] = onTimeout.kind === 'sequence' ? onTimeout.items : [onTimeout];
    const range = item?.kind === 'mapping' ? item.entries[0]?.key.range : undefined;
    const help =
      'leave `onTimeout` out, and write what shall be done under `onError: [{ errors: [WaitTimeout], do: [ … ] }]`';
    report.error('RS2046', range ?? onTimeout.range, '`onTimeout` is a value: nothing in it is run', help);
    return;
  }
  if (onTimeout === undefined || schema === undefined || holdsFormula(onTimeout)) return;
  const value = toValue(onTimeout);
  const invalid = new Report();
  checkSchema(schema, invalid);
  if (value === null || invalid.hasErrors) return;
  const problem = firstProblem(toValue(schema) as JsonObject | boolean, value);
  if (problem === undefined) return;
  const message = `\`onTimeout\` does not fit the \`schema\` of the signal: ${problemText(problem)}`;
  report.error('RS2032', onTimeout.range, message, 'write a value that fits, or null');
}

/** Whether a value is an item or a list of items, by verbs whose names are no words of data. */
function holdsItems(node: SyntaxNode): boolean {
  if (node.kind === 'sequence') return node.items.length > 0 && node.items.every(holdsItems);
  if (node.kind !== 'mapping') return false;
  const verbs = node.entries.filter(({ key }) => isVerb(key.value));
  const [only] = verbs;
  if (only === undefined || verbs.length > 1 || !isVerb(only.key.value)) return false;
  const name = textOf(only.value) ?? '';
  const isItem = ['fail', 'step', 'rethrow', 'complete', 'subWorkflow', 'group', 'branch', 'sleep'].includes(
    only.key.value,
  );
  const isHandler = only.key.value !== 'step' || name.includes('.');
  const { keys } = itemShapes[only.key.value];
  return isItem && isHandler && node.entries.every(({ key }) => Object.hasOwn(keys, key.value));
}

export function reportTwoVerbs(node: MappingNode, first: MappingEntry, second: MappingEntry, report: Report): void {
  const loops = ['forEach', 'doWhile', 'doUntil'];
  const lacksBody = entryOf(node, 'do') === undefined && loops.some((verb) => entryOf(node, verb) !== undefined);
  const help = lacksBody
    ? 'put what is done in each turn into `do`, as a list'
    : 'make two items of it, or put both into a `group`';
  const message = `an item has one verb, this one has \`${first.key.value}\` and \`${second.key.value}\``;
  report.error('RS2006', second.key.range, message, help);
}

/** Says of an item with no verb, nor a misspelt one, what it may have been meant to be. */
export function reportNoVerb({ entries, range }: MappingNode, report: Report): void {
  const [first, second] = entries;
  const named = second === undefined && first?.value.kind === 'mapping' && !isVerb(first.key.value) ? first : undefined;
  const has = (key: string): boolean => entries.some((entry) => entry.key.value === key);
  const help =
    named !== undefined
      ? `an item begins with its verb or \`id\`: write \`- id: ${named.key.value.replace(/\W+/g, '_')}\`, and the verb below it`
      : has('do') && has('when')
        ? 'for a condition on several items write `when` with `group`'
        : has('do')
          ? 'write `group` in place of `do`; a loop begins with `forEach`, `doWhile` or `doUntil`'
          : 'say what it does: `step`, `set`, `branch`, `forEach`, …';
  report.error('RS2005', first?.key.range ?? range, 'this item has no verb', help);
}
