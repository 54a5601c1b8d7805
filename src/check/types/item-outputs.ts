import { type SyntaxNode, entryOf, isText } from '../../syntax/index.js';
import type { FlowItem, FlowModel } from '../flow-model.js';
import { everywhere } from '../read-flow.js';
import { errorType } from './fixed-types.js';
import type { FlowSources, FlowTypes } from './flow-types.js';
import { schemaAt, typeOfSchema } from './schema-type.js';
import { type Type, absent, listOf, mapOf, never, nullType, optional, present, union, unknown } from './type.js';

/** What the items of a flow give. */
export class ItemOutputs {
  readonly #types: FlowTypes;
  readonly #sources: FlowSources;
  readonly #outputs = new Map<SyntaxNode, Type>();
  #items: ReadonlyMap<SyntaxNode, FlowItem> | undefined;

  constructor(types: FlowTypes, sources: FlowSources) {
    this.#types = types;
    this.#sources = sources;
  }

  /** What the run gives in the end. */
  ofRun(): Type {
    const { root, model } = this.#sources;
    const stated = entryOf(root, 'output');
    const steps = entryOf(root, 'steps');
    const last =
      stated !== undefined
        ? this.#types.typeOfTemplate(stated.value, everywhere)
        : steps === undefined
          ? absent
          : this.#lastOf(steps.value);
    const completions = model.items.filter(({ verb }) => verb === 'complete');
    return union(
      last,
      ...completions.flatMap(({ node, variables }) => {
        const value = entryOf(node, 'complete')?.value;
        return value === undefined ? [] : [this.#types.typeOfTemplate(value, variables)];
      }),
    );
  }

  /** What an item gives; of what could not be made out nothing is known. */
  of(node: SyntaxNode): Type {
    const known = this.#outputs.get(node);
    if (known !== undefined) return known;
    this.#items ??= itemsByNode(this.#sources.model);
    const item = this.#items.get(node);
    if (item === undefined) return unknown;
    this.#outputs.set(node, unknown);
    const own = this.#byVerb(item);
    const onError = entryOf(node, 'onError')?.value;
    const handled = onError?.kind === 'sequence' ? onError.items.map((entry) => this.#lastOf(bodyOf(entry))) : [];
    const skipped = entryOf(node, 'when') === undefined ? never : absent;
    const type = union(own, ...handled, skipped);
    this.#outputs.set(node, type);
    return type;
  }

  /** What the last item of a list that gives something gives. */
  #lastOf(list: SyntaxNode | undefined): Type {
    if (list?.kind !== 'sequence') return list === undefined ? absent : unknown;
    let type: Type = absent;
    for (let index = list.items.length - 1; index >= 0; index--) {
      const item = list.items[index];
      const output = item === undefined ? unknown : this.of(item);
      type = union(present(type), output);
      if (!output.absent) return type;
    }
    return type;
  }

  #byVerb(item: FlowItem): Type {
    const { verb, node, variables } = item;
    const value = entryOf(node, verb)?.value;
    if (value === undefined) return unknown;
    switch (verb) {
      case 'step': {
        const schema = this.#types.handlerOutput(value);
        return schema === undefined ? unknown : typeOfSchema(schema);
      }
      case 'set':
        return this.#types.typeOfTemplate(value, variables);
      case 'group':
        return this.#lastOf(value);
      case 'branch':
        return value.kind === 'sequence' ? union(...value.items.map((arm) => this.#lastOf(bodyOf(arm)))) : unknown;
      case 'parallel': {
        if (value.kind !== 'mapping') return unknown;
        const join = entryOf(node, 'join')?.value;
        const all = join === undefined || (join.kind === 'scalar' && join.value === 'all');
        return mapOf(
          value.entries.map(({ key, value: list }) => {
            const output = this.#lastOf(list);
            return [key.value, all ? output : optional(output)];
          }),
        );
      }
      case 'forEach':
        return this.#turns(item);
      case 'doWhile':
      case 'doUntil': {
        const last = this.#lastOf(entryOf(node, 'do')?.value);
        return verb === 'doWhile' ? optional(last) : last;
      }
      case 'waitFor': {
        const schema = schemaAt(entryOf(node, 'schema')?.value);
        const onTimeout = entryOf(node, 'onTimeout')?.value;
        const instead = onTimeout === undefined ? never : this.#types.typeOfTemplate(onTimeout, variables);
        return schema === undefined ? unknown : union(typeOfSchema(schema), instead);
      }
      case 'subWorkflow': {
        const revision = entryOf(node, 'revision')?.value;
        const number = revision?.kind === 'scalar' && typeof revision.value === 'number' ? revision.value : undefined;
        return isText(value) ? this.#sources.childOutput(value.value, number) : unknown;
      }
      case 'sleep':
      case 'pivot':
      case 'complete':
      case 'fail':
      case 'rethrow':
        return absent;
    }
  }

  #turns(loop: FlowItem): Type {
    const each = this.#lastOf(entryOf(loop.node, 'do')?.value);
    const onItemError = entryOf(loop.node, 'onItemError')?.value;
    const failed =
      onItemError?.kind === 'scalar' && onItemError.value === 'continue' ? mapOf([['error', errorType]]) : never;
    const { min, max } = this.#types.elementsOf(loop);
    return listOf(union(present(each), each.absent ? nullType : never, failed), min, max);
  }
}

/** An item that an alias repeats has no one output. */
function itemsByNode({ items }: FlowModel): ReadonlyMap<SyntaxNode, FlowItem> {
  const found = new Map<SyntaxNode, FlowItem>();
  const repeated = new Set<SyntaxNode>();
  for (const item of items) {
    if (found.has(item.node)) repeated.add(item.node);
    found.set(item.node, item);
  }
  for (const node of repeated) found.delete(node);
  return found;
}

/** The list of an arm or of an entry of `onError`. */
function bodyOf(node: SyntaxNode): SyntaxNode | undefined {
  return (entryOf(node, 'do') ?? entryOf(node, 'else'))?.value;
}
