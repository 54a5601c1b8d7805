import type { FormulaProblem, KnownVariables } from './analyse.js';
import type { BinaryNode, FormulaNode, PathNode } from './formula-tree.js';
import type { SoundFormula } from './inspect.js';
import { dateAt } from './written-dates.js';

/*
 * What other languages write and JSONata reads as something else: formulas that compile and then fail, or give what
 * nobody meant.
 */

const arithmetic: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%']);

/** Functions that give points in time, which are texts. */
const givesTime: ReadonlySet<string> = new Set(['now', 'addDuration', 'fromMillis']);

/** `"Order " + $input.id`: sums are of numbers, whatever the other side is. Of `"a" + $b + "c"` one is told. */
export function textArithmetic({ nodes }: SoundFormula, text: string): FormulaProblem[] {
  const problems: FormulaProblem[] = [];
  const inside = new Set<FormulaNode>();
  for (const { node } of nodes) {
    if (!isArithmetic(node) || inside.has(node)) continue;
    const chain = chainOf(node);
    for (const each of chain) inside.add(each);
    const wrong = chain.find(({ left, right }) => isText(left) || isText(right));
    if (wrong !== undefined) problems.push(sumOfTexts(node, chain, wrong, text));
  }
  return problems;
}

/** The sums that follow one another, the first first. */
function chainOf(node: BinaryNode): BinaryNode[] {
  const chain = [node];
  for (let left = node.left; isArithmetic(left); left = left.left) chain.push(left);
  return chain.reverse();
}

function isArithmetic(node: FormulaNode): node is BinaryNode {
  return node.kind === 'binary' && arithmetic.has(node.operator);
}

/** Whether a node gives a text whatever it reads. */
export function isText(node: FormulaNode): boolean {
  if (node.kind === 'literal') return typeof node.value === 'string';
  return (node.kind === 'binary' && node.operator === '&') || isTime(node);
}

function isTime(node: FormulaNode): boolean {
  if (node.kind === 'literal') return typeof node.value === 'string' && /^\d{4}-\d\d-\d\d/.test(node.value);
  return node.kind === 'call' && givesTime.has(node.function ?? '');
}

function sumOfTexts(whole: BinaryNode, chain: readonly BinaryNode[], wrong: BinaryNode, text: string): FormulaProblem {
  const { operator, operatorSpan, left, right } = wrong;
  const problem = {
    kind: 'text-arithmetic' as const,
    message: `\`${operator}\` is for numbers, and here one side is a text`,
    start: operatorSpan.start,
    end: operatorSpan.end,
  };
  if (isTime(left) || isTime(right)) return { ...problem, help: timeHelp(wrong, text) };
  if (left.kind === 'binary' && left.operator === '&') {
    // `"Total: " & $a + $b`: both bind alike, from left to right.
    const sum = `${text.slice(left.right.start, left.right.end)} ${operator} ${text.slice(right.start, right.end)}`;
    const help = `write \`${text.slice(left.start, left.right.start)}(${sum})\` for the number; texts are joined by \`&\` alone`;
    return { ...problem, help };
  }
  if (chain.some((each) => each.operator !== '+')) {
    return { ...problem, help: 'a number is made of a text by `$number(…)`; texts are joined by `&`' };
  }
  let joined = '';
  let at = whole.start;
  for (const { operatorSpan: sign } of chain) {
    joined += `${text.slice(at, sign.start)}&`;
    at = sign.end;
  }
  joined += text.slice(at, whole.end);
  return { ...problem, help: `texts are joined by \`&\`${joined.length > 100 ? '' : `: \`${joined}\``}` };
}

function timeHelp({ operator, left, right }: BinaryNode, text: string): string {
  const shown = ({ start, end }: FormulaNode): string => text.slice(start, end);
  const [time, other] = isTime(left) ? [left, right] : [right, left];
  const isDuration = other.kind === 'literal' && /^\d+[a-z]+$/.test(String(other.value));
  if ((isText(other) || (operator === '-' && other.kind === 'path')) && !isDuration) {
    return `milliseconds between two times: \`$toMillis(${shown(left)}) - $toMillis(${shown(right)})\``;
  }
  const duration = isDuration ? String(other.value) : '1d';
  return `write \`$addDuration(${shown(time)}, "${operator === '-' ? '-' : ''}${duration}")\``;
}

/** `2030-12-31`, which as it stands is a subtraction. */
export function unquotedDates({ nodes }: SoundFormula, text: string): FormulaProblem[] {
  return nodes.flatMap(({ node }) => {
    const isFirst = node.kind === 'literal' && typeof node.value === 'number';
    const date = isFirst && /^\d{4}-\d{2}-\d{2}/.test(text.slice(node.start)) ? dateAt(text, node.start) : undefined;
    if (date === undefined) return [];
    const { message, help, written } = date;
    return [{ kind: 'syntax' as const, message, start: node.start, end: node.start + written.length, help }];
  });
}

/** Variables that are maps whatever a flow does: nothing is at a position of them. */
const maps: ReadonlySet<string> = new Set(['input', 'steps', 'constants', 'workflow', 'run']);

/** `$steps["charge"]`, `$steps[0]`, `$input[total]`: `[…]` filters, it does not look up. */
export function indexProblems({ nodes, free }: SoundFormula, text: string): FormulaProblem[] {
  const problems: FormulaProblem[] = [];
  for (const { node } of nodes) {
    if (node.kind !== 'path') continue;
    for (const step of node.steps) {
      if (step.stages.length === 0) continue;
      const isMap =
        step.kind === 'expression' && free.some((each) => each.node === step.node && maps.has(each.node.name));
      for (const stage of step.stages) {
        if (stage.kind !== 'filter') continue;
        const field = fieldOf(stage.node, isMap);
        if (field === undefined) continue;
        const base = text.slice(node.start, stage.start).trimEnd();
        const isPosition = typeof field === 'number';
        problems.push({
          kind: 'index',
          message: isPosition
            ? `\`${base}\` is no list, so that nothing stands at a position of it`
            : '`[…]` chooses by a condition, and what stands in it is none; fields are read by a dot',
          start: stage.start,
          end: stage.end,
          help: isPosition ? `name the field: \`${base}.…\`` : `write \`${base}.${fieldName(field)}\``,
        });
      }
    }
  }
  return problems;
}

/** What a predicate looks up, where it is no condition. On what may be a list a name is one, and so is a number. */
function fieldOf(node: FormulaNode, isMap: boolean): string | number | undefined {
  if (node.kind === 'literal' && typeof node.value === 'string') return node.value;
  if (!isMap) return undefined;
  if (node.kind === 'literal' && typeof node.value === 'number') return node.value;
  if (node.kind !== 'path' || node.steps.length > 1) return undefined;
  const [only] = node.steps;
  return only.kind === 'name' && only.stages.length === 0 ? only.name : undefined;
}

function fieldName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``;
}

/** `$steps.charge.outputs.id`: what a step gave is `$steps.charge` itself. A field may have the name, in backquotes. */
export function outputsProblems({ nodes, steps }: SoundFormula, text: string): FormulaProblem[] {
  const problems: FormulaProblem[] = [];
  if (steps.length === 0) return problems;
  for (const { node } of nodes) {
    const field = node.kind === 'path' ? outputsOf(node, text) : undefined;
    const id = node.kind === 'path' ? node.steps[1] : undefined;
    if (field === undefined || node.kind !== 'path' || id === undefined) continue;
    if (!steps.some(({ start }) => id.start <= start && start < id.end)) continue;
    const base = text.slice(node.start, id.end);
    problems.push({
      kind: 'outputs',
      message: `\`${base}\` is the output itself, which seldom has a field \`${text.slice(field.start, field.end)}\``,
      start: field.start,
      end: field.end,
      help: `write \`${base}${text.slice(field.end, node.end)}\`; a field of that name stands in backquotes`,
    });
  }
  return problems;
}

function outputsOf({ steps }: PathNode, text: string): { start: number; end: number } | undefined {
  const field = steps[2];
  return field?.kind === 'name' && isOutputs(text.slice(field.start, field.end), steps.length > 3) ? field : undefined;
}

/** A field may be called `output`; one that has fields itself is likelier another tool's. */
function isOutputs(name: string, goesOn: boolean): boolean {
  return name === 'outputs' || (name === 'output' && goesOn);
}

/** Functions whose texts are looked for: a text that holds `$input` may be meant as it stands. */
const looksForTexts: ReadonlySet<string> = new Set([
  'replace',
  'contains',
  'split',
  'match',
  'substringBefore',
  'substringAfter',
]);

/** `"Hello $input.name"`: nothing is put into texts, which are joined. */
export function variablesInTexts({ nodes }: SoundFormula, text: string, known: KnownVariables): FormulaProblem[] {
  if (!/["'][^]*\$/.test(text)) return [];
  const lookedFor = new Set(
    nodes.flatMap(({ node }) => (node.kind === 'call' && looksForTexts.has(node.function ?? '') ? node.arguments : [])),
  );
  return nodes.flatMap(({ node }) => {
    if (node.kind !== 'literal' || typeof node.value !== 'string' || lookedFor.has(node)) return [];
    const written = text.slice(node.start, node.end);
    const found = [...written.matchAll(/\$([A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*/g)].filter(([, name = '']) =>
      known.has(name),
    );
    const [first] = found;
    if (first === undefined) return [];
    const start = node.start + first.index;
    const message = `\`${first[0]}\` stands in a text, and is not replaced by its value`;
    const joined = joinedWith(written, found);
    const help = `texts are joined by \`&\`${joined.length > 100 ? '' : `: \`${joined}\``}`;
    return [{ kind: 'text-variable' as const, message, start, end: start + first[0].length, help }];
  });
}

/** A text in quotes, cut at what is found in it. */
function joinedWith(written: string, found: readonly RegExpExecArray[]): string {
  const quote = written.charAt(0);
  const parts: string[] = [];
  let at = 1;
  for (const { 0: path, index } of found) {
    if (index > at) parts.push(`${quote}${written.slice(at, index)}${quote}`);
    parts.push(path);
    at = index + path.length;
  }
  if (at < written.length - 1) parts.push(`${quote}${written.slice(at)}`);
  return parts.join(' & ');
}
