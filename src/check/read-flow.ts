import {
  type FieldKind,
  type Shape,
  type Verb,
  innerShapes,
  isVerb,
  itemShapes,
  workflowShape,
} from '../definition/index.js';
import { type MappingEntry, type MappingNode, type ScalarNode, type SyntaxNode, entryOf } from '../syntax/index.js';
import type { Enclosure, FlowItem, FlowModel, FormulaUse, NameUse, Place } from './flow-model.js';

/** Variables that have a value everywhere. */
const everywhere: readonly string[] = ['input', 'constants', 'steps', 'workflow', 'run'];

/**
 * Gathers what the checks look at. It follows the table of shapes and passes over what does not fit it, which the
 * shape walk reports: a file with mistakes is read as far as it can be.
 */
export function readFlow(root: SyntaxNode): FlowModel {
  return new FlowReader().read(root);
}

/** A list of items still to be walked: what is around it is known only once its item is. */
type Surroundings = Pick<Place, 'within' | 'variables'>;

class FlowReader {
  #position = 0;
  readonly #items: FlowItem[] = [];
  readonly #formulas: FormulaUse[] = [];
  readonly #handlers: NameUse[] = [];
  readonly #policies: NameUse[] = [];
  readonly #ids: NameUse[] = [];
  readonly #reminders = new Set<string>();
  readonly #unplaced = new Set<string>();
  readonly #loopNames: FlowModel['loopNames'][number][] = [];

  read(root: SyntaxNode): FlowModel {
    const around: Surroundings = { within: [], variables: new Set(everywhere) };
    const failed = withVariables(around, 'error');
    // In the order in which a run meets them, whatever their order in the file.
    for (const key of ['defaults', 'retryPolicies']) this.#workflowField(root, key, around);
    this.#workflowField(root, 'steps', around);
    this.#workflowField(root, 'output', around);
    this.#workflowField(root, 'onFailure', failed);
    this.#workflowField(root, 'finally', failed);
    this.#unplaceUnknown(root, workflowShape);
    return {
      items: this.#items,
      formulas: this.#formulas,
      handlers: this.#handlers,
      policies: this.#policies,
      ids: this.#ids,
      reminders: this.#reminders,
      unplaced: this.#unplaced,
      loopNames: this.#loopNames,
    };
  }

  #workflowField(root: SyntaxNode, key: string, around: Surroundings): void {
    const entry = entryOf(root, key);
    const kind = workflowShape.keys[key];
    if (entry === undefined || kind === undefined) return;
    // A policy is used by many steps, so nothing is known of what has run before it.
    const position = kind === 'defaults' || kind === 'retry policies' ? undefined : this.#next();
    this.#field(kind, entry, { ...around, position });
  }

  #list(node: SyntaxNode, around: Surroundings): void {
    if (node.kind !== 'sequence') return this.#unplace(node);
    for (const item of node.items) this.#item(item, around);
  }

  #item(node: SyntaxNode, around: Surroundings): void {
    const found = node.kind === 'mapping' ? node.entries.filter(({ key }) => isVerb(key.value)) : [];
    const [entry, second] = found;
    if (node.kind !== 'mapping' || entry === undefined || second !== undefined || !isVerb(entry.key.value)) {
      return this.#unplace(node);
    }
    const verb = entry.key.value;
    const id = textNode(entryOf(node, 'id')?.value);
    const item: FlowItem = {
      node,
      verb,
      ...(id !== undefined && { id }),
      ...(verb === 'step' && { handler: textNode(entry.value)?.value ?? '' }),
      within: around.within,
      enters: this.#next(),
      leaves: Infinity,
    };
    this.#items.push(item);
    if (id !== undefined) this.#ids.push({ node: id, name: id.value });
    this.#fields(node, itemShapes[verb], { ...around, position: item.enters }, item);
    item.leaves = this.#next();
  }

  /** The fields of an item: first its own, then what is inside its verb, at last its `onError`. */
  #fields(node: MappingNode, shape: Shape, place: Place, item: FlowItem): void {
    const { verb } = item;
    this.#unplaceUnknown(node, shape);
    for (const entry of node.entries) {
      const kind = kindOf(shape, entry);
      if (kind === undefined || isBody(kind) || kind === 'onError') continue;
      this.#field(kind, entry, ownPlace(entry.key.value, verb, place, item), item);
    }
    for (const entry of node.entries) {
      const kind = kindOf(shape, entry);
      if (kind !== undefined && isBody(kind)) this.#body(kind, entry, place, item);
    }
    if (verb === 'doUntil') this.#untilCondition(node, place, item);
    const onError = entryOf(node, 'onError');
    if (onError !== undefined) this.#onError(onError.value, place, item);
  }

  #body(kind: FieldKind, { value }: MappingEntry, place: Surroundings, item: FlowItem): void {
    if (kind === 'branches') {
      if (value.kind !== 'mapping') return this.#unplace(value);
      for (const branch of value.entries) this.#list(branch.value, inside(place, item, 'branch', branch.key.value));
    } else if (kind === 'arms') this.#arms(value, place, item);
    else if (item.verb === 'forEach') this.#list(value, this.#element(place, item));
    else if (item.verb === 'doWhile' || item.verb === 'doUntil') {
      this.#list(value, withVariables(inside(place, item, 'turn', 'do'), 'iteration'));
    } else this.#list(value, inside(place, item, 'part', 'items'));
  }

  #arms(node: SyntaxNode, place: Surroundings, item: FlowItem): void {
    if (node.kind !== 'sequence') return this.#unplace(node);
    node.items.forEach((arm, index) => {
      const when = entryOf(arm, 'when');
      if (when !== undefined) this.#formula(when.value, { ...place, position: this.#next() });
      const body = entryOf(arm, 'do') ?? entryOf(arm, 'else');
      if (body === undefined) this.#unplace(arm);
      else this.#list(body.value, inside(place, item, 'arm', String(index)));
    });
  }

  #element(place: Surroundings, item: FlowItem): Surroundings {
    const node = textNode(entryOf(item.node, 'as')?.value);
    const name = node?.value ?? 'item';
    const outer = place.within.filter(({ kind }) => kind === 'element').map((each) => elementName(each.item));
    if (node !== undefined) this.#loopNames.push({ node, name, outer });
    return withVariables(inside(place, item, 'element', 'do'), name, 'index');
  }

  /** It is checked after each turn, so that it sees what the turn has left. */
  #untilCondition(node: MappingNode, place: Surroundings, item: FlowItem): void {
    const entry = entryOf(node, 'doUntil');
    if (entry === undefined) return;
    const around = withVariables(inside(place, item, 'turn', 'doUntil'), 'iteration');
    this.#formula(entry.value, { ...around, position: this.#next() });
  }

  #onError(node: SyntaxNode, place: Surroundings, item: FlowItem): void {
    if (node.kind !== 'sequence') return this.#unplace(node);
    node.items.forEach((entry, index) => {
      const around = withVariables(inside(place, item, 'handler', String(index)), 'error');
      const when = entryOf(entry, 'when');
      if (when !== undefined) this.#formula(when.value, { ...around, position: this.#next() });
      const body = entryOf(entry, 'do');
      if (body === undefined) this.#unplace(entry);
      else this.#list(body.value, around);
    });
  }

  #field(kind: FieldKind, entry: MappingEntry, place: Place, item?: FlowItem): void {
    const { value } = entry;
    switch (kind) {
      case 'condition':
      case 'formula':
        if (item?.verb !== 'doUntil' || entry.key.value !== 'doUntil') this.#formula(value, place);
        return;
      case 'list':
        return value.kind === 'scalar' ? this.#formula(value, place) : this.#value(value, place);
      case 'value':
      case 'message':
      case 'step arguments':
      case 'child arguments':
        return this.#value(value, place);
      case 'handler':
        return this.#name(value, this.#handlers);
      case 'time or duration':
      case 'time, duration or never':
        return this.#map(value, innerShapes.until, place);
      case 'retry':
        if (value.kind === 'scalar') return this.#name(value, this.#policies);
        return this.#map(value, innerShapes.retryPolicy, withVariables(place, 'error'));
      case 'retry policies':
        if (value.kind === 'mapping') for (const each of value.entries) this.#field('retry', each, place);
        return;
      case 'defaults':
        return this.#map(value, innerShapes.defaults, place);
      case 'compensation':
        return this.#map(value, innerShapes.compensation, withVariables(place, 'result', 'error'));
      case 'reminder':
        return this.#reminder(value, withVariables(place, 'iteration'));
      case 'items':
        return this.#list(value, place);
      default:
        return;
    }
  }

  #map(node: SyntaxNode, shape: Shape, place: Place): void {
    if (node.kind !== 'mapping') return;
    for (const entry of node.entries) {
      const kind = kindOf(shape, entry);
      if (kind !== undefined) this.#field(kind, entry, place);
    }
  }

  #reminder(node: SyntaxNode, place: Place): void {
    this.#map(node, innerShapes.reminder, place);
    const id = textNode(entryOf(node, 'id')?.value);
    if (id === undefined) return;
    this.#ids.push({ node: id, name: id.value });
    this.#reminders.add(id.value);
  }

  #formula(node: SyntaxNode, place: Place): void {
    if (node.kind === 'scalar' && typeof node.value === 'string') {
      this.#formulas.push({ node, text: node.value, place });
    }
  }

  #value(node: SyntaxNode, place: Place): void {
    if (node.kind === 'sequence') for (const item of node.items) this.#value(item, place);
    else if (node.kind === 'mapping') for (const { value } of node.entries) this.#value(value, place);
    else if (typeof node.value === 'string' && node.value.startsWith('=')) this.#formula(node, place);
  }

  #name(node: SyntaxNode, uses: NameUse[]): void {
    const text = textNode(node);
    if (text !== undefined) uses.push({ node: text, name: text.value });
  }

  /**
   * Remembers the names in a part that could not be made out (ids, and handlers by which steps may be known), so that
   * nobody is told that they do not exist.
   */
  #unplace(node: SyntaxNode): void {
    if (node.kind === 'sequence') for (const item of node.items) this.#unplace(item);
    if (node.kind !== 'mapping') return;
    for (const { value } of node.entries) {
      const text = textNode(value);
      if (text === undefined) this.#unplace(value);
      else this.#unplaced.add(text.value);
    }
  }

  #unplaceUnknown(node: SyntaxNode, shape: Shape): void {
    if (node.kind !== 'mapping') return;
    for (const entry of node.entries) if (kindOf(shape, entry) === undefined) this.#unplace(entry.value);
  }

  #next(): number {
    this.#position += 1;
    return this.#position;
  }
}

/** What an item's own fields see; conditions of loops and filters see more than what stands beside them. */
function ownPlace(key: string, verb: Verb, place: Place, item: FlowItem): Place {
  if (key === 'filter') return withVariables(place, 'signal');
  if (key === 'doWhile' && verb === 'doWhile') {
    return withVariables({ ...inside(place, item, 'turn', key), position: place.position }, 'iteration');
  }
  return place;
}

function isBody(kind: FieldKind): boolean {
  return kind === 'items' || kind === 'branches' || kind === 'arms';
}

function kindOf(shape: Shape, { key }: MappingEntry): FieldKind | undefined {
  return Object.hasOwn(shape.keys, key.value) ? shape.keys[key.value] : undefined;
}

function inside(place: Surroundings, item: FlowItem, kind: Enclosure['kind'], name: string): Surroundings {
  return { variables: place.variables, within: [...place.within, { item, kind, name }] };
}

function withVariables<P extends Surroundings>(place: P, ...names: string[]): P {
  return { ...place, variables: new Set([...place.variables, ...names]) };
}

/** The name under which a `forEach` binds its element. */
export function elementName(item: FlowItem): string {
  return textNode(entryOf(item.node, 'as')?.value)?.value ?? 'item';
}

function textNode(node: SyntaxNode | undefined): (ScalarNode & { readonly value: string }) | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string'
    ? (node as ScalarNode & { value: string })
    : undefined;
}
