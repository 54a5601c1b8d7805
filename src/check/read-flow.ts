import { type FieldKind, type Shape, type Verb, isVerb, itemShapes, workflowShape } from '../definition/index.js';
import { type MappingNode, type SyntaxNode, entryOf, isText, textOf } from '../syntax/index.js';
import type { Binding, Condition, Enclosure, FlowItem, FlowModel, FlowRoot, Place, Variables } from './flow-model.js';
import { FieldReader, kindOf, withVariables } from './read-fields.js';

const language: Binding = { kind: 'language' };
const number: Binding = { kind: 'number' };

/** Variables that have a value everywhere. */
export const everywhere: Variables = new Map(
  ['input', 'constants', 'steps', 'workflow', 'run'].map((name) => [name, language]),
);

/**
 * Gathers what the checks look at. It follows the table of shapes and passes over what does not fit it, which the
 * shape walk reports: a file with mistakes is read as far as it can be.
 */
export function readFlow(root: SyntaxNode): FlowModel {
  return new FlowReader().read(root);
}

/** What is around something, before its own place in it is known. */
type Surroundings = Pick<Place, 'within' | 'variables'>;

/** An item while it is read: what is inside it is still to come. */
interface ItemDraft extends FlowItem {
  when?: Condition | undefined;
  condition?: Condition | undefined;
  readonly bodies: Enclosure[];
  readonly handlers: Enclosure[];
}

interface EnclosureDraft extends Enclosure {
  when?: Condition | undefined;
  readonly items: FlowItem[];
}

class FlowReader {
  readonly #items: FlowItem[] = [];
  readonly #roots: Record<FlowRoot, FlowItem[]> = { steps: [], onFailure: [], finally: [] };
  readonly #fields = new FieldReader();
  readonly #unplaced = new Set<string>();
  readonly #loopNames: FlowModel['loopNames'][number][] = [];
  #root: FlowRoot = 'steps';

  read(root: SyntaxNode): FlowModel {
    const around: Surroundings = { within: [], variables: everywhere };
    // In the order in which a run meets them, whatever their order in the file.
    for (const key of ['defaults', 'retryPolicies']) {
      this.#workflowField(root, key, { ...around, standing: { kind: 'policy' } });
    }
    this.#rootList(root, 'steps', around);
    this.#workflowField(root, 'output', { ...around, standing: { kind: 'end' } });
    this.#rootList(root, 'onFailure', withVariables(around, ['error', { kind: 'error', mayLack: false }]));
    this.#rootList(root, 'finally', withVariables(around, ['error', { kind: 'error', mayLack: true }]));
    if (root.kind === 'mapping') this.#unplaceUnknown(root, workflowShape);
    const { formulas, conditions, calls, policies, ids, reminders } = this.#fields;
    return {
      items: this.#items,
      roots: this.#roots,
      ...{ formulas, conditions, calls, policies, ids, reminders },
      unplaced: this.#unplaced,
      loopNames: this.#loopNames,
    };
  }

  #workflowField(root: SyntaxNode, key: string, place: Place): void {
    const entry = entryOf(root, key);
    const kind = workflowShape.keys[key];
    if (entry !== undefined && kind !== undefined) this.#fields.field(kind, entry, place);
  }

  #rootList(root: SyntaxNode, name: FlowRoot, around: Surroundings): void {
    this.#root = name;
    const entry = entryOf(root, name);
    if (entry !== undefined) this.#list(entry.value, around, this.#roots[name]);
  }

  #list(node: SyntaxNode, around: Surroundings, siblings: FlowItem[]): void {
    if (node.kind !== 'sequence') return this.#unplace(node);
    for (const item of node.items) this.#item(item, around, siblings);
  }

  #item(node: SyntaxNode, around: Surroundings, siblings: FlowItem[]): void {
    const verb = node.kind === 'mapping' ? onlyVerb(node) : undefined;
    if (node.kind !== 'mapping' || verb === undefined) return this.#unplace(node);
    const id = entryOf(node, 'id')?.value;
    const item: ItemDraft = {
      node,
      verb,
      ...(isText(id) && { id }),
      ...(verb === 'step' && { handler: textOf(entryOf(node, verb)?.value) ?? '' }),
      root: this.#root,
      ...around,
      siblings,
      index: siblings.length,
      bodies: [],
      handlers: [],
    };
    this.#items.push(item);
    siblings.push(item);
    if (isText(id)) this.#fields.ids.push({ node: id, name: id.value });
    this.#inside(node, itemShapes[verb], around, item);
  }

  /** What an item holds: first its own fields, then what is inside its verb, at last its `onError`. */
  #inside(node: MappingNode, shape: Shape, around: Surroundings, item: ItemDraft): void {
    const place: Place = { ...around, standing: { kind: 'field', item } };
    const bodies: [FieldKind, SyntaxNode][] = [];
    let onError: SyntaxNode | undefined;
    if (item.verb === 'step') this.#fields.call('handler', node, place);
    else if (item.verb === 'subWorkflow') this.#fields.call('child', node, place);
    for (const entry of node.entries) {
      const kind = kindOf(shape, entry);
      const { key, value } = entry;
      if (kind === undefined) this.#unplace(value);
      else if (isBody(kind)) bodies.push([kind, value]);
      else if (kind === 'onError') onError = value;
      else if (key.value === 'when') {
        item.when = this.#fields.condition(value, { ...around, standing: { kind: 'when', item } });
      } else if (key.value === 'filter') {
        this.#fields.field(kind, entry, withVariables(place, ['signal', { kind: 'signal', item }]));
      } else if (!isLoopCondition(key.value, item)) this.#fields.field(kind, entry, place);
    }
    for (const [kind, value] of bodies) this.#body(kind, value, around, item);
    if (onError !== undefined) this.#onError(onError, around, item);
  }

  #body(kind: FieldKind, value: SyntaxNode, around: Surroundings, item: ItemDraft): void {
    if (kind === 'branches') {
      if (value.kind !== 'mapping') return this.#unplace(value);
      for (const { key, value: list } of value.entries) {
        const branch = enclosure(item, 'branch', key.value, list);
        item.bodies.push(branch);
        this.#list(list, inside(around, branch), branch.items);
      }
    } else if (kind === 'arms') this.#arms(value, around, item);
    else if (item.verb === 'doWhile' || item.verb === 'doUntil') this.#loop(item.verb, value, around, item);
    else {
      const body = enclosure(item, item.verb === 'forEach' ? 'element' : 'part', 'items', value);
      item.bodies.push(body);
      const within = inside(around, body);
      this.#list(value, item.verb === 'forEach' ? this.#withElement(within, around, item) : within, body.items);
    }
  }

  /** The condition sees what the body does: what the last turn has left. */
  #loop(verb: 'doWhile' | 'doUntil', list: SyntaxNode, around: Surroundings, item: ItemDraft): void {
    const body = enclosure(item, 'turn', 'do', list);
    item.bodies.push(body);
    const within = withVariables(inside(around, body), ['iteration', number]);
    const entry = entryOf(item.node, verb);
    const readCondition = (): void => {
      if (entry !== undefined) {
        item.condition = this.#fields.condition(entry.value, { ...within, standing: { kind: 'turn', item } });
      }
    };
    if (verb === 'doWhile') readCondition();
    this.#list(list, within, body.items);
    if (verb === 'doUntil') readCondition();
  }

  #arms(node: SyntaxNode, around: Surroundings, item: ItemDraft): void {
    if (node.kind !== 'sequence') return this.#unplace(node);
    node.items.forEach((entry, index) => {
      const arm = enclosure(item, 'arm', String(index), entry);
      item.bodies.push(arm);
      const when = entryOf(entry, 'when');
      if (when !== undefined) {
        arm.when = this.#fields.condition(when.value, { ...around, standing: { kind: 'choice', enclosure: arm } });
      }
      const body = entryOf(entry, 'do') ?? entryOf(entry, 'else');
      if (body === undefined) this.#unplace(entry);
      else this.#list(body.value, inside(around, arm), arm.items);
    });
  }

  #withElement(within: Surroundings, around: Surroundings, item: FlowItem): Surroundings {
    const node = entryOf(item.node, 'as')?.value;
    const name = elementName(item);
    const outer = around.within.filter(({ kind }) => kind === 'element').map((each) => elementName(each.item));
    if (isText(node)) this.#loopNames.push({ node, name, outer });
    return withVariables(within, [name, { kind: 'element', item }], ['index', number]);
  }

  #onError(node: SyntaxNode, around: Surroundings, item: ItemDraft): void {
    if (node.kind !== 'sequence') return this.#unplace(node);
    node.items.forEach((entry, index) => {
      const handler = enclosure(item, 'handler', String(index), entry);
      item.handlers.push(handler);
      const within = withVariables(inside(around, handler), ['error', { kind: 'error', mayLack: false }]);
      const when = entryOf(entry, 'when');
      if (when !== undefined) {
        handler.when = this.#fields.condition(when.value, {
          ...within,
          standing: { kind: 'choice', enclosure: handler },
        });
      }
      const body = entryOf(entry, 'do');
      if (body === undefined) this.#unplace(entry);
      else this.#list(body.value, within, handler.items);
    });
  }

  /**
   * Remembers the names in a part that could not be made out (ids, and handlers by which steps may be known), so that
   * nobody is told that they do not exist.
   */
  #unplace(node: SyntaxNode): void {
    if (node.kind === 'sequence') for (const item of node.items) this.#unplace(item);
    if (node.kind !== 'mapping') return;
    for (const { value } of node.entries) {
      if (isText(value)) this.#unplaced.add(value.value);
      else this.#unplace(value);
    }
  }

  #unplaceUnknown(node: MappingNode, shape: Shape): void {
    for (const entry of node.entries) if (kindOf(shape, entry) === undefined) this.#unplace(entry.value);
  }
}

/** The verb of an item; undefined where it has none or several. */
function onlyVerb({ entries }: MappingNode): Verb | undefined {
  let verb: Verb | undefined;
  for (const { key } of entries) {
    if (!isVerb(key.value)) continue;
    if (verb !== undefined) return undefined;
    verb = key.value;
  }
  return verb;
}

function isLoopCondition(key: string, { verb }: FlowItem): boolean {
  return key === verb && (verb === 'doWhile' || verb === 'doUntil');
}

function isBody(kind: FieldKind): boolean {
  return kind === 'items' || kind === 'branches' || kind === 'arms';
}

function enclosure(item: FlowItem, kind: Enclosure['kind'], name: string, node: SyntaxNode): EnclosureDraft {
  return { item, kind, name, node, items: [] };
}

function inside({ within, variables }: Surroundings, enclosure: Enclosure): Surroundings {
  return { variables, within: [...within, enclosure] };
}

/** The name under which a `forEach` binds its element. */
function elementName(item: FlowItem): string {
  // `as: $line` is told where it stands.
  return textOf(entryOf(item.node, 'as')?.value)?.replace(/^\$/, '') ?? 'item';
}
