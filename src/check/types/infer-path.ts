import type { PathNode, PathStep } from '../../expression/index.js';
import { nearest } from '../../syntax/index.js';
import type { Inference, Scope } from './infer.js';
import { type Spread, collapsed, lastOf, lookup, spreadOf, through } from './spread.js';
import {
  type MapType,
  type Type,
  absent,
  anything,
  describeType,
  isNever,
  listOf,
  never,
  optional,
  present,
  union,
  unknown,
} from './type.js';

/** What was seen on the way through a path. */
export interface PathFacts {
  /** Whether it goes on from a list with the fields of its items, all of them. */
  readonly crossesList: boolean;
  /** Whether it does so with all items of a list that is known to be one, so that it may be one value or a list. */
  readonly mayCollapse: boolean;
  /** Of a path into the input: the first field on it that may be missing, with the names that lead there. */
  readonly optional?: { readonly path: readonly string[]; readonly step: { start: number; end: number } };
  /** Whether it is a variable and names alone. */
  readonly isPlain: boolean;
}

/** The type of a path, each of whose names is looked for where it leads. */
export function inferPath(inference: Inference, node: PathNode, scope: Scope): Type {
  return new PathWalk(inference, node, scope).walk();
}

class PathWalk {
  #crossesList = false;
  #optional: PathFacts['optional'];
  #names: string[] | undefined;

  constructor(
    private readonly inference: Inference,
    private readonly node: PathNode,
    private readonly scope: Scope,
  ) {}

  walk(): Type {
    const { node, inference } = this;
    const { steps, group } = node;
    let result = this.#steps(steps);
    if (steps.some(({ keepsList }) => keepsList)) result = kept(result, steps.length === 1 && steps[0].kind !== 'name');
    if (group !== undefined) result = inference.group(group.pairs, spreadOf(result).items, this.scope);
    inference.paths.set(node, {
      crossesList: this.#crossesList,
      mayCollapse: this.#crossesList && group === undefined && isUnfiltered(steps) && isOneOrList(result),
      ...(this.#optional && { optional: this.#optional }),
      isPlain: group === undefined && steps.every(isPlainStep),
    });
    return result;
  }

  #steps(steps: readonly PathStep[]): Type {
    const { inference, scope } = this;
    const [first] = steps;
    if (first === undefined) return unknown;
    const isStrange = steps.some(
      (step) =>
        step.focus !== undefined ||
        step.stages.some(({ kind }) => kind === 'index') ||
        step.kind === 'parent' ||
        step.kind === 'descendant',
    );
    let spread: Spread;
    let type: Type;
    let next = 1;
    if (first.kind === 'expression') {
      const known = this.#start(first, steps[1]);
      type = known.type;
      next = known.next;
      const stages = next === 2 ? steps[1]?.stages : first.stages;
      if (stages !== undefined && stages.length > 0) type = this.#staged(stages, type);
      spread = spreadOf(type);
    } else {
      spread = spreadOf(scope.role === 'items' ? scope.context : unknown);
      type = this.#step(first, spread);
      spread = through(spread, type);
      if (steps.length === 1)
        return isStrange ? unknown : lastOf(spreadOf(scope.role === 'items' ? scope.context : unknown), type);
    }
    for (let index = next; index < steps.length; index++) {
      const step = steps[index] as PathStep;
      const isLast = index === steps.length - 1;
      if (step.kind === 'sort') {
        for (const term of step.terms) inference.infer(term.node, this.#inside(spread.items));
        const list = listOf(spread.items, spread.min, spread.max);
        type = step.stages.length === 0 ? union(collapsed(spread), list) : this.#staged(step.stages, list);
        spread = spreadOf(type);
        continue;
      }
      const each = this.#step(step, spread);
      const before = spread;
      spread = through(spread, each);
      type = isLast ? lastOf(before, each) : collapsed(spread);
      // `.[…]` at the end gives each item a list of its own.
      if (isLast && step.kind === 'expression' && step.node.kind === 'list' && before.max > 1) {
        type = union(type, listOf(present(each)));
      }
    }
    return isStrange ? unknown : type;
  }

  /** The value that the path begins with: a variable, an output of a step, or what an expression gives. */
  #start(first: PathStep & { kind: 'expression' }, second: PathStep | undefined): { type: Type; next: number } {
    const { node } = first;
    if (node.kind === 'variable' && !node.own && first.stages.length === 0 && first.focus === undefined) {
      if (node.name === 'steps' && second?.kind === 'name') {
        return { type: this.inference.world.step(second.name) ?? unknown, next: 2 };
      }
      if (node.name === 'input') this.#names = [];
    }
    return { type: this.inference.infer(node, this.scope), next: 1 };
  }

  /** What a step gives for one of the values before it. */
  #step(step: PathStep, spread: Spread): Type {
    let each: Type;
    switch (step.kind) {
      case 'name':
        each = this.#field(step.name, step.nameSpan, spread, step);
        break;
      case 'expression':
        each = this.inference.infer(step.node, this.#inside(spread.items));
        this.#names = undefined;
        break;
      default:
        each = unknown;
        this.#names = undefined;
    }
    if (step.stages.length === 0) return each;
    this.#names = undefined;
    return this.#staged(step.stages, each);
  }

  #field(name: string, span: { start: number; end: number }, spread: Spread, step: PathStep): Type {
    const { items, max } = spread;
    if (max === 0) return unknown;
    if (max > 1 && !items.anything) this.#crossesList = true;
    const { inference } = this;
    const type = lookup(items, name);
    const maps = mapsOf(items);
    if (!items.anything && isNever(present(type))) {
      const owner = inference.textOf({ start: this.node.start, end: this.#ownerEnd(step) });
      if (maps.length > 0) {
        const fields = maps.flatMap((map) =>
          [...map.fields].flatMap(([field, of]) => (isNever(present(of)) ? [] : [field])),
        );
        inference.missing(owner, name, span, fields);
      } else if (!isNever({ ...items, null: false })) {
        const what = max > 1 ? `the items of \`${owner}\` are` : `\`${owner}\` is`;
        const message = `${what} ${describeType(items)}, which has no fields`;
        inference.report(
          'RS4030',
          'error',
          span,
          message,
          `write \`${owner}\` alone, or read a field of something else`,
        );
      }
      this.#names = undefined;
      return unknown;
    }
    const [map] = maps;
    if (map !== undefined && maps.length === 1 && !map.fields.has(name) && map.fields.size > 0) {
      const guess = nearest(name, map.fields.keys());
      const owner = inference.textOf({ start: this.node.start, end: this.#ownerEnd(step) });
      if (guess !== undefined) {
        const message = `\`${owner}\` declares no ${JSON.stringify(name)}`;
        inference.report('RS4031', 'warning', span, message, `did you mean \`${guess}\`? Otherwise declare it`);
        this.#names = undefined;
        return unknown;
      }
    }
    this.#follow(name, span, spread, type, map);
    return type;
  }

  /** Keeps the way through the input, as long as it is a plain one. */
  #follow(
    name: string,
    span: { start: number; end: number },
    { max }: Spread,
    type: Type,
    map: MapType | undefined,
  ): void {
    if (this.#names === undefined) return;
    if (max > 1 || map === undefined) {
      this.#names = undefined;
      return;
    }
    this.#names.push(name);
    if (type.absent && map.isMerged !== true && map.fields.has(name))
      this.#optional ??= { path: [...this.#names], step: span };
    if (type.anything) this.#names = undefined;
  }

  #ownerEnd(step: PathStep): number {
    const index = this.node.steps.indexOf(step);
    const before = this.node.steps[index - 1];
    return before?.stages.at(-1)?.end ?? before?.end ?? step.start;
  }

  /** What predicates leave of a value. */
  #staged(stages: PathStep['stages'], type: Type): Type {
    let spread = spreadOf(type);
    let whole = never;
    for (const stage of stages) {
      if (stage.kind === 'index') continue;
      const { node } = stage;
      whole = never;
      if (node.kind === 'literal' && typeof node.value === 'number') {
        const at = Math.floor(node.value);
        const needed = at < 0 ? -at : at + 1;
        const { items, min, max } = spread;
        if (max < needed) return absent;
        // An item that is a list itself goes on as its items, and stays one at the end.
        spread = spreadOf(min >= needed ? items : optional(items));
        whole = items.anything ? listOf(anything) : { ...never, list: items.list };
      } else {
        this.inference.infer(node, this.#inside(spread.items));
        spread = { items: spread.items, min: 0, max: spread.max };
      }
    }
    return union(collapsed(spread), whole);
  }

  #inside(context: Type): Scope {
    return { ...this.scope, context, role: 'items' };
  }
}

/** An author who filters, sorts or picks has thought of how many there are. */
function isUnfiltered(steps: readonly PathStep[]): boolean {
  const [first] = steps;
  if (first?.kind !== 'expression' || first.node.kind !== 'variable') return false;
  return steps.every((step) => step.stages.length === 0 && !step.keepsList && step.kind !== 'sort');
}

function isOneOrList(type: Type): boolean {
  return !type.anything && type.list !== undefined && !isNever({ ...present(type), list: undefined });
}

function isPlainStep(step: PathStep, index: number): boolean {
  if (step.stages.length > 0 || step.keepsList || step.focus !== undefined) return false;
  return index === 0 ? step.kind === 'expression' && step.node.kind === 'variable' : step.kind === 'name';
}

function mapsOf(type: Type): MapType[] {
  return [...(type.map ? [type.map] : []), ...(type.list ? mapsOf(type.list.items) : [])];
}

/** The type with `[]`: what would be one value is a list of it. */
function kept(type: Type, mayStay: boolean): Type {
  const { items, min, max } = spreadOf(type);
  const list = listOf(items, type.list === undefined ? 1 : Math.min(1, type.list.min), Math.max(max, 1));
  return union(isNever(items) ? never : list, type.absent || min === 0 ? absent : never, mayStay ? type : never);
}
