import type {
  BinaryOperator,
  CallNode,
  FormulaNode,
  Group,
  LambdaNode,
  NameStep,
  Pair,
  PathNode,
  PathStep,
} from './formula-tree.js';
import { type Token, isRounded } from './lexer.js';
import { TokenCursor, NotUnderstood } from './token-cursor.js';
import { asOpenPath, asPath, isNamed, negativeNumber, pathOf } from './formula-paths.js';

export interface ParsedTree {
  readonly tree: FormulaNode;
  /** Whether the formula uses only what this parser judges as JSONata does; for all else JSONata has the last word. */
  readonly isPlain: boolean;
}

/** How strongly an operator between two operands binds, as JSONata has it. */
const bindingPowers: Readonly<Record<string, number>> = {
  '[': 80,
  '(': 80,
  '@': 80,
  '#': 80,
  '.': 75,
  '{': 70,
  '*': 60,
  '/': 60,
  '%': 60,
  '+': 50,
  '-': 50,
  '&': 50,
  '=': 40,
  '!=': 40,
  '<': 40,
  '<=': 40,
  '>': 40,
  '>=': 40,
  in: 40,
  '^': 40,
  '~>': 40,
  '?:': 40,
  '??': 40,
  and: 30,
  or: 25,
  '?': 20,
  ':=': 10,
};

const binaryOperators: ReadonlySet<string> = new Set<BinaryOperator>([
  ...(['=', '!=', '<', '<=', '>', '>=', 'in', 'and', 'or', '&', '+', '-', '*', '/', '%'] as const),
]);

/** What JSONata's parser nests by calling itself, it refuses at some depth, and it copies the left sides of defaults. */
const plainDepth = 40;
const plainDefaults = 8;

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Reads tokens by JSONata's own grammar and binding powers, keeping every place. `offset` is added to each.
 * Throws `NotUnderstood`.
 */
export function parseTree(tokens: readonly Token[], offset: number): ParsedTree {
  return new FormulaParser(tokens, offset).parse();
}

class FormulaParser extends TokenCursor {
  #depth = 0;
  #defaults = 0;
  #isPlain = true;

  parse(): ParsedTree {
    const tree = this.#expression(0);
    if (this.token !== undefined) throw new NotUnderstood();
    return { tree, isPlain: this.#isPlain };
  }

  #expression(power: number): FormulaNode {
    this.#depth++;
    if (this.#depth > plainDepth) this.#isPlain = false;
    let left = this.#operand();
    for (;;) {
      const operator = this.operator;
      if (operator === undefined || power >= (bindingPowers[operator] ?? 0)) break;
      left = this.#continued(left, this.take());
    }
    this.#depth--;
    return left;
  }

  /** What begins with this token. */
  #operand(): FormulaNode {
    const token = this.take();
    const span = this.spanOf(token);
    switch (token.kind) {
      case 'string':
        return { kind: 'literal', ...span, value: this.#textOf(token) };
      case 'number':
        return { kind: 'literal', ...span, value: this.#numberOf(token) };
      case 'regex':
        this.#isPlain = false;
        return { kind: 'regex', ...span };
      case 'variable': {
        const name = token.text.slice(1);
        if (name === '' || name === '$') return { kind: 'context', ...span, name: name === '' ? '$' : '$$' };
        return { kind: 'variable', ...span, name, own: false };
      }
      case 'name':
        if (token.text === 'null') return { kind: 'literal', ...span, value: null };
        if (token.text === 'true' || token.text === 'false')
          return { kind: 'literal', ...span, value: token.text === 'true' };
        return pathOf(this.#nameStep(token));
      case 'operator':
        return this.#prefixed(token);
    }
  }

  #prefixed(token: Token): FormulaNode {
    const { start } = this.spanOf(token);
    switch (token.text) {
      case 'and':
      case 'or':
      case 'in':
        return pathOf(this.#nameStep(token));
      case '-': {
        const operand = this.#expression(70);
        return negativeNumber(operand, start) ?? { kind: 'negate', start, end: this.end, operand };
      }
      case '*':
      case '**':
        return pathOf(this.#symbolStep(token, token.text === '*' ? 'wildcard' : 'descendant'));
      case '%':
        this.#isPlain = false;
        return pathOf(this.#symbolStep(token, 'parent'));
      case '(': {
        const expressions: FormulaNode[] = [];
        while (this.operator !== ')') {
          expressions.push(this.#expression(0));
          if (!this.skips(';')) break;
        }
        this.expect(')');
        return { kind: 'block', start, end: this.end, expressions };
      }
      case '[': {
        const items = this.#listed(']', () => this.#listItem());
        return { kind: 'list', start, end: this.end, items };
      }
      case '{': {
        const pairs = this.#pairs();
        return { kind: 'object', start, end: this.end, pairs };
      }
      case '|': {
        this.#isPlain = false;
        const pattern = this.#expression(0);
        this.expect('|');
        const update = this.#expression(0);
        const removed = this.skips(',') ? this.#expression(0) : undefined;
        this.expect('|');
        return { kind: 'transform', start, end: this.end, pattern, update, ...(removed && { delete: removed }) };
      }
      default:
        throw new NotUnderstood();
    }
  }

  /** What the operator makes of what stands before it. */
  #continued(left: FormulaNode, token: Token): FormulaNode {
    const operator = token.text;
    const { start } = left;
    const operatorSpan = this.spanOf(token);
    if (binaryOperators.has(operator)) {
      const right = this.#expression(bindingPowers[operator] ?? 0);
      return {
        kind: 'binary',
        start,
        end: this.end,
        operator: operator as BinaryOperator,
        operatorSpan,
        left,
        right,
      };
    }
    switch (operator) {
      case '.':
        return this.#joined(left);
      case '[':
        return this.#predicate(left, operatorSpan.start);
      case '{':
        return this.#grouped(left, operatorSpan.start);
      case '(':
        return this.#called(left);
      case '^':
        return this.#sorted(left, operatorSpan.start);
      case '@':
      case '#':
        return this.#numbered(left, operator, operatorSpan.start);
      case '?': {
        const then = this.#expression(0);
        const otherwise = this.skips(':') ? this.#expression(0) : undefined;
        return { kind: 'conditional', start, end: this.end, condition: left, then, ...(otherwise && { otherwise }) };
      }
      case '??':
      case '?:': {
        this.#defaults++;
        if (this.#defaults > plainDefaults) this.#isPlain = false;
        const right = this.#expression(0);
        return { kind: 'default', start, end: this.end, operator, operatorSpan, left, right };
      }
      case '~>': {
        const right = this.#expression(40);
        return { kind: 'apply', start, end: this.end, operatorSpan, left, right };
      }
      case ':=': {
        const name = this.#nameBound(left);
        const value = this.#expression(9);
        return { kind: 'bind', start, end: this.end, name, value };
      }
      default:
        throw new NotUnderstood();
    }
  }

  #joined(left: FormulaNode): PathNode {
    const path = asOpenPath(left);
    const right = asPath(this.#expression(75));
    if (right.group !== undefined) this.#isPlain = false;
    const steps = [...path.steps, ...right.steps].map((step) => this.#named(step));
    const [first, ...rest] = steps;
    if (first === undefined) throw new NotUnderstood();
    const group = path.group ?? right.group;
    return { kind: 'path', start: path.start, end: this.end, steps: [first, ...rest], ...(group && { group }) };
  }

  /** A text that is a step of a path is a name; other literals cannot be steps. */
  #named(step: PathStep): PathStep {
    if (step.kind !== 'expression') return step;
    if (step.node.kind === 'path' && step.node.steps.length === 1) {
      return { ...step, node: { ...step.node, steps: [this.#named(step.node.steps[0])] } };
    }
    if (step.node.kind !== 'literal') return step;
    const { value, start, end } = step.node;
    if (typeof value !== 'string') throw new NotUnderstood();
    const { node: _, ...rest } = step;
    return { ...rest, kind: 'name', name: value, nameSpan: { start: start + 1, end: end - 1 } };
  }

  #predicate(left: FormulaNode, start: number): PathNode {
    const path = asPath(left);
    if (path.group !== undefined) this.#isPlain = false;
    const step = path.steps[path.steps.length - 1] ?? path.steps[0];
    if (this.skips(']')) {
      step.keepsList = true;
      this.mayNotDivide();
    } else {
      const node = this.#expression(0);
      this.expect(']');
      step.stages.push({ kind: 'filter', start, end: this.end, node });
    }
    return { ...path, end: this.end };
  }

  #grouped(left: FormulaNode, start: number): PathNode {
    const path = asPath(left);
    if (path.group !== undefined) this.#isPlain = false;
    const group: Group = { start, end: 0, pairs: this.#pairs() };
    return { ...path, end: this.end, group: { ...group, end: this.end } };
  }

  #sorted(left: FormulaNode, start: number): PathNode {
    const path = asOpenPath(left);
    this.expect('(');
    const terms: { descending: boolean; node: FormulaNode }[] = [];
    do {
      const descending = this.operator === '>';
      if (descending || this.operator === '<') this.take();
      terms.push({ descending, node: this.#expression(0) });
    } while (this.skips(','));
    this.expect(')');
    this.mayNotDivide();
    const step: PathStep = { kind: 'sort', start, end: this.end, terms, stages: [], keepsList: false };
    return { ...path, end: this.end, steps: [...path.steps, step] };
  }

  #numbered(left: FormulaNode, operator: '@' | '#', start: number): PathNode {
    this.#isPlain = false;
    const path = asPath(left);
    const variable = this.take();
    if (variable.kind !== 'variable') throw new NotUnderstood();
    const name = variable.text.slice(1);
    const step = path.steps[path.steps.length - 1] ?? path.steps[0];
    if (operator === '@') step.focus = name;
    else {
      // Of two positions without a predicate between them JSONata keeps the second.
      if (step.stages.length === 1 && step.stages[0]?.kind === 'index') step.stages.pop();
      step.stages.push({ kind: 'index', start, end: this.end, name });
    }
    return { ...path, end: this.end };
  }

  #called(callee: FormulaNode): FormulaNode {
    const { start } = callee;
    const isLambda = callee.kind === 'path' && isNamed(callee, ['function', 'λ']);
    const found = this.#listed(')', () => (this.skips('?') ? null : this.#expression(0)));
    if (isLambda) return this.#lambda(start, found);
    const isFull = (each: FormulaNode | null): each is FormulaNode => each !== null;
    if (!found.every(isFull)) return { kind: 'partial', start, end: this.end, callee, arguments: found };
    return { kind: 'call', start, end: this.end, callee, arguments: found } satisfies CallNode;
  }

  #lambda(start: number, found: readonly (FormulaNode | null)[]): LambdaNode {
    const parameters = found.map((each) => {
      if (each === null) throw new NotUnderstood();
      return { name: this.#nameBound(each), start: each.start, end: each.end };
    });
    if (this.operator === '<') this.#skipSignature();
    this.expect('{');
    const body = this.#expression(0);
    this.expect('}');
    this.mayNotDivide();
    return { kind: 'lambda', start, end: this.end, parameters, body };
  }

  #nameBound(node: FormulaNode): string {
    if (node.kind === 'variable') return node.name;
    if (node.kind !== 'context') throw new NotUnderstood();
    this.#isPlain = false;
    return node.name.slice(1);
  }

  #skipSignature(): void {
    this.#isPlain = false;
    let open = 0;
    do {
      const { text } = this.take();
      if (text === '<') open++;
      if (text === '>') open--;
    } while (open > 0);
  }

  #listItem(): FormulaNode {
    const from = this.#expression(0);
    if (!this.skips('..')) return from;
    const to = this.#expression(0);
    return { kind: 'range', start: from.start, end: to.end, from, to };
  }

  /** The pairs after a `{`, and its `}`. */
  #pairs(): Pair[] {
    return this.#listed('}', () => {
      const key = this.#expression(0);
      this.expect(':');
      return { key, value: this.#expression(0) };
    });
  }

  #listed<T>(closing: string, item: () => T): T[] {
    const items: T[] = [];
    if (this.operator !== closing) {
      do items.push(item());
      while (this.skips(','));
    }
    this.expect(closing);
    return items;
  }

  #nameStep(token: Token): NameStep {
    const span = this.spanOf(token);
    const quotes = token.text.startsWith('`') ? 1 : 0;
    if (quotes === 1 && !/^`[^`]*`$/.test(token.text)) this.#isPlain = false;
    const nameSpan = { start: span.start + quotes, end: span.end - quotes };
    const name = quotes === 0 ? token.text : token.text.slice(1, -1);
    return { kind: 'name', ...span, name, nameSpan, stages: [], keepsList: false };
  }

  #symbolStep(token: Token, kind: 'wildcard' | 'descendant' | 'parent'): PathStep {
    return { kind, ...this.spanOf(token), stages: [], keepsList: false };
  }

  #numberOf({ text }: Token): number {
    const value = Number(text);
    if (!Number.isFinite(value) || isRounded(text)) this.#isPlain = false;
    return value;
  }

  #textOf({ text }: Token): string {
    const quote = text.charAt(0);
    if (text.length < 2 || !text.endsWith(quote)) this.#isPlain = false;
    if (!text.includes('\\')) return text.slice(1, -1);
    // Which escapes there are is JSONata's to say.
    this.#isPlain = false;
    return text.slice(1, -1).replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_, code: string | undefined, other = '') => {
      return code === undefined ? (escapes[String(other)] ?? String(other)) : String.fromCharCode(parseInt(code, 16));
    });
  }
}
