import type { JsonObject } from '../common/index.js';
import { type MappingEntry, type MappingNode, type SyntaxNode, entryOf, toValue } from '../syntax/index.js';
import { compileSchema } from './json-schema.js';
import { checkJoin, checkPlainField, exclude, isPlain, map } from './plain-fields.js';
import { Report, describe, quoted, valueRange } from './report.js';
import * as scalar from './scalar-fields.js';
import { checkSchema, problemText } from './schema-fields.js';
import { type NestedKind, type Shape, innerShapes, itemShapes, workflowShape } from './shapes.js';
import { misspeltVerb, reportUnknownKeys } from './unknown-keys.js';
import { checkValue, holdsFormula, reportStraySecrets } from './value-fields.js';
import { type Verb, isVerb } from './verbs.js';

/** Lists nested deeper than this are hard to follow. */
const comfortableDepth = 5;

/** What is around a place, as far as it decides what may stand there. */
interface Surroundings {
  /** Number of item lists around. */
  readonly depth: number;
  /** Set inside `onFailure` and `finally`. */
  readonly closing?: 'onFailure' | 'finally';
  /** Set inside `parallel` and `forEach`. */
  readonly concurrent?: 'parallel' | 'forEach';
  readonly inOnError: boolean;
  /** Names of the elements of the `forEach` around. */
  readonly loopVariables: readonly string[];
}

/**
 * Checks the shape of a document: picks the verb of each item first, then checks that verb's shape alone, so that one
 * mistake is one diagnostic. What passes here fits `schemas/workflow.schema.json`.
 */
export function checkShape(root: SyntaxNode, report: Report): void {
  new ShapeWalk(report).document(root);
}

class ShapeWalk {
  readonly #report: Report;
  readonly #secrets = new Set<SyntaxNode>();

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
    for (const key of shape.required) {
      if (meant.has(key) || entryOf(node, key) !== undefined) continue;
      const range = node.entries[0]?.key.range ?? node.range;
      this.#report.error('RS2002', range, `${shape.what} needs \`${key}\``, missingHelp(shape, key));
    }
    for (const entry of node.entries) {
      const kind = Object.hasOwn(shape.keys, entry.key.value) ? shape.keys[entry.key.value] : undefined;
      if (kind === undefined) continue;
      if (isPlain(kind)) checkPlainField(kind, entry, this.#report);
      else this.#nested(kind, entry, kind === 'items' || kind === 'branches' ? bodies : around);
    }
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
        return map(entry, 'a map of retry policies', this.#report, (node) => this.#retryPolicies(node, around));
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
      const help = entry.value.kind === 'mapping' ? 'begin each item with `- `' : 'for none write `[]`';
      scalar.wrongKind(entry, 'a list of items', this.#report, help);
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
      const name = node.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
      const help = name === undefined ? undefined : `write \`${isVerb(name) ? `${name}: …` : `step: ${name}`}\``;
      this.#report.error('RS2001', node.range, `an item must be a map with a verb, not ${describe(node)}`, help);
      return;
    }
    const [first, second] = node.entries.filter(({ key }) => isVerb(key.value));
    if (first !== undefined && second !== undefined) this.#twoVerbs(node, first, second);
    else if (first !== undefined && isVerb(first.key.value)) this.#verb(first.key.value, node, around);
    else this.#noVerb(node, around);
  }

  #twoVerbs(node: MappingNode, first: MappingEntry, second: MappingEntry): void {
    const loops = ['forEach', 'doWhile', 'doUntil'];
    const lacksBody = entryOf(node, 'do') === undefined && loops.some((verb) => entryOf(node, verb) !== undefined);
    const help = lacksBody
      ? 'put what is done in each turn into `do`, as a list'
      : 'make two items of it, or put both into a `group`';
    const message = `an item has one verb, this one has \`${first.key.value}\` and \`${second.key.value}\``;
    this.#report.error('RS2006', second.key.range, message, help);
  }

  #noVerb(node: MappingNode, around: Surroundings): void {
    const misspelt = misspeltVerb(node);
    if (misspelt === undefined) {
      const range = node.entries[0]?.key.range ?? node.range;
      const help = 'say what it does: `step`, `set`, `branch`, `forEach`, …';
      this.#report.error('RS2005', range, 'this item has no verb', help);
      return;
    }
    const { entry, verb } = misspelt;
    this.#report.error('RS2007', entry.key.range, `\`${entry.key.value}\` is no verb`, `did you mean \`${verb}\`?`);
    // Checked as the item that was meant, so that the other mistakes in it are told too.
    const mended = node.entries.map((each) => (each === entry ? renamed(each, verb) : each));
    this.#verb(verb, { ...node, entries: mended }, around);
  }

  #verb(verb: Verb, node: MappingNode, around: Surroundings): void {
    this.#place(verb, node, around);
    this.#shape(node, itemShapes[verb], around, insideOf(verb, node, around));
    if (verb === 'parallel') checkJoin(node, this.#report);
    if (verb === 'waitFor') this.#onTimeoutFits(node);
  }

  /** Rules on where a verb may stand. */
  #place(verb: Verb, node: MappingNode, around: Surroundings): void {
    const range = entryOf(node, verb)?.key.range ?? node.range;
    const { closing, concurrent } = around;
    if (verb === 'rethrow' && !around.inOnError) {
      const help = 'to fail with an error of your own write `fail`';
      this.#report.error('RS2023', range, '`rethrow` has no error to let go on: it belongs in `onError`', help);
    }
    if (closing !== undefined && (verb === 'complete' || verb === 'pivot')) {
      this.#report.error('RS2022', range, `\`${verb}\` cannot stand in \`${closing}\`: the outcome stands already`);
    } else if (concurrent !== undefined && verb === 'complete') {
      const message = `\`complete\` cannot stand inside \`${concurrent}\`: what else runs there would be cut off`;
      this.#report.error('RS2021', range, message, `write it after the \`${concurrent}\`, with a \`when\``);
    }
  }

  #onTimeoutFits(node: MappingNode): void {
    const onTimeout = entryOf(node, 'onTimeout')?.value;
    const schema = entryOf(node, 'schema')?.value;
    if (onTimeout === undefined || schema === undefined || holdsFormula(onTimeout)) return;
    const value = toValue(onTimeout);
    const invalid = new Report();
    checkSchema(schema, invalid);
    if (value === null || invalid.hasErrors) return;
    const [problem] = compileSchema(toValue(schema) as JsonObject | boolean)(value);
    if (problem === undefined) return;
    const message = `\`onTimeout\` does not fit the \`schema\` of the signal: ${problemText(problem)}`;
    this.#report.error('RS2032', onTimeout.range, message, 'write a value that fits, or null');
  }

  #map(entry: MappingEntry, shape: Shape, around: Surroundings): void {
    map(entry, 'a map', this.#report, (node) => this.#shape(node, shape, around));
  }

  #value(entry: MappingEntry, around: Surroundings, secrets = false): void {
    const { loopVariables } = around;
    for (const node of checkValue(entry.value, { loopVariables, secrets }, this.#report)) this.#secrets.add(node);
  }

  #arguments(entry: MappingEntry, around: Surroundings, secrets: boolean): void {
    const { value } = entry;
    const isFormula = value.kind === 'scalar' && typeof value.value === 'string' && value.value.startsWith('=');
    if (value.kind === 'mapping' || isFormula) this.#value(entry, around, secrets);
    else scalar.wrongKind(entry, 'a map of fields, or a formula that gives one', this.#report);
  }

  #list(entry: MappingEntry, around: Surroundings): void {
    const { value } = entry;
    if (value.kind === 'sequence') this.#value(entry, around);
    else if (value.kind === 'scalar' && typeof value.value === 'string') scalar.formula(entry, this.#report);
    else scalar.wrongKind(entry, 'a formula that gives a list, or a list', this.#report);
  }

  #time(entry: MappingEntry, rules: scalar.DurationRules, around: Surroundings): void {
    if (entry.value.kind === 'mapping') this.#shape(entry.value, innerShapes.until, around);
    else scalar.duration(entry, rules, this.#report);
  }

  #retry(entry: MappingEntry, around: Surroundings): void {
    const { value } = entry;
    if (value.kind === 'mapping') this.#shape(value, innerShapes.retryPolicy, around);
    else if (value.kind === 'scalar' && typeof value.value === 'string') {
      scalar.name(entry, 'the name of a retry policy', this.#report);
    } else {
      const isNumber = value.kind === 'scalar' && typeof value.value === 'number';
      const help = isNumber ? `write \`retry: { attempts: ${value.value} }\`` : undefined;
      scalar.wrongKind(entry, 'a retry policy or the name of one', this.#report, help);
    }
  }

  #retryPolicies({ entries }: MappingNode, around: Surroundings): void {
    for (const entry of entries) {
      scalar.keyName(entry, 'retry policy', 'name', this.#report);
      map(entry, 'a retry policy', this.#report, (node) => this.#shape(node, innerShapes.retryPolicy, around));
    }
  }

  #schedule(entry: MappingEntry, around: Surroundings): void {
    const seen = new Set<unknown>();
    for (const node of this.#maps(entry, 'an entry of `schedule`', 'a list of entries')) {
      if (exclude(node, ['every', 'cron'], 'make two entries of it', this.#report)) continue;
      const byInterval = entryOf(node, 'every') !== undefined;
      this.#shape(node, byInterval ? innerShapes.intervalSchedule : innerShapes.cronSchedule, around);
      const id = entryOf(node, 'id')?.value;
      if (id?.kind !== 'scalar') continue;
      if (seen.has(id.value)) {
        this.#report.error('RS2036', id.range, `two schedules have the id ${quoted(String(id.value))}`);
      }
      seen.add(id.value);
    }
  }

  #compensation(entry: MappingEntry, around: Surroundings): void {
    if (around.closing === undefined) return this.#map(entry, innerShapes.compensation, around);
    const message = `\`compensate\` cannot stand in \`${around.closing}\`: nothing is undone after it`;
    this.#report.error('RS2022', entry.key.range, message);
  }

  #arms(entry: MappingEntry, around: Surroundings): void {
    const arms = this.#maps(entry, 'an arm', 'a list of arms, `- when: …` and at last `- else: …`');
    for (const arm of arms) {
      const otherwise = entryOf(arm, 'else');
      this.#shape(arm, otherwise === undefined ? innerShapes.whenArm : innerShapes.elseArm, around);
      if (otherwise !== undefined && arm !== arms.at(-1)) {
        this.#report.error('RS2019', otherwise.key.range, '`else` must be the last arm', 'move it to the end');
      }
    }
    if (entry.value.kind !== 'sequence') return;
    if (!arms.some((arm) => entryOf(arm, 'else') !== undefined)) {
      const help = 'end with `- else: []` if nothing is done otherwise; for a single arm write `when` with `group`';
      this.#report.error('RS2019', entry.key.range, 'this `branch` has no `else`', help);
    } else if (entry.value.items.length === 1) {
      const help = 'put an arm with `when` before it';
      this.#report.error('RS2019', entry.key.range, 'this `branch` has nothing but an `else`', help);
    }
  }

  #branches(entry: MappingEntry, around: Surroundings): void {
    map(entry, 'a map of branch name → list of items', this.#report, (node) => {
      if (node.entries.length === 0) this.#report.error('RS2018', valueRange(entry), '`parallel` has no branch');
      for (const branch of node.entries) {
        scalar.keyName(branch, 'branch', 'name', this.#report);
        this.#items(branch, around);
      }
    });
  }

  #onError(entry: MappingEntry, around: Surroundings): void {
    for (const node of this.#maps(entry, 'an entry of `onError`', 'a list of entries `{ errors, when, do }`')) {
      this.#shape(node, innerShapes.onErrorEntry, { ...around, inOnError: true });
    }
  }

  /** The maps of a list of maps; says what is none. */
  #maps(entry: MappingEntry, each: string, expected: string): MappingNode[] {
    if (entry.value.kind !== 'sequence') {
      const help = entry.value.kind === 'mapping' ? 'begin each entry with `- `' : undefined;
      scalar.wrongKind(entry, expected, this.#report, help);
      return [];
    }
    return entry.value.items.flatMap((node) => {
      if (node.kind === 'mapping') return [node];
      this.#report.error('RS2001', node.range, `${each} must be a map, not ${describe(node)}`);
      return [];
    });
  }
}

function renamed(entry: MappingEntry, verb: Verb): MappingEntry {
  return { ...entry, key: { ...entry.key, value: verb, offsetOf: (index) => entry.key.offsetOf(index) } };
}

function closingOf({ key }: MappingEntry, around: Surroundings): Surroundings {
  const closing = around.depth === 0 && (key.value === 'onFailure' || key.value === 'finally');
  return closing ? { ...around, closing: key.value } : around;
}

function missingHelp(shape: Shape, key: string): string | undefined {
  if (shape === itemShapes.waitFor) return 'write a duration such as `48h`, `{ until: … }`, or `never`';
  if (shape !== innerShapes.cronSchedule) return undefined;
  return key === 'cron'
    ? 'write `cron` with `timezone`, or `every`'
    : 'write `UTC` or a region such as `Europe/Berlin`';
}

/** What the bodies of a verb see around them; its `when` and `onError` stand outside it. */
function insideOf(verb: Verb, node: MappingNode, around: Surroundings): Surroundings {
  if (verb === 'parallel') return { ...around, concurrent: 'parallel' };
  if (verb !== 'forEach') return around;
  const as = entryOf(node, 'as')?.value;
  const name = as?.kind === 'scalar' && typeof as.value === 'string' ? as.value : 'item';
  return { ...around, concurrent: 'forEach', loopVariables: [...around.loopVariables, name] };
}
