import { type FieldKind, type Shape, innerShapes } from '../definition/index.js';
import { type MappingEntry, type SyntaxNode, entryOf, isText } from '../syntax/index.js';
import type { Binding, CallUse, Condition, FormulaUse, NameUse, Place, PolicyUse } from './flow-model.js';

const number: Binding = { kind: 'number' };
const failure: Binding = { kind: 'error', mayLack: false };
const failureIfAny: Binding = { kind: 'error', mayLack: true };

/** Gathers what stands in fields: formulas with their places, and names. */
export class FieldReader {
  readonly formulas: FormulaUse[] = [];
  readonly conditions: Condition[] = [];
  readonly calls: CallUse[] = [];
  readonly policies: PolicyUse[] = [];
  readonly ids: NameUse[] = [];
  readonly reminders = new Set<string>();

  field(kind: FieldKind, entry: MappingEntry, place: Place): void {
    const { value } = entry;
    switch (kind) {
      case 'condition':
        this.condition(value, place, entry.key.value === 'filter' ? 'filter' : 'condition');
        return;
      case 'formula':
        this.#formula(value, place, 'time');
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
      case 'time or duration':
      case 'time, duration or never':
        return this.#map(value, innerShapes.until, place);
      case 'retry':
        if (value.kind === 'scalar') return this.#policy(value, place);
        return this.#map(value, innerShapes.retryPolicy, withVariables(place, ['error', failure]));
      case 'retry policies':
        if (value.kind !== 'mapping') return;
        for (const each of value.entries) {
          this.field('retry', each, { ...place, standing: { kind: 'policy', name: each.key.value } });
        }
        return;
      case 'defaults':
        return this.#map(value, innerShapes.defaults, place);
      case 'compensation':
        return this.#compensation(value, place);
      case 'reminder':
        return this.#reminder(value, withVariables(place, ['iteration', number]));
      default:
        return;
    }
  }

  /** What an item or a part of it calls: `step` or `subWorkflow`. */
  call(kind: CallUse['kind'], holder: SyntaxNode, place: Place): void {
    const name = entryOf(holder, kind === 'child' ? 'subWorkflow' : 'step')?.value;
    if (!isText(name)) return;
    const given = entryOf(holder, 'with');
    const revision = entryOf(holder, 'revision')?.value;
    const wanted = revision?.kind === 'scalar' && typeof revision.value === 'number' ? revision.value : undefined;
    this.calls.push({
      kind,
      name,
      ...(wanted !== undefined && { revision: wanted }),
      ...(given !== undefined && { arguments: given }),
      place,
    });
  }

  condition(node: SyntaxNode, place: Place, use: FormulaUse['use'] = 'condition'): Condition | undefined {
    if (node.kind !== 'scalar') return undefined;
    const formula = this.#formula(node, place, use);
    const condition: Condition = {
      node,
      ...(formula !== undefined && { formula }),
      ...(typeof node.value === 'boolean' && { literal: node.value }),
    };
    this.conditions.push(condition);
    return condition;
  }

  #map(node: SyntaxNode, shape: Shape, place: Place): void {
    if (node.kind !== 'mapping') return;
    for (const entry of node.entries) {
      const kind = kindOf(shape, entry);
      if (kind !== undefined) this.field(kind, entry, place);
    }
  }

  #compensation(node: SyntaxNode, place: Place): void {
    if (place.standing.kind !== 'field') return;
    const result: Binding = { kind: 'result', item: place.standing.item };
    const within = withVariables(place, ['result', result], ['error', failureIfAny]);
    this.call('handler', node, within);
    this.#map(node, innerShapes.compensation, within);
  }

  #reminder(node: SyntaxNode, place: Place): void {
    this.call('handler', node, place);
    this.#map(node, innerShapes.reminder, place);
    const id = entryOf(node, 'id')?.value;
    if (!isText(id)) return;
    this.ids.push({ node: id, name: id.value });
    this.reminders.add(id.value);
  }

  #formula(node: SyntaxNode, place: Place, use: FormulaUse['use']): FormulaUse | undefined {
    if (!isText(node)) return undefined;
    const formula: FormulaUse = { node, text: node.value, use, place };
    this.formulas.push(formula);
    return formula;
  }

  #value(node: SyntaxNode, place: Place): void {
    if (node.kind === 'sequence') for (const item of node.items) this.#value(item, place);
    else if (node.kind === 'mapping') for (const { value } of node.entries) this.#value(value, place);
    else if (typeof node.value === 'string' && node.value.startsWith('=')) this.#formula(node, place, 'value');
  }

  #policy(node: SyntaxNode, { standing, variables }: Place): void {
    if (!isText(node)) return;
    const item = standing.kind === 'field' ? standing.item : undefined;
    const ofCompensation = variables.has('result');
    this.policies.push({ node, name: node.value, ofCompensation, ...(item !== undefined && { item }) });
  }
}

export function kindOf(shape: Shape, { key }: MappingEntry): FieldKind | undefined {
  return Object.hasOwn(shape.keys, key.value) ? shape.keys[key.value] : undefined;
}

export function withVariables<P extends Pick<Place, 'variables'>>(
  place: P,
  ...bindings: readonly (readonly [name: string, binding: Binding])[]
): P {
  return { ...place, variables: new Map([...place.variables, ...bindings]) };
}
