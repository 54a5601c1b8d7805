import { durationMeant } from '../common/index.js';
import {
  type MappingEntry,
  type MappingNode,
  type ScalarNode,
  type SyntaxNode,
  entryOf,
  isText,
  textOf,
  toValue,
} from '../syntax/index.js';
import { checkOnTimeout, checkPlace, reportNoVerb, reportTwoVerbs } from './item-rules.js';
import { withKey } from './mended.js';
import { checkJoin, checkPlainField, exclude, isPlain, map } from './plain-fields.js';
import { type Report, describe, quoted, valueRange } from './report.js';
import * as scalar from './scalar-fields.js';
import { type NestedKind, type Shape, innerShapes, itemShapes, workflowShape } from './shapes.js';
import { type Surroundings, closingOf, insideOf } from './surroundings.js';
import { isElse, misspeltVerb, reportUnknownKeys } from './unknown-keys.js';
import { checkValue, fieldsCalledSecret, reportStraySecrets } from './value-fields.js';
import { type Verb, isVerb } from './verbs.js';

/** Lists nested deeper than this are hard to follow. */
const comfortableDepth = 5;

const scheduleList = 'a list of entries `{ cron, timezone }` or `{ every }`';

/** Misspelt keys, with the right ones where these can be told. */
export type Renamed = ReadonlyMap<ScalarNode, string>;

/**
 * Checks the shape of a document: picks the verb of each item first, then checks that verb's shape alone, so that one
 * mistake is one diagnostic. What passes here fits `schemas/workflow.schema.json`. What stands under a misspelt key is
 * checked as if it were spelt right; the keys are returned so that other checks can do the same.
 */
export function checkShape(root: SyntaxNode, report: Report): Renamed {
  const walk = new ShapeWalk(report);
  walk.document(root);
  return walk.renamed;
}

class ShapeWalk {
  readonly #report: Report;
  /** Where a `$secret` may stand: references, and names of fields in schemas. */
  readonly #secrets = new Set<SyntaxNode>();
  readonly renamed = new Map<ScalarNode, string>();

  constructor(report: Report) {
    this.#report = report;
  }

  document(root: SyntaxNode): void {
    if (root.kind !== 'mapping') {
      const help = 'begin with `workflow: <name>` and `steps:`';
      this.#report.error('RS2001', root.range, `a workflow file must be a map, not ${describe(root)}`, help);
      return;
    }
    this.#shape(root, workflowShape, { depth: 0, inOnError: false, loopVariables: [] });
    const help = 'write the fields in `input`, or the whole schema in `inputSchema`';
    exclude(root, ['input', 'inputSchema'], help, this.#report);
    reportStraySecrets(root, this.#secrets, this.#report);
  }

  /** `bodies` is what is around the lists of the map, where that differs from what is around its other fields. */
  #shape(node: MappingNode, shape: Shape, around: Surroundings, bodies = around): void {
    const meant = reportUnknownKeys(node, shape, this.#report);
    const isForeign = node.entries.length > 0 && node.entries.every(({ key }) => !Object.hasOwn(shape.keys, key.value));
    // A map of which nothing is known is another thing, which has been told.
    for (const key of isForeign && !isItem(shape) ? [] : shape.required) {
      if (meant.some((each) => each.key === key) || entryOf(node, key) !== undefined) continue;
      const range = node.entries[0]?.key.range ?? node.range;
      this.#report.error('RS2002', range, `${shape.what} needs \`${key}\``, missingHelp(shape, key));
    }
    const mended = meant.filter(({ fits }) => fits).map(({ entry, key }) => this.#rename(entry, key));
    for (const entry of [...node.entries, ...mended]) {
      const kind = Object.hasOwn(shape.keys, entry.key.value) ? shape.keys[entry.key.value] : undefined;
      if (kind === undefined) continue;
      if (kind === 'schema' || kind === 'input fields') {
        for (const key of fieldsCalledSecret(entry.value, kind === 'input fields')) this.#secrets.add(key);
      }
      if (isPlain(kind)) checkPlainField(kind, entry, this.#report);
      else this.#nested(kind, entry, kind === 'items' || kind === 'branches' ? bodies : around);
    }
  }

  #rename(entry: MappingEntry, key: string): MappingEntry {
    this.renamed.set(entry.key, key);
    return withKey(entry, key);
  }

  #nested(kind: NestedKind, entry: MappingEntry, around: Surroundings): void {
    switch (kind) {
      case 'message':
        if (scalar.textOf(entry, 'a text', this.#report) !== undefined) this.#value(entry, around);
        return;
      case 'value':
        return this.#value(entry, around);
      case 'list':
        return this.#list(entry, around);
      case 'step arguments':
        return this.#arguments(entry, around, true);
      case 'child arguments':
        return this.#arguments(entry, around, false);
      case 'time or duration':
        return this.#time(entry, {}, around);
      case 'time, duration or never':
        return this.#time(entry, { never: true }, around);
      case 'retry':
        return this.#retry(entry, around);
      case 'retry policies':
        return this.#retryPolicies(entry, around);
      case 'defaults':
        return this.#map(entry, innerShapes.defaults, around);
      case 'schedule':
        return this.#schedule(entry, around);
      case 'compensation':
        return this.#compensation(entry, around);
      case 'reminder':
        return this.#map(entry, innerShapes.reminder, around);
      case 'arms':
        return this.#arms(entry, around);
      case 'branches':
        return this.#branches(entry, around);
      case 'items':
        return this.#items(entry, closingOf(entry, around));
      case 'onError':
        return this.#onError(entry, around);
    }
  }

  #items(entry: MappingEntry, around: Surroundings): void {
    if (entry.value.kind !== 'sequence') {
      scalar.wrongKind(entry, 'a list of items', this.#report, listHelp(entry.value));
      return;
    }
    const inside = { ...around, depth: around.depth + 1 };
    if (inside.depth === comfortableDepth + 1) {
      const help = 'move a part into a workflow of its own and call it with `subWorkflow`';
      this.#report.warning('RS2040', entry.key.range, `more than ${comfortableDepth} lists in one another`, help);
    }
    for (const item of entry.value.items) this.#item(item, inside);
  }

  #item(node: SyntaxNode, around: Surroundings): void {
    if (node.kind !== 'mapping') {
      const name = textOf(node);
      const help =
        name === undefined
          ? 'write for example `step: mail.send`'
          : `write \`${isVerb(name) ? `${name}: …` : `step: ${name}`}\``;
      this.#report.error('RS2001', node.range, `an item must be a map with a verb, not ${describe(node)}`, help);
      return;
    }
    const [first, second] = node.entries.filter(({ key }) => isVerb(key.value));
    if (first !== undefined && second !== undefined) reportTwoVerbs(node, first, second, this.#report);
    else if (first !== undefined && isVerb(first.key.value)) this.#verb(first.key.value, node, around);
    else this.#noVerb(node, around);
  }

  #noVerb(node: MappingNode, around: Surroundings): void {
    const misspelt = misspeltVerb(node);
    if (misspelt === undefined) return reportNoVerb(node, this.#report);
    const { entry, verb, help } = misspelt;
    this.#report.error('RS2007', entry.key.range, `\`${entry.key.value}\` is no verb`, help);
    if (verb === undefined) return;
    // Checked as the item that was meant, so that the other mistakes in it are told too.
    const mended = node.entries.map((each) => (each === entry ? this.#rename(each, verb) : each));
    this.#verb(verb, { ...node, entries: mended }, around);
  }

  #verb(verb: Verb, node: MappingNode, around: Surroundings): void {
    checkPlace(verb, node, around, this.#report);
    this.#shape(node, itemShapes[verb], around, insideOf(verb, node, around));
    if (verb === 'parallel') checkJoin(node, this.#report);
    if (verb === 'waitFor') checkOnTimeout(node, this.#report);
  }

  #map(entry: MappingEntry, shape: Shape, around: Surroundings): void {
    const name = textOf(entry.value);
    const help =
      shape === innerShapes.defaults
        ? 'write for example `defaults: { timeout: 1m, retry: { attempts: 5 } }`'
        : name !== undefined && Object.hasOwn(shape.keys, 'step')
          ? `write \`${entry.key.value}: { ${Object.hasOwn(shape.keys, 'every') ? 'every: …, ' : ''}step: ${name} }\``
          : `write \`${entry.key.value}: { ${shape.required.map((key) => `${key}: …`).join(', ')} }\``;
    map(entry, 'a map', this.#report, (node) => this.#shape(node, shape, around), help);
  }

  #value(entry: MappingEntry, around: Surroundings, secrets = false): void {
    const { loopVariables } = around;
    for (const node of checkValue(entry.value, { loopVariables, secrets }, this.#report)) this.#secrets.add(node);
  }

  #arguments(entry: MappingEntry, around: Surroundings, secrets: boolean): void {
    const { value } = entry;
    const isFormula = isText(value) && value.value.startsWith('=');
    if (value.kind === 'mapping' || isFormula) this.#value(entry, around, secrets);
    else if (isText(value) && /^\$(input|steps|constants|item|error|result)\b[\w.]*$/.test(value.value)) {
      const message = `${quoted(value.value)} is a literal text, though it begins like a variable`;
      this.#report.error('RS2025', value.range, message, `for its value write \`${entry.key.value}: =${value.value}\``);
    } else {
      const help = 'give each value the name under which the handler or child reads it';
      scalar.wrongKind(entry, 'a map of fields, or a formula that gives one', this.#report, help);
    }
  }

  #list(entry: MappingEntry, around: Surroundings): void {
    const { value } = entry;
    if (value.kind === 'sequence') this.#value(entry, around);
    else if (isText(value)) scalar.formula(entry, this.#report);
    else {
      const times = value.kind === 'scalar' && typeof value.value === 'number' ? value.value : undefined;
      const help =
        times === undefined
          ? 'write a formula such as `=$input.items`, or a list `[a, b]`'
          : `for so many turns write \`${entry.key.value}: =[1..${times}]\``;
      scalar.wrongKind(entry, 'a formula that gives a list, or a list', this.#report, help);
    }
  }

  #time(entry: MappingEntry, rules: scalar.DurationRules, around: Surroundings): void {
    if (entry.value.kind !== 'mapping') return scalar.duration(entry, rules, this.#report);
    const units = entry.value.entries.every(({ key }) =>
      /^(week|day|hour|minute|second|millisecond)s?$/i.test(key.value),
    );
    const [only, second] = entry.value.entries;
    const length =
      second === undefined && /^(duration|for|in|after|wait)$/i.test(only?.key.value ?? '')
        ? textOf(only?.value)
        : undefined;
    if (length !== undefined && durationMeant(length) !== undefined) {
      const remedy = `write \`${entry.key.value}: ${durationMeant(length) ?? length}\``;
      this.#report.error('RS2001', entry.key.range, `\`${entry.key.value}\` must be a duration, not a map`, remedy);
      return;
    }
    if (!units || entry.value.entries.length === 0) return this.#shape(entry.value, innerShapes.until, around);
    const text = entry.value.entries.map(({ key, value }) => `${String(toValue(value))} ${key.value}`).join(' ');
    const help = `write \`${entry.key.value}: ${durationMeant(text) ?? '2h30m'}\``;
    this.#report.error('RS2001', entry.key.range, `\`${entry.key.value}\` must be a duration, not a map`, help);
  }

  #retry(entry: MappingEntry, around: Surroundings): void {
    const { value } = entry;
    if (value.kind === 'mapping') this.#shape(value, innerShapes.retryPolicy, around);
    else if (isText(value)) {
      scalar.name(entry, 'the name of a retry policy', this.#report);
    } else {
      const isNumber = value.kind === 'scalar' && typeof value.value === 'number';
      const help = `write \`retry: { attempts: ${isNumber ? String(value.value) : 3} }\``;
      scalar.wrongKind(entry, 'a retry policy or the name of one', this.#report, help);
    }
  }

  #retryPolicies(policies: MappingEntry, around: Surroundings): void {
    const check = ({ entries }: MappingNode): void => {
      for (const entry of entries) {
        scalar.keyName(entry, 'retry policy', 'name', this.#report);
        const retry = (node: MappingNode): void => this.#shape(node, innerShapes.retryPolicy, around);
        map(entry, 'a retry policy', this.#report, retry, `write \`${entry.key.value}: { attempts: 5 }\``);
      }
    };
    const help = 'write each with its name: `gateway: { attempts: 5 }`';
    map(policies, 'a map of retry policies', this.#report, check, help);
  }

  #schedule(entry: MappingEntry, around: Surroundings): void {
    const seen = new Set<unknown>();
    for (const node of this.#maps(entry, 'an entry of `schedule`', scheduleList)) {
      if (exclude(node, ['every', 'cron'], 'make two entries of it', this.#report)) continue;
      const byInterval = entryOf(node, 'every') !== undefined;
      this.#shape(node, byInterval ? innerShapes.intervalSchedule : innerShapes.cronSchedule, around);
      const id = entryOf(node, 'id')?.value;
      if (id?.kind !== 'scalar') continue;
      if (seen.has(id.value)) {
        this.#report.error(
          'RS2036',
          id.range,
          `two schedules have the id ${quoted(String(id.value))}`,
          'choose another one',
        );
      }
      seen.add(id.value);
    }
  }

  #compensation(entry: MappingEntry, around: Surroundings): void {
    if (around.closing === undefined) return this.#map(entry, innerShapes.compensation, around);
    const message = `\`compensate\` cannot stand in \`${around.closing}\`: nothing is undone after it`;
    this.#report.error('RS2022', entry.key.range, message, 'leave it out: what can be undone stands in `steps`');
  }

  #arms(entry: MappingEntry, around: Surroundings): void {
    const arms = this.#maps(entry, 'an arm', 'a list of arms, `- when: …` and at last `- else: …`');
    for (const arm of arms) {
      this.#shape(arm, isElse(arm) ? innerShapes.elseArm : innerShapes.whenArm, around);
      const otherwise = entryOf(arm, 'else');
      if (otherwise !== undefined && arm !== arms.at(-1)) {
        this.#report.error('RS2019', otherwise.key.range, '`else` must be the last arm', 'move it to the end');
      }
    }
    if (entry.value.kind !== 'sequence') return;
    if (!arms.some(isElse)) {
      const help = 'end with `- else: []` if nothing is done otherwise; for a single arm write `when` with `group`';
      this.#report.error('RS2019', entry.key.range, 'this `branch` has no `else`', help);
    } else if (entry.value.items.length === 1) {
      const help = 'put an arm with `when` before it';
      this.#report.error('RS2019', entry.key.range, 'this `branch` has nothing but an `else`', help);
    }
  }

  #branches(entry: MappingEntry, around: Surroundings): void {
    const help =
      entry.value.kind === 'sequence'
        ? 'give each branch a name: `one: [ … ]`, `two: [ … ]`, without `- `'
        : 'write each branch with its name: `parallel: { one: [ … ], two: [ … ] }`';
    const check = (node: MappingNode): void => {
      if (node.entries.length === 0) {
        const remedy = 'write each branch with its name: `one: [ … ]`';
        this.#report.error('RS2018', valueRange(entry), '`parallel` has no branch', remedy);
      }
      for (const branch of node.entries) {
        scalar.keyName(branch, 'branch', 'name', this.#report);
        this.#items(branch, around);
      }
    };
    map(entry, 'a map of branch name → list of items', this.#report, check, help);
  }

  #onError(entry: MappingEntry, around: Surroundings): void {
    for (const node of this.#maps(entry, 'an entry of `onError`', 'a list of entries `{ errors, when, do }`')) {
      this.#shape(node, innerShapes.onErrorEntry, { ...around, inOnError: true });
    }
  }

  /** The maps of a list of maps; says what is none. */
  #maps(entry: MappingEntry, each: string, expected: string): MappingNode[] {
    if (entry.value.kind !== 'sequence') {
      const help =
        entry.value.kind === 'mapping'
          ? 'begin each entry with `- `'
          : 'write each entry on a line that begins with `- `';
      const isOne = entry.value.kind === 'scalar' && entry.value.value !== null;
      const remedy =
        expected === scheduleList && isOne
          ? `write for example \`schedule: [${scalar.scheduleMeant(String(toValue(entry.value)))}]\``
          : entry.key.value === 'onError' && isOne
            ? 'to go on in spite of the error write `onError: [{ do: [] }]`'
            : help;
      scalar.wrongKind(entry, expected, this.#report, remedy);
      return [];
    }
    return entry.value.items.flatMap((node) => {
      if (node.kind === 'mapping') return [node];
      this.#report.error('RS2001', node.range, `${each} must be a map, not ${describe(node)}`, entryHelp(each, node));
      return [];
    });
  }
}

/** Of an item at least the verb is known. */
function isItem(shape: Shape): boolean {
  return shape === workflowShape;
}

/** For what stands where a list of items belongs. */
function listHelp(value: SyntaxNode): string {
  if (isText(value) && /^[A-Za-z_][\w.-]*$/.test(value.value)) {
    return `write \`[{ step: ${value.value} }]\``;
  }
  if (value.kind !== 'mapping') return 'for none write `[]`';
  const [first] = value.entries;
  const named = value.entries.every((entry) => entry.value.kind === 'mapping' && !isVerb(entry.key.value));
  return named && first !== undefined
    ? `begin each item with \`- \`, and let its name be its \`id\`: \`- id: ${first.key.value.replace(/\W+/g, '_')}\``
    : 'begin each item with `- `';
}

/** For what stands where an entry of a list should. */
function entryHelp(each: string, node: SyntaxNode): string {
  const text = textOf(node) ?? '';
  if (each === 'an arm')
    return `write \`- when: ${text.startsWith('=') ? text : '…'}\` and below it \`do:\`, or \`- else: [ … ]\``;
  if (each === 'an entry of `onError`')
    return `write \`- errors: [${/^[A-Za-z_][\w.-]*$/.test(text) ? text : '…'}]\` and below it \`do:\``;
  return `write for example \`${scalar.scheduleMeant(text)}\``;
}

/** What is to be written for a key that is missing. */
const missing: Readonly<Record<string, string>> = {
  workflow: 'write `workflow: <name>` at the top',
  steps: 'write `steps:` and below it the list of what is done',
  do: 'write `do:` and below it the list of what is done; for nothing `do: []`',
  when: 'write its condition, such as `when: =$input.amount > 100`',
  step: 'name the handler that is called, such as `step: mail.send`',
  every: 'write how often, such as `every: 12h`',
  until: 'write the point in time, such as `until: "2030-01-31T09:00:00Z"`',
};

function missingHelp(shape: Shape, key: string): string {
  if (shape === itemShapes.waitFor) return 'write a duration such as `48h`, `{ until: … }`, or `never`';
  if (shape !== innerShapes.cronSchedule) return missing[key] ?? `write \`${key}: …\``;
  return key === 'cron'
    ? 'write `cron` with `timezone`, or `every`'
    : 'write `UTC` or a region such as `Europe/Berlin`';
}
