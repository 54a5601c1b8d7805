import {
  type MappingEntry,
  type MappingNode,
  type SyntaxNode,
  entryOf,
  isText,
  nearest,
  textOf,
} from '../syntax/index.js';
import { adviceOn, folded, formOf, keysMeant, typesMeant, verbAdvice, verbsMeant } from './other-words.js';
import { type Report, listed } from './report.js';
import { type FieldKind, type Shape, innerShapes, itemShapes, workflowShape } from './shapes.js';
import { type Verb, isVerb, verbs } from './verbs.js';

/** What an unknown key was meant to be. */
export interface MeantKey {
  readonly entry: MappingEntry;
  readonly key: string;
  /** Whether the value is of the kind that the key takes, so that it can be checked as if the key were right. */
  readonly fits: boolean;
}

/**
 * Reports the keys that a shape does not have. Returns those whose right spelling can be told, so that the caller
 * neither misses them nor passes over what stands in them.
 */
export function reportUnknownKeys(node: MappingNode, shape: Shape, report: Report): MeantKey[] {
  const meant: MeantKey[] = [];
  const absent = new Set(Object.keys(shape.keys).filter((key) => !node.entries.some((each) => each.key.value === key)));
  for (const entry of node.entries) {
    if (Object.hasOwn(shape.keys, entry.key.value)) continue;
    const { code, message, help, key } = explained(entry, shape, absent);
    report.error(code, entry.key.range, message, help);
    if (key === undefined) continue;
    absent.delete(key);
    const kind = shape.keys[key];
    meant.push({ entry, key, fits: code === 'RS2003' && kind !== undefined && holds(kind, entry.value) });
  }
  return meant;
}

interface Explained {
  readonly code: 'RS2003' | 'RS2004';
  readonly message: string;
  readonly help: string;
  readonly key?: string;
}

function explained(
  { key: { value: word }, value }: MappingEntry,
  shape: Shape,
  absent: ReadonlySet<string>,
): Explained {
  const unknown = { code: 'RS2003' as const, message: `${shape.what} has no \`${word}\`` };
  const synonym = keysMeant.get(folded(word))?.find((key) => absent.has(key));
  const spelling = [...absent].find((key) => folded(key) === folded(word));
  if (spelling !== undefined) return { ...unknown, help: `did you mean \`${spelling}\`?`, key: spelling };
  const elsewhere = belongsTo(word, shape);
  // Such words are keys of the language too, but here what they mean elsewhere is plain.
  const stronger = synonym === 'do' || (shape === workflowShape && (word === 'do' || word === 'id'));
  if (synonym !== undefined && (elsewhere === undefined || stronger)) {
    return { ...unknown, help: helpFor(word, synonym, value), key: synonym };
  }
  if (elsewhere !== undefined) {
    // A verb that stands where its `do` is missing: putting it there mends both.
    const key = isVerb(word) && absent.has('do') ? 'do' : undefined;
    return {
      code: 'RS2004',
      message: `\`${word}\` is not part of ${shape.what}`,
      help: elsewhere,
      ...(key !== undefined && { key }),
    };
  }
  const guess = nearest(word, absent);
  if (guess !== undefined) return { ...unknown, help: `did you mean \`${guess}\`?`, key: guess };
  const advice = word.endsWith('.$') ? pathAdvice(word) : adviceOn.get(folded(word));
  return { ...unknown, help: advice ?? `it may have ${listed(Object.keys(shape.keys), 'and')}` };
}

/** `"input.$": "$.order"` of Step Functions. */
function pathAdvice(word: string): string {
  return `values are formulas where they begin with \`=\`: \`${word.slice(0, -2)}: =$input.…\``;
}

/** How to write what a synonym says, with the author's own value where that takes another form. */
function helpFor(word: string, key: string, value: SyntaxNode): string {
  const scalar = value.kind === 'scalar' ? value.value : undefined;
  switch (key) {
    case 'do':
      return 'what is done stands in `do`';
    case 'retry':
      return `write \`retry: { attempts: ${typeof scalar === 'number' ? scalar : '…'} }\``;
    case 'timeout': {
      const unit = /min/i.test(word) ? 'm' : /ms|milli/i.test(word) ? 'ms' : /sec/i.test(word) ? 's' : undefined;
      return typeof scalar === 'number' && unit !== undefined
        ? `write \`timeout: ${scalar}${unit}\``
        : 'write `timeout`';
    }
    case 'id':
      return typeof scalar === 'string' && /[^\w]/.test(scalar)
        ? `write \`id: ${scalar.replace(/\W+/g, '_').replace(/^(?=\d)|^_+|_+$/g, '')}\`; words for people stand in \`description\``
        : 'write `id`';
    case 'errors':
    case 'exceptErrors':
      return typeof scalar === 'string' ? `write \`${key}: [${scalar}]\`` : `write \`${key}\``;
    case 'backoff':
      return 'write `backoff: exponential`, which doubles the delay, `linear` or `constant`';
    case 'schedule':
      return value.kind === 'sequence' ? 'write `schedule`' : 'write `schedule: [{ cron: …, timezone: … }]`';
    default:
      return `write \`${key}\``;
  }
}

/** Whether a value is of the kind of a field, so that checking it does not only repeat that the key was wrong. */
function holds(kind: FieldKind, value: SyntaxNode): boolean {
  switch (kind) {
    case 'items':
    case 'arms':
    case 'onError':
    case 'schedule':
    case 'error names':
    case 'catchable error names':
      return value.kind === 'sequence';
    case 'branches':
    case 'compensation':
    case 'reminder':
    case 'retry policies':
    case 'defaults':
    case 'schema':
    case 'input fields':
    case 'labels':
    case 'constants':
      return value.kind === 'mapping';
    case 'retry':
      return value.kind === 'mapping' || isText(value);
    case 'step arguments':
    case 'child arguments':
      return value.kind === 'mapping' || (isText(value) && value.value.startsWith('='));
    case 'list':
      return value.kind === 'sequence' || isText(value);
    case 'time or duration':
    case 'time, duration or never':
      return isText(value) || entryOf(value, 'until') !== undefined;
    case 'value':
    case 'literal':
      return true;
    case 'id':
    case 'identifier':
    case 'schedule id':
    case 'workflow name':
    case 'handler':
    case 'signal':
    case 'child':
    case 'error name':
      return isText(value) && /^[A-Za-z_][\w.-]*$/.test(value.value);
    case 'count':
      return value.kind === 'scalar' && typeof value.value === 'number';
    case 'boolean':
      return value.kind === 'scalar' && typeof value.value === 'boolean';
    default:
      return isText(value);
  }
}

/** Where a key that is spelt right belongs, if not here. */
function belongsTo(key: string, here: Shape): string | undefined {
  if (here === innerShapes.elseArm && (key === 'do' || key === 'when')) return 'the items stand under `else` itself';
  if (isVerb(key)) return verbElsewhere(key, here);
  if (here === workflowShape && (key === 'retry' || key === 'attempts')) {
    return 'it belongs in `defaults` (for every step), or on one step';
  }
  if (here === workflowShape && key === 'onError') {
    return 'it belongs on an item; what runs once the whole run has failed stands in `onFailure`';
  }
  if (key === 'input' && Object.hasOwn(here.keys, 'with')) {
    return 'it belongs on the workflow; what a step or child is given stands in `with`';
  }
  if (Object.hasOwn(innerShapes.retryPolicy.keys, key) && Object.hasOwn(here.keys, 'retry') && key !== 'when') {
    return `it belongs in \`retry: { ${key}: … }\``;
  }
  if (key === 'else') return 'it belongs on the last arm of a `branch`: begin it with `- `';
  const owners = verbs.filter((verb) => Object.hasOwn(itemShapes[verb].keys, key));
  if (owners.length === verbs.length) return 'it belongs on an item, beside its verb';
  if (owners.length > 0 && here !== workflowShape && isItemShape(here)) {
    return Object.hasOwn(workflowShape.keys, key)
      ? `it belongs on the workflow, or on ${listed(owners)}`
      : `it belongs on ${listed(owners)}`;
  }
  if (Object.hasOwn(workflowShape.keys, key) && here !== workflowShape) return 'it belongs on the workflow';
  if (owners.length > 0) return `it belongs on an item with ${listed(owners)}`;
  return undefined;
}

function verbElsewhere(verb: string, here: Shape): string | undefined {
  if (here === workflowShape) return 'it belongs on an item of `steps`: begin it with `- `';
  if (Object.hasOwn(here.keys, 'do')) return 'it belongs on an item of `do`: begin it with `- `';
  if (here === innerShapes.elseArm) return 'it belongs on an item of `else`: begin it with `- `';
  return here === innerShapes.retryPolicy || here === innerShapes.defaults ? 'it belongs on an item' : undefined;
}

function isItemShape(shape: Shape): boolean {
  return (Object.values(itemShapes) as Shape[]).includes(shape);
}

/** A key of an item without a verb that was probably meant to be one. */
export interface MeantVerb {
  readonly entry: MappingEntry;
  readonly help: string;
  /** Set where the item can be checked as if the verb were right; else nothing more is known of it. */
  readonly verb?: Verb;
}

export function misspeltVerb(node: MappingNode): MeantVerb | undefined {
  const strangers = node.entries.filter(({ key }) => !isKnownOnItems(key.value));
  for (const entry of strangers) {
    const verb = verbs.find((each) => folded(each) === folded(entry.key.value));
    if (verb !== undefined) return { entry, verb, help: `did you mean \`${verb}\`?` };
  }
  const typed = strangers.find(({ key }) => key.value === 'type' || key.value === 'Type');
  if (typed !== undefined) return { entry: typed, help: typeHelp(typed) };
  for (const entry of strangers) {
    const [verb] = verbsMeant.get(folded(entry.key.value)) ?? [];
    // `ste` could be a `step` or a `set`: what stands under it decides.
    const fitting = verbs.filter((each) => takes(each, entry.value));
    const guess = nearest(entry.key.value, fitting) ?? nearest(entry.key.value, verbs);
    const advice = verbAdvice.get(folded(entry.key.value));
    if (advice !== undefined) return { entry, help: advice };
    if (verb !== undefined) return otherVerb(entry, verb, node);
    if (guess !== undefined && isVerb(guess)) {
      return { entry, help: `did you mean \`${guess}\`?`, ...(takes(guess, entry.value) && { verb: guess }) };
    }
  }
  return undefined;
}

function isKnownOnItems(word: string): boolean {
  return Object.values(itemShapes).some((shape) => Object.hasOwn(shape.keys, word));
}

/** Whether a value is of the kind that stands under a verb. */
function takes(verb: Verb, value: SyntaxNode): boolean {
  const kind = itemShapes[verb].keys[verb];
  return kind !== undefined && holds(kind, value);
}

function otherVerb(entry: MappingEntry, verb: Verb, node: MappingNode): MeantVerb {
  const lacksBody = itemShapes[verb].required.some(
    (key) =>
      key !== verb &&
      !node.entries.some((each) => each.key.value === key || keysMeant.get(folded(each.key.value))?.includes(key)),
  );
  const fits = takes(verb, entry.value) && !lacksBody && (verb !== 'branch' || hasArms(entry.value));
  if (fits) return { entry, verb, help: `did you mean \`${verb}\`?` };
  const word = folded(entry.key.value);
  const isIf = word === 'if' || word === 'elif' || word === 'else';
  return {
    entry,
    help: isIf ? 'write `when` with `group`; or, where there is an else, `branch` with arms' : formOf[verb],
  };
}

/** Whether a list is one of our arms, not the cases of another tool. */
function hasArms(node: SyntaxNode): boolean {
  if (node.kind !== 'sequence' || node.items.length === 0) return false;
  return node.items.every((arm) => entryOf(arm, 'when') !== undefined || entryOf(arm, 'else') !== undefined);
}

/** Whether a map among the arms of a `branch` is meant as its `else`, under this or another name or misspelt. */
export function isElse(arm: MappingNode): boolean {
  if (entryOf(arm, 'else') !== undefined) return true;
  if (entryOf(arm, 'when') !== undefined) return false;
  return arm.entries.some(
    ({ key: { value: word } }) =>
      keysMeant.get(folded(word))?.includes('else') === true ||
      nearest(word, [...Object.keys(innerShapes.whenArm.keys), 'else']) === 'else',
  );
}

function typeHelp({ value }: MappingEntry): string {
  const text = textOf(value) ?? '';
  const short = text.split('.').at(-1) ?? '';
  const [verb] = typesMeant.get(folded(short)) ?? [];
  if (verb !== undefined) return `an item has a verb instead of a type: ${formOf[verb]}`;
  const isTask = text === '' || /^(task|service|action)$/i.test(text);
  return `an item has a verb instead of a type: ${isTask ? formOf.step : `write \`step: ${text}\`, and what it is given under \`with\``}`;
}
