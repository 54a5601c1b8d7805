import { type MappingEntry, type MappingNode, nearest } from '../syntax/index.js';
import { type Report, listed } from './report.js';
import { type Shape, innerShapes, itemShapes, workflowShape } from './shapes.js';
import { isVerb, verbs } from './verbs.js';

/** Words that other tools use, with what the language says instead. */
const otherWords: Readonly<Record<string, string>> = {
  name: 'write `id`',
  if: 'write `when`',
  condition: 'write `when`',
  args: 'write `with`',
  arguments: 'write `with`',
  params: 'write `with`',
  parameters: 'write `with`',
  inputs: 'write `with`',
  catch: 'write `onError`',
  retries: 'write `retry: { attempts: … }`',
  loop: 'write `forEach`, `doWhile` or `doUntil`',
  next: 'steps run in the order of the file; choose with `branch`',
  needs: 'steps run in the order of the file; what may run at once stands in `parallel`',
  dependsOn: 'steps run in the order of the file; what may run at once stands in `parallel`',
  compensation: 'write `compensate`',
};

/** Words for a list of things to do, where the language says `do`. */
const otherBodies: ReadonlySet<string> = new Set(['steps', 'then', 'items', 'body', 'tasks']);

/** Words that other tools use for calling something. */
const otherVerbs: ReadonlySet<string> = new Set(['uses', 'run', 'call', 'handler', 'action', 'task', 'activity']);

/**
 * Reports the keys that a shape does not have. Returns the keys that a misspelling was probably meant to be, so
 * that the caller does not report them as missing too.
 */
export function reportUnknownKeys(node: MappingNode, shape: Shape, report: Report): Set<string> {
  const meant = new Set<string>();
  for (const { key } of node.entries) {
    if (Object.hasOwn(shape.keys, key.value)) continue;
    const absent = Object.keys(shape.keys).filter((known) => !node.entries.some((other) => other.key.value === known));
    const guess = nearest(key.value, absent);
    const elsewhere = belongsTo(key.value, shape);
    if (otherBodies.has(key.value) && absent.includes('do')) {
      meant.add('do');
      report.error('RS2003', key.range, `${shape.what} has no \`${key.value}\``, 'what is done stands in `do`');
    } else if (elsewhere !== undefined) {
      // A verb that stands where its `do` is missing: putting it there mends both.
      if (isVerb(key.value) && absent.includes('do')) meant.add('do');
      report.error('RS2004', key.range, `\`${key.value}\` is not part of ${shape.what}`, elsewhere);
    } else if (guess !== undefined) {
      meant.add(guess);
      report.error('RS2003', key.range, `${shape.what} has no \`${key.value}\``, `did you mean \`${guess}\`?`);
    } else {
      const help = otherWords[key.value] ?? `it may have ${listed(Object.keys(shape.keys), 'and')}`;
      report.error('RS2003', key.range, `${shape.what} has no \`${key.value}\``, help);
    }
  }
  return meant;
}

/** Where a key that is spelt right belongs, if not here. */
function belongsTo(key: string, here: Shape): string | undefined {
  if (here === innerShapes.elseArm && (key === 'do' || key === 'when')) return 'the items stand under `else` itself';
  if (isVerb(key)) return verbElsewhere(key, here);
  if (here === workflowShape && (key === 'retry' || key === 'attempts')) {
    return 'it belongs in `defaults` (for every step), or on one step';
  }
  if (key === 'input' && Object.hasOwn(here.keys, 'with')) {
    return 'it belongs on the workflow; what a step or child is given stands in `with`';
  }
  if (Object.hasOwn(innerShapes.retryPolicy.keys, key) && Object.hasOwn(here.keys, 'retry') && key !== 'when') {
    return `it belongs in \`retry: { ${key}: … }\``;
  }
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

/** The key of an item without a verb that was probably meant to be one, with that verb. */
export function misspeltVerb(node: MappingNode): { entry: MappingEntry; verb: (typeof verbs)[number] } | undefined {
  for (const entry of node.entries) {
    const word = entry.key.value;
    const known = Object.values(itemShapes).some((shape) => Object.hasOwn(shape.keys, word));
    if (known) continue;
    const guess = otherVerbs.has(word) ? 'step' : nearest(word, verbs);
    if (guess !== undefined && isVerb(guess)) return { entry, verb: guess };
  }
  return undefined;
}
