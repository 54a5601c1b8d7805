import {
  type BinaryNode,
  type FormulaNode,
  type FormulaRole,
  type LiteralNode,
  type ObjectNode,
  type PathNode,
  type SoundFormula,
  formulaChildren,
} from '../../expression/index.js';
import { quoted } from '../../definition/index.js';
import { type DiagnosticCode, type Severity, nearest } from '../../syntax/index.js';
import { checkComparison, checkOperands } from './check-operators.js';
import { parametersOf } from './functions.js';
import { inferApply, inferCall, inferLambda } from './infer-call.js';
import { type PathFacts, inferPath } from './infer-path.js';
import { spreadOf } from './spread.js';
import {
  type Type,
  absent,
  booleanType,
  functionType,
  isNever,
  listOf,
  mapOf,
  never,
  numberType,
  openMap,
  optional,
  present,
  stringType,
  union,
  unknown,
} from './type.js';
import { typeOfValue } from './schema-type.js';

/** What the variables of a formula are; undefined where nothing is known. */
export interface FormulaWorld {
  variable(name: string): Type | undefined;
  /** `$steps.<id>`. */
  step(id: string): Type | undefined;
  /** What to say of a name that `owner` does not have, where there is more to say than which names there are. */
  help?(owner: string, name: string, fields: readonly string[]): string | undefined;
}

/** A mistake in a formula, with offsets into its text. */
export interface TypeProblem {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly help: string;
}

/** Where in a formula a node is evaluated. */
export interface Scope {
  /** The item at hand: what `$` is, and what bare names are fields of. */
  readonly context: Type;
  readonly role: FormulaRole;
  /** The formula's own variables. */
  readonly own: ReadonlyMap<string, Type>;
}

export const outermost: Scope = { context: absent, role: 'context', own: new Map() };

/** Finds out the types of one formula's parts, and what cannot be right about them. */
export class Inference {
  readonly problems: TypeProblem[] = [];
  /** What was seen on the way through each path. */
  readonly paths = new Map<FormulaNode, PathFacts>();
  /** Nodes that must have a value, else the formula fails. */
  readonly needed: FormulaNode[] = [];
  readonly #reused: ReadonlySet<string>;

  constructor(
    readonly text: string,
    readonly world: FormulaWorld,
    { nodes }: Pick<SoundFormula, 'nodes'>,
  ) {
    this.#reused = reusedNames(nodes);
  }

  report(
    code: DiagnosticCode,
    severity: Severity,
    span: { start: number; end: number },
    message: string,
    help: string,
  ): void {
    this.problems.push({ code, severity, start: span.start, end: span.end, message, help });
  }

  /** Whether something in it is certainly wrong. */
  get isFlawed(): boolean {
    return this.problems.some(({ severity }) => severity === 'error');
  }

  textOf({ start, end }: { start: number; end: number }): string {
    const text = this.text.slice(start, end);
    return text.length > 40 ? `${text.slice(0, 39)}…` : text;
  }

  infer(node: FormulaNode, scope: Scope): Type {
    switch (node.kind) {
      case 'literal':
        return typeOfValue(node.value);
      case 'regex':
        return functionType;
      case 'variable':
        if (node.own) return (this.#reused.has(node.name) ? undefined : scope.own.get(node.name)) ?? unknown;
        return this.world.variable(node.name) ?? (parametersOf(node.name) ? functionType : unknown);
      case 'context':
        return node.name === '$' ? scope.context : unknown;
      case 'path':
        return inferPath(this, node, scope);
      case 'binary':
        return this.#binary(node, scope);
      case 'negate': {
        const operand = this.infer(node.operand, scope);
        this.needs(scope, node.operand);
        checkOperands(this, '-', [[node.operand, operand, 'what `-` is applied to']]);
        return operand.absent && scope.role === 'items' ? optional(numberType) : numberType;
      }
      case 'conditional': {
        this.infer(node.condition, scope);
        this.needs(scope, node.condition);
        const then = this.infer(node.then, scope);
        return union(then, node.otherwise ? this.infer(node.otherwise, scope) : absent);
      }
      case 'default': {
        const left = this.infer(node.left, scope);
        const right = this.infer(node.right, scope);
        return left.absent || node.operator === '?:' ? union(present(left), right) : left;
      }
      case 'call':
        return inferCall(this, node, node.arguments, scope);
      case 'apply':
        return inferApply(this, node.left, node.right, scope);
      case 'partial':
        this.#children(node, scope);
        return functionType;
      case 'lambda':
        inferLambda(this, node, [], scope);
        return functionType;
      case 'block':
        return this.#block(node.expressions, scope);
      case 'bind':
        return this.infer(node.value, scope);
      case 'list':
        return this.#list(node.items, scope);
      case 'range':
        return this.#range(node.from, node.to, scope);
      case 'object':
        return this.#object(node, scope);
      case 'transform':
        for (const child of formulaChildren(node))
          this.infer(child.node, { ...scope, context: unknown, role: 'items' });
        return functionType;
    }
  }

  /** Says that a path leads to a field that is not there, and which may be meant. */
  missing(owner: string, name: string, span: { start: number; end: number }, fields: readonly string[]): void {
    const guess = nearest(name, fields);
    const some = fields.slice(0, 8).map((each) => `\`${each}\``);
    const help =
      this.world.help?.(owner, name, fields) ??
      (name === 'length'
        ? `\`$count(${owner})\` counts the items of a list, \`$length(${owner})\` the characters of a text`
        : undefined) ??
      (guess !== undefined
        ? `did you mean \`${owner}.${guess}\`?`
        : some.length === 0
          ? 'it has no fields at all'
          : `it has ${some.join(', ')}${fields.length > some.length ? ', …' : ''}`);
    this.report('RS4006', 'error', span, `\`${owner}\` has no ${quoted(name)}`, help);
  }

  /** Outside predicates, later steps and the like an operator's operand must be there. */
  needs({ role }: Scope, ...nodes: readonly FormulaNode[]): void {
    if (role === 'context') this.needed.push(...nodes);
  }

  typeOfLiteral(node: LiteralNode): Type {
    return typeOfValue(node.value);
  }

  #children(node: FormulaNode, scope: Scope): void {
    for (const child of formulaChildren(node)) this.infer(child.node, scope);
  }

  #binary(node: BinaryNode, scope: Scope): Type {
    const { operator } = node;
    const left = this.infer(node.left, scope);
    const right = this.infer(node.right, scope);
    this.needs(scope, node.left, node.right);
    const mayLack = scope.role === 'items' && (left.absent || right.absent);
    switch (operator) {
      case '=':
      case '!=':
      case 'in':
        checkComparison(this, node, left, right);
        return booleanType;
      case 'and':
      case 'or':
        return booleanType;
      case '<':
      case '<=':
      case '>':
      case '>=':
      case '+':
      case '-':
      case '*':
      case '/':
      case '%': {
        checkOperands(this, operator, [
          [node.left, left, `the left side of \`${operator}\``],
          [node.right, right, `the right side of \`${operator}\``],
        ]);
        const result = '<>'.includes(operator.charAt(0)) ? booleanType : numberType;
        return mayLack ? optional(result) : result;
      }
      case '&':
        return stringType;
    }
  }

  #block(expressions: readonly FormulaNode[], scope: Scope): Type {
    const own = new Map(scope.own);
    let last = absent;
    for (const each of expressions) {
      last = this.infer(each, { ...scope, own });
      if (each.kind === 'bind') own.set(each.name, last);
    }
    return last;
  }

  #list(items: readonly FormulaNode[], scope: Scope): Type {
    let all = never;
    let [min, max] = [0, 0];
    for (const item of items) {
      const type = this.infer(item, scope);
      const isNested = item.kind === 'list' || (item.kind === 'path' && isListAlone(item));
      const parts = item.kind === 'list' ? { items: type, min: 1, max: 1 } : spreadOf(type);
      all = union(all, parts.items, isNested ? present(type) : never);
      min += isNested && item.kind !== 'list' ? Math.min(parts.min, 1) : parts.min;
      max += Math.max(parts.max, isNested ? 1 : 0);
    }
    return listOf(all, min, max);
  }

  #range(from: FormulaNode, to: FormulaNode, scope: Scope): Type {
    checkOperands(this, '..', [
      [from, this.infer(from, scope), 'the left side of `..`'],
      [to, this.infer(to, scope), 'the right side of `..`'],
    ]);
    return optional(listOf(numberType));
  }

  #object({ pairs }: ObjectNode, scope: Scope): Type {
    const fields = new Map<string, Type>();
    // For an item that is a list the values of its items are put together.
    const isPlain = !scope.context.anything && scope.context.list === undefined;
    let hasOthers = !isPlain;
    for (const { key, value } of pairs) {
      const name = this.infer(key, scope);
      this.needs(scope, value);
      const type = this.infer(value, scope);
      if (key.kind === 'literal' && typeof key.value === 'string') {
        fields.set(key.value, scope.role === 'context' ? present(type) : type);
      } else hasOthers = true;
      if (!name.anything && name.string === undefined && !isNever(present(name))) {
        this.report('RS3013', 'error', key, 'a key of `{…}` must be text', 'make a text of it with `$string(…)`');
      }
    }
    if (!isPlain) return openMap;
    return hasOthers
      ? mapOf(
          [...fields].map(([name, type]) => [name, union(type, unknown)]),
          unknown,
        )
      : mapOf(fields);
  }

  /** What a group gives: its keys are computed. */
  group(pairs: readonly { key: FormulaNode; value: FormulaNode }[], items: Type, scope: Scope): Type {
    const each: Scope = { ...scope, context: items, role: 'items' };
    const several: Scope = { ...each, context: unknown };
    for (const { key, value } of pairs) {
      this.infer(key, each);
      this.infer(value, several);
    }
    return openMap;
  }
}

/** `[…]` with only predicates behind it. */
function isListAlone({ steps }: PathNode): boolean {
  const [only, second] = steps;
  return only.kind === 'expression' && only.node.kind === 'list' && second === undefined;
}

const none: ReadonlySet<string> = new Set();

/** Names that a formula binds more than once: which of the values one has is not followed. */
function reusedNames(nodes: SoundFormula['nodes']): ReadonlySet<string> {
  if (!nodes.some(({ node: { kind } }) => kind === 'bind' || kind === 'lambda')) return none;
  const bound = nodes.flatMap(({ node }) => {
    if (node.kind === 'bind') return node.name;
    return node.kind === 'lambda' ? node.parameters.map(({ name }) => name) : [];
  });
  return new Set(bound.filter((name, index) => bound.indexOf(name) < index));
}
