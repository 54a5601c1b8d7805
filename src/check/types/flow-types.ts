import { type JsonObject, type JsonValue, isJsonObject } from '../../common/index.js';
import { type Verb, isVerb } from '../../definition/index.js';
import { functionNames, inspectFormula } from '../../expression/index.js';
import type { HandlerCatalogue } from '../../handlers/index.js';
import {
  type MappingEntry,
  type MappingNode,
  type SyntaxNode,
  type TextNode,
  entryOf,
  isText,
  textOf,
  toValue,
} from '../../syntax/index.js';
import { errorIfFailed, errorType, runType, workflowType } from './fixed-types.js';
import { type FlowScope, withConditions, withVariables } from './flow-scope.js';
import { Inference, outermost } from './infer.js';
import { typeOfSchema, typeOfValue } from './schema-type.js';
import { spreadOf } from './spread.js';
import {
  type Type,
  absent,
  anything,
  listOf,
  mapOf,
  never,
  nullType,
  numberType,
  optional,
  present,
  union,
  unknown,
  widened,
} from './type.js';

/** What the types of a flow are read from. */
export interface FlowSources {
  readonly root: SyntaxNode;
  /** Absent if nothing is known of the input. */
  readonly inputSchema?: JsonObject | undefined;
  readonly handlers?: HandlerCatalogue | undefined;
  /** The item that `$steps.<name>` stands for. */
  readonly itemNamed: (name: string) => SyntaxNode | undefined;
  /** What a child gives. */
  readonly childOutput: (name: string, revision: number | undefined) => Type;
  readonly help?: (owner: string, name: string, fields: readonly string[]) => string | undefined;
  /** Formulas that read as something else than they mean, which is told: their types say nothing. */
  readonly misread: ReadonlySet<SyntaxNode>;
}

/** What becomes of a formula's value. `time` is an `until`. */
export type UseKind = 'condition' | 'value' | 'list' | 'time';

export interface TypedUse {
  readonly kind: UseKind;
  readonly node: TextNode;
  readonly scope: FlowScope;
}

/** A handler or a workflow that is called. */
export interface TypedCall {
  readonly kind: 'handler' | 'child';
  readonly name: TextNode;
  readonly revision?: number;
  readonly arguments?: MappingEntry | undefined;
  readonly scope: FlowScope;
}

export interface TypedFormula {
  readonly type: Type;
  readonly inference: Inference;
}

/** The types of a flow: of its variables, its formulas, and what its items give. Each found out when first asked for. */
export class FlowTypes {
  readonly uses: TypedUse[] = [];
  readonly calls: TypedCall[] = [];
  readonly #items = new Map<SyntaxNode, { verb: Verb; scope: FlowScope }>();
  readonly #outputs = new Map<SyntaxNode, Type>();
  readonly #formulas = new Map<SyntaxNode, Map<FlowScope, TypedFormula>>();
  readonly #completions: { node: SyntaxNode; scope: FlowScope }[] = [];
  readonly #everywhere: FlowScope;

  constructor(private readonly sources: FlowSources) {
    const { root, inputSchema } = sources;
    const constants = entryOf(root, 'constants')?.value;
    this.#everywhere = withVariables(
      { variables: new Map(), conditions: [] },
      {
        input: () => (inputSchema === undefined ? unknown : typeOfSchema(inputSchema, { fillsDefaults: true })),
        constants: () => (constants === undefined ? mapOf([]) : widened(typeOfValue(toValue(constants)))),
        workflow: () => workflowType,
        run: () => runType,
      },
    );
    this.#readAll();
  }

  /** What the run gives in the end. */
  output(): Type {
    const { root } = this.sources;
    const stated = entryOf(root, 'output');
    const steps = entryOf(root, 'steps');
    const last =
      stated !== undefined
        ? this.typeOfTemplate(stated.value, this.#everywhere)
        : steps === undefined
          ? absent
          : this.#lastOutput(steps.value);
    return union(last, ...this.#completions.map(({ node, scope }) => this.typeOfTemplate(node, scope)));
  }

  /** The type of a formula where it stands; undefined for a text that is none. */
  formula(node: TextNode, scope: FlowScope): TypedFormula | undefined {
    // What an alias repeats is one node in several places.
    const byScope = this.#formulas.get(node) ?? new Map<FlowScope, TypedFormula>();
    this.#formulas.set(node, byScope);
    const known = byScope.get(scope);
    if (known !== undefined) return known;
    const inspected = inspectFormula(node.value);
    const { help, misread } = this.sources;
    if (!inspected.ok || misread.has(node)) return undefined;
    const inference = new Inference(
      node.value,
      {
        variable: (name) => scope.variables.get(name)?.(),
        step: (id) => this.#step(id),
        ...(help !== undefined && { help }),
      },
      inspected.tree,
    );
    // A loop that reads what its last turn left comes back here: then nothing is known yet.
    byScope.set(scope, { type: unknown, inference });
    const type = inference.infer(inspected.tree, outermost);
    // What a name that does not exist was meant to be nobody knows.
    const isSound = inspected.free.every(({ node: { name } }) => scope.variables.has(name) || isKnownName(name));
    const typed = { type: isSound ? type : unknown, inference };
    byScope.set(scope, typed);
    return typed;
  }

  /** The type of a value with formulas at any depth. Literal texts and numbers are kept only where `exact`. */
  typeOfTemplate(node: SyntaxNode, scope: FlowScope, options: { exact?: boolean } = {}): Type {
    switch (node.kind) {
      case 'scalar': {
        if (isFormula(node)) return present(this.formula(node, scope)?.type ?? anything);
        const literal = typeOfValue(node.value);
        return options.exact === true ? literal : widened(literal);
      }
      case 'sequence': {
        const items = node.items.map((item) => this.typeOfTemplate(item, scope, options));
        return listOf(union(...items), items.length, items.length);
      }
      case 'mapping':
        if (node.entries.some(({ key }) => key.value === '$secret')) return anything;
        return mapOf(node.entries.map(({ key, value }) => [key.value, this.typeOfTemplate(value, scope, options)]));
    }
  }

  handlerSchema(name: string, side: 'input' | 'output'): JsonObject | undefined {
    return this.sources.handlers?.get(name)?.[side];
  }

  #step(id: string): Type | undefined {
    const item = this.sources.itemNamed(id);
    if (item === undefined) return undefined;
    // Whether it has run at all is another question.
    return optional(this.#outputOf(item));
  }

  #outputOf(node: SyntaxNode): Type {
    const known = this.#outputs.get(node);
    if (known !== undefined) return known;
    const item = this.#items.get(node);
    if (item === undefined || node.kind !== 'mapping') return unknown;
    this.#outputs.set(node, unknown);
    const own = this.#verbOutput(item.verb, node, item.scope);
    const onError = entryOf(node, 'onError')?.value;
    const handled = onError?.kind === 'sequence' ? onError.items.map((entry) => this.#lastOutput(bodyOf(entry))) : [];
    const skipped = entryOf(node, 'when') === undefined ? never : absent;
    const type = union(own, ...handled, skipped);
    this.#outputs.set(node, type);
    return type;
  }

  /** What the last item of a list that gives something gives. */
  #lastOutput(list: SyntaxNode | undefined): Type {
    if (list?.kind !== 'sequence') return list === undefined ? absent : unknown;
    let type: Type = absent;
    for (const item of [...list.items].reverse()) {
      const output = this.#outputOf(item);
      type = union(present(type), output);
      if (!output.absent) return type;
    }
    return type;
  }

  #verbOutput(verb: Verb, node: MappingNode, scope: FlowScope): Type {
    const value = entryOf(node, verb)?.value;
    if (value === undefined) return unknown;
    switch (verb) {
      case 'step': {
        const schema = isText(value) ? this.handlerSchema(value.value, 'output') : undefined;
        return schema === undefined ? unknown : typeOfSchema(schema);
      }
      case 'set':
        return this.typeOfTemplate(value, scope);
      case 'group':
        return this.#lastOutput(value);
      case 'branch':
        return value.kind === 'sequence' ? union(...value.items.map((arm) => this.#lastOutput(bodyOf(arm)))) : unknown;
      case 'parallel': {
        if (value.kind !== 'mapping') return unknown;
        const join = entryOf(node, 'join')?.value;
        const all = join === undefined || (join.kind === 'scalar' && join.value === 'all');
        return mapOf(
          value.entries.map(({ key, value: list }) => {
            const output = this.#lastOutput(list);
            return [key.value, all ? output : optional(output)];
          }),
        );
      }
      case 'forEach':
        return this.#turns(node, value, scope);
      case 'doWhile':
      case 'doUntil': {
        const last = this.#lastOutput(entryOf(node, 'do')?.value);
        return verb === 'doWhile' ? optional(last) : last;
      }
      case 'waitFor': {
        const schema = schemaOf(entryOf(node, 'schema')?.value);
        const onTimeout = entryOf(node, 'onTimeout')?.value;
        const instead = onTimeout === undefined ? never : this.typeOfTemplate(onTimeout, scope);
        return schema === undefined ? unknown : union(typeOfSchema(schema), instead);
      }
      case 'subWorkflow': {
        const revision = entryOf(node, 'revision')?.value;
        const number = revision?.kind === 'scalar' && typeof revision.value === 'number' ? revision.value : undefined;
        return isText(value) ? this.sources.childOutput(value.value, number) : unknown;
      }
      case 'sleep':
      case 'pivot':
      case 'complete':
      case 'fail':
      case 'rethrow':
        return absent;
    }
  }

  #turns(node: MappingNode, list: SyntaxNode, scope: FlowScope): Type {
    const each = this.#lastOutput(entryOf(node, 'do')?.value);
    const onItemError = entryOf(node, 'onItemError')?.value;
    const failed =
      onItemError?.kind === 'scalar' && onItemError.value === 'continue' ? mapOf([['error', errorType]]) : never;
    const { min, max } = this.#elements(list, scope);
    return listOf(union(present(each), each.absent ? nullType : never, failed), min, max);
  }

  /** What a `forEach` goes through. */
  #elements(list: SyntaxNode, scope: FlowScope): { items: Type; min: number; max: number } {
    const type = isText(list)
      ? (this.formula(list, scope)?.type ?? unknown)
      : list.kind === 'sequence'
        ? this.typeOfTemplate(list, scope)
        : unknown;
    return spreadOf(type);
  }

  #readAll(): void {
    const { root } = this.sources;
    const failed = withVariables(this.#everywhere, { error: () => errorType });
    const ended = withVariables(this.#everywhere, { error: () => errorIfFailed });
    const policies = entryOf(root, 'retryPolicies')?.value;
    if (policies?.kind === 'mapping') for (const { value } of policies.entries) this.#retry(value, this.#everywhere);
    this.#retry(entryOf(entryOf(root, 'defaults')?.value, 'retry')?.value, this.#everywhere);
    this.#list(entryOf(root, 'steps')?.value, this.#everywhere);
    const output = entryOf(root, 'output');
    if (output !== undefined) this.#value(output.value, this.#everywhere);
    this.#list(entryOf(root, 'onFailure')?.value, failed);
    this.#list(entryOf(root, 'finally')?.value, ended);
  }

  #list(node: SyntaxNode | undefined, scope: FlowScope): void {
    if (node?.kind === 'sequence') for (const item of node.items) this.#item(item, scope);
  }

  #item(node: SyntaxNode, around: FlowScope): void {
    if (node.kind !== 'mapping') return;
    const [entry, second] = node.entries.filter(({ key }) => isVerb(key.value));
    if (entry === undefined || second !== undefined || !isVerb(entry.key.value)) return;
    const verb = entry.key.value;
    const when = entryOf(node, 'when')?.value;
    this.#use('condition', when, around);
    const scope = withConditions(around, textOf(when));
    // An item that an alias repeats has no one output.
    if (this.#items.has(node)) this.#outputs.set(node, unknown);
    this.#items.set(node, { verb, scope });
    this.#verb(verb, entry.value, node, scope);
    this.#until(entryOf(node, 'timeout')?.value, scope);
    const onError = entryOf(node, 'onError')?.value;
    if (onError?.kind !== 'sequence') return;
    const handling = withVariables(scope, { error: () => errorType });
    for (const each of onError.items) {
      const condition = entryOf(each, 'when')?.value;
      this.#use('condition', condition, handling);
      this.#list(entryOf(each, 'do')?.value, withConditions(handling, textOf(condition)));
    }
  }

  #verb(verb: Verb, value: SyntaxNode, node: MappingNode, scope: FlowScope): void {
    const body = entryOf(node, 'do')?.value;
    switch (verb) {
      case 'step':
        this.#call('handler', value, node, scope);
        this.#retry(entryOf(node, 'retry')?.value, scope);
        return this.#compensation(value, entryOf(node, 'compensate')?.value, scope);
      case 'subWorkflow':
        return this.#call('child', value, node, scope);
      case 'set':
        return this.#value(value, scope);
      case 'complete':
        this.#completions.push({ node: value, scope });
        return this.#value(value, scope);
      case 'fail':
        for (const key of ['message', 'details']) this.#value(entryOf(node, key)?.value, scope);
        return;
      case 'group':
        return this.#list(value, scope);
      case 'branch':
        return this.#arms(value, scope);
      case 'parallel':
        if (value.kind === 'mapping') for (const branch of value.entries) this.#list(branch.value, scope);
        return;
      case 'forEach': {
        if (isText(value)) this.#use('list', value, scope);
        else this.#value(value, scope);
        const as = entryOf(node, 'as')?.value;
        const name = isText(as) ? as.value : 'item';
        const element = (): Type => this.#elements(value, scope).items;
        return this.#list(body, withVariables(scope, { [name]: element, index: () => numberType }));
      }
      case 'doWhile':
      case 'doUntil': {
        const turn = withVariables(scope, { iteration: () => numberType });
        this.#use('condition', value, turn);
        return this.#list(body, verb === 'doWhile' ? withConditions(turn, textOf(value)) : turn);
      }
      case 'waitFor':
        return this.#gate(node, scope);
      case 'sleep':
        return this.#until(value, scope);
      case 'pivot':
      case 'rethrow':
        return;
    }
  }

  #arms(node: SyntaxNode, scope: FlowScope): void {
    if (node.kind !== 'sequence') return;
    let seen = scope;
    for (const arm of node.items) {
      const when = entryOf(arm, 'when')?.value;
      this.#use('condition', when, seen);
      seen = withConditions(seen, textOf(when));
      this.#list(bodyOf(arm), seen);
    }
  }

  #gate(node: MappingNode, scope: FlowScope): void {
    const schema = schemaOf(entryOf(node, 'schema')?.value);
    const signal = (): Type => (schema === undefined ? unknown : typeOfSchema(schema));
    this.#use('condition', entryOf(node, 'filter')?.value, withVariables(scope, { signal }));
    this.#value(entryOf(node, 'onTimeout')?.value, scope);
    const remind = entryOf(node, 'remind')?.value;
    const step = entryOf(remind, 'step')?.value;
    if (step === undefined || remind?.kind !== 'mapping') return;
    this.#call('handler', step, remind, withVariables(scope, { iteration: () => numberType }));
  }

  #compensation(forward: SyntaxNode, node: SyntaxNode | undefined, scope: FlowScope): void {
    const step = entryOf(node, 'step')?.value;
    if (node?.kind !== 'mapping' || step === undefined) return;
    const schema = isText(forward) ? this.handlerSchema(forward.value, 'output') : undefined;
    const result = (): Type => union(schema === undefined ? anything : typeOfSchema(schema), nullType);
    const inside = withVariables(scope, { result, error: () => errorIfFailed });
    this.#call('handler', step, node, inside);
    this.#retry(entryOf(node, 'retry')?.value, inside);
  }

  #call(kind: TypedCall['kind'], name: SyntaxNode, holder: MappingNode, scope: FlowScope): void {
    const given = entryOf(holder, 'with');
    this.#value(given?.value, scope);
    if (!isText(name)) return;
    const revision = entryOf(holder, 'revision')?.value;
    const number = revision?.kind === 'scalar' && typeof revision.value === 'number' ? revision.value : undefined;
    this.calls.push({ kind, name, arguments: given, scope, ...(number !== undefined && { revision: number }) });
  }

  #retry(node: SyntaxNode | undefined, scope: FlowScope): void {
    this.#use('condition', entryOf(node, 'when')?.value, withVariables(scope, { error: () => errorType }));
  }

  #until(node: SyntaxNode | undefined, scope: FlowScope): void {
    this.#use('time', entryOf(node, 'until')?.value, scope);
  }

  #value(node: SyntaxNode | undefined, scope: FlowScope): void {
    if (node === undefined) return;
    if (node.kind === 'sequence') for (const item of node.items) this.#value(item, scope);
    else if (node.kind === 'mapping') for (const { value } of node.entries) this.#value(value, scope);
    else if (isFormula(node)) this.#use('value', node, scope);
  }

  #use(kind: UseKind, node: SyntaxNode | undefined, scope: FlowScope): void {
    if (isText(node)) this.uses.push({ kind, node, scope });
  }
}

function isKnownName(name: string): boolean {
  return name === 'steps' || functionNames.has(name);
}

/** The list of an arm or of an entry of `onError`. */
function bodyOf(node: SyntaxNode): SyntaxNode | undefined {
  return (entryOf(node, 'do') ?? entryOf(node, 'else'))?.value;
}

export function isFormula(node: SyntaxNode): node is TextNode {
  return isText(node) && node.value.startsWith('=');
}

function schemaOf(node: SyntaxNode | undefined): JsonObject | boolean | undefined {
  if (node === undefined) return undefined;
  const value: JsonValue = toValue(node);
  return isJsonObject(value) || typeof value === 'boolean' ? value : undefined;
}
