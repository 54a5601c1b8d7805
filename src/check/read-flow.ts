import { type FieldKind, type Shape, innerShapes, isVerb, itemShapes, workflowShape } from '../definition/index.js';
import { type MappingEntry, type MappingNode, type SyntaxNode, entryOf, isText, textOf } from '../syntax/index.js';
import type {
  Condition,
  Enclosure,
  FlowItem,
  FlowModel,
  FlowRoot,
  FormulaUse,
  NameUse,
  Place,
  PolicyUse,
} from './flow-model.js';

/** Variables that have a value everywhere. */
const everywhere: readonly string[] = ['input', 'constants', 'steps', 'workflow', 'run'];

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
  readonly #formulas: FormulaUse[] = [];
  readonly #conditions: Condition[] = [];
  readonly #handlers: NameUse[] = [];
  readonly #policies: PolicyUse[] = [];
  readonly #ids: NameUse[] = [];
  readonly #reminders = new Set<string>();
  readonly #unplaced = new Set<string>();
  readonly #loopNames: FlowModel['loopNames'][number][] = [];
  #root: FlowRoot = 'steps';

  read(root: SyntaxNode): FlowModel {
    const around: Surroundings = { within: [], variables: new Set(everywhere) };
    const failed = withVariables(around, 'error');
    // In the order in which a run meets them, whatever their order in the file.
    for (const key of ['defaults', 'retryPolicies']) {
      this.#workflowField(root, key, { ...around, standing: { kind: 'policy' } });
    }
    this.#rootList(root, 'steps', around);
    this.#workflowField(root, 'output', { ...around, standing: { kind: 'end' } });
    this.#rootList(root, 'onFailure', failed);
    this.#rootList(root, 'finally', failed);
    this.#unplaceUnknown(root, workflowShape);
    return {
      items: this.#items,
      roots: this.#roots,
      formulas: this.#formulas,
      conditions: this.#conditions,
      handlers: this.#handlers,
      policies: this.#policies,
      ids: this.#ids,
      reminders: this.#reminders,
      unplaced: this.#unplaced,
      loopNames: this.#loopNames,
    };
  }

  #workflowField(root: SyntaxNode, key: string, place: Place): void {
    const entry = entryOf(root, key);
    const kind = workflowShape.keys[key];
    if (entry !== undefined && kind !== undefined) this.#field(kind, entry, place);
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
    const found = node.kind === 'mapping' ? node.entries.filter(({ key }) => isVerb(key.value)) : [];
    const [entry, second] = found;
    if (node.kind !== 'mapping' || entry === undefined || second !== undefined || !isVerb(entry.key.value)) {
      return this.#unplace(node);
    }
    const verb = entry.key.value;
    const id = entryOf(node, 'id')?.value;
    const item: ItemDraft = {
      node,
      verb,
      ...(isText(id) && { id }),
      ...(verb === 'step' && { handler: textOf(entry.value) ?? '' }),
      root: this.#root,
      within: around.within,
      siblings,
      index: siblings.length,
      bodies: [],
      handlers: [],
    };
    this.#items.push(item);
    siblings.push(item);
    if (isText(id)) this.#ids.push({ node: id, name: id.value });
    this.#fields(node, itemShapes[verb], around, item);
  }

  /** The fields of an item: first its own, then what is inside its verb, at last its `onError`. */
  #fields(node: MappingNode, shape: Shape, around: Surroundings, item: ItemDraft): void {
    const place: Place = { ...around, standing: { kind: 'field', item } };
    this.#unplaceUnknown(node, shape);
    for (const entry of node.entries) {
      const kind = kindOf(shape, entry);
      if (kind === undefined || isBody(kind) || kind === 'onError' || isLoopCondition(entry, item)) continue;
      if (entry.key.value === 'when') {
        item.when = this.#condition(entry.value, { ...around, standing: { kind: 'when', item } });
      } else this.#field(kind, entry, entry.key.value === 'filter' ? withVariables(place, 'signal') : place);
    }
    for (const entry of node.entries) {
      const kind = kindOf(shape, entry);
      if (kind !== undefined && isBody(kind)) this.#body(kind, entry, around, item);
    }
    const onError = entryOf(node, 'onError');
    if (onError !== undefined) this.#onError(onError.value, around, item);
  }

  #body(kind: FieldKind, { value }: MappingEntry, around: Surroundings, item: ItemDraft): void {
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
    const within = withVariables(inside(around, body), 'iteration');
    const entry = entryOf(item.node, verb);
    const readCondition = (): void => {
      if (entry !== undefined) {
        item.condition = this.#condition(entry.value, { ...within, standing: { kind: 'turn', item } });
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
        arm.when = this.#condition(when.value, { ...around, standing: { kind: 'choice', enclosure: arm } });
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
    return withVariables(within, name, 'index');
  }

  #onError(node: SyntaxNode, around: Surroundings, item: ItemDraft): void {
    if (node.kind !== 'sequence') return this.#unplace(node);
    node.items.forEach((entry, index) => {
      const handler = enclosure(item, 'handler', String(index), entry);
      item.handlers.push(handler);
      const within = withVariables(inside(around, handler), 'error');
      const when = entryOf(entry, 'when');
      if (when !== undefined) {
        handler.when = this.#condition(when.value, { ...within, standing: { kind: 'choice', enclosure: handler } });
      }
      const body = entryOf(entry, 'do');
      if (body === undefined) this.#unplace(entry);
      else this.#list(body.value, within, handler.items);
    });
  }

  #field(kind: FieldKind, entry: MappingEntry, place: Place): void {
    const { value } = entry;
    switch (kind) {
      case 'condition':
        this.#condition(value, place, entry.key.value === 'filter' ? 'filter' : 'condition');
        return;
      case 'formula':
        this.#formula(value, place, 'value');
        return;
      case 'list':
        if (value.kind !== 'scalar') return this.#value(value, place);
        this.#formula(value, place, 'list');
        return;
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
        if (value.kind === 'scalar') return this.#policy(value, place);
        return this.#map(value, innerShapes.retryPolicy, withVariables(place, 'error'));
      case 'retry policies':
        if (value.kind !== 'mapping') return;
        for (const each of value.entries) {
          this.#field('retry', each, { ...place, standing: { kind: 'policy', name: each.key.value } });
        }
        return;
      case 'defaults':
        return this.#map(value, innerShapes.defaults, place);
      case 'compensation':
        return this.#map(value, innerShapes.compensation, withVariables(place, 'result', 'error'));
      case 'reminder':
        return this.#reminder(value, withVariables(place, 'iteration'));
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
    const id = entryOf(node, 'id')?.value;
    if (!isText(id)) return;
    this.#ids.push({ node: id, name: id.value });
    this.#reminders.add(id.value);
  }

  #formula(node: SyntaxNode, place: Place, use: FormulaUse['use']): FormulaUse | undefined {
    if (!isText(node)) return undefined;
    const formula: FormulaUse = { node, text: node.value, use, place };
    this.#formulas.push(formula);
    return formula;
  }

  #condition(node: SyntaxNode, place: Place, use: FormulaUse['use'] = 'condition'): Condition | undefined {
    if (node.kind !== 'scalar') return undefined;
    const formula = this.#formula(node, place, use);
    const condition: Condition = {
      node,
      ...(formula !== undefined && { formula }),
      ...(typeof node.value === 'boolean' && { literal: node.value }),
    };
    this.#conditions.push(condition);
    return condition;
  }

  #value(node: SyntaxNode, place: Place): void {
    if (node.kind === 'sequence') for (const item of node.items) this.#value(item, place);
    else if (node.kind === 'mapping') for (const { value } of node.entries) this.#value(value, place);
    else if (typeof node.value === 'string' && node.value.startsWith('=')) this.#formula(node, place, 'value');
  }

  #name(node: SyntaxNode, uses: NameUse[]): void {
    if (isText(node)) uses.push({ node, name: node.value });
  }

  #policy(node: SyntaxNode, { standing, variables }: Place): void {
    if (!isText(node)) return;
    const item = standing.kind === 'field' ? standing.item : undefined;
    const ofCompensation = variables.has('result');
    this.#policies.push({ node, name: node.value, ofCompensation, ...(item !== undefined && { item }) });
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

  #unplaceUnknown(node: SyntaxNode, shape: Shape): void {
    if (node.kind !== 'mapping') return;
    for (const entry of node.entries) if (kindOf(shape, entry) === undefined) this.#unplace(entry.value);
  }
}

function isLoopCondition({ key }: MappingEntry, { verb }: FlowItem): boolean {
  return key.value === verb && (verb === 'doWhile' || verb === 'doUntil');
}

function isBody(kind: FieldKind): boolean {
  return kind === 'items' || kind === 'branches' || kind === 'arms';
}

function kindOf(shape: Shape, { key }: MappingEntry): FieldKind | undefined {
  return Object.hasOwn(shape.keys, key.value) ? shape.keys[key.value] : undefined;
}

function enclosure(item: FlowItem, kind: Enclosure['kind'], name: string, node: SyntaxNode): EnclosureDraft {
  return { item, kind, name, node, items: [] };
}

function inside({ within, variables }: Surroundings, enclosure: Enclosure): Surroundings {
  return { variables, within: [...within, enclosure] };
}

function withVariables<P extends Surroundings>(place: P, ...names: string[]): P {
  return { ...place, variables: new Set([...place.variables, ...names]) };
}

/** The name under which a `forEach` binds its element. */
function elementName(item: FlowItem): string {
  return textOf(entryOf(item.node, 'as')?.value) ?? 'item';
}
