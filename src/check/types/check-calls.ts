import { type JsonObject, isJsonObject } from '../../common/index.js';
import { type Report, inputSchemaOf, listed, quoted } from '../../definition/index.js';
import { type FormulaNode, inspectFormula } from '../../expression/index.js';
import type { HandlerCatalogue } from '../../handlers/index.js';
import {
  type MappingNode,
  type Range,
  type ScalarNode,
  type SyntaxNode,
  type TextNode,
  nearest,
} from '../../syntax/index.js';
import type { CallUse, Variables } from '../flow-model.js';
import { type WorkflowCatalogue, newestOf } from '../workflow-catalogue.js';
import { type FlowTypes, isFormula } from './flow-types.js';
import { typeOfSchema } from './schema-type.js';
import { type MapType, type Type, anything, describeType, fieldOf, isNever, mayBe, present } from './type.js';

/** What is called, as far as it is known what it takes. */
interface Callee {
  /** As messages call it: `payments.charge`. */
  readonly name: string;
  readonly takes: Type;
  /** Whether it goes without any `with`. */
  readonly isOptional: boolean;
  /** Whether it passes over fields that it does not declare. */
  readonly dropsOthers: boolean;
}

export interface Callees {
  readonly handlers?: HandlerCatalogue | undefined;
  readonly workflows?: WorkflowCatalogue | undefined;
}

/** Holds each `with` against what its handler or child takes; each mistake at its own word. */
export function checkCalls(flow: FlowTypes, callees: Callees, report: Report): void {
  for (const call of flow.model.calls) {
    const callee = calleeOf(call, callees);
    if (callee === undefined) continue;
    const given = call.arguments;
    if (given === undefined) {
      if (!callee.isOptional) reportMissing(callee, callee.takes.map, new Set(), call.name.range, report);
    } else
      new ArgumentCheck(flow, callee, call.place.variables, report).value(
        given.value,
        callee.takes,
        [],
        given.key.range,
      );
  }
}

function calleeOf(call: CallUse, { handlers, workflows }: Callees): Callee | undefined {
  const name = call.name.value;
  if (call.kind === 'child') {
    const child = newestOf(workflows, name, call.revision);
    if (child === undefined) return undefined;
    return { name, takes: typeOfSchema(inputSchemaOf(child.document)), isOptional: false, dropsOthers: false };
  }
  const handler = handlers?.get(name);
  if (handler?.input === undefined) return undefined;
  return {
    name,
    takes: typeOfSchema(handler.input),
    isOptional: handler.inputOptional === true,
    dropsOthers: dropsOthers(handler.input),
  };
}

/** Zod's plain objects say nothing of other fields, and take them away. */
function dropsOthers(schema: JsonObject): boolean {
  return isJsonObject(schema.properties) && !Object.hasOwn(schema, 'additionalProperties');
}

class ArgumentCheck {
  constructor(
    private readonly flow: FlowTypes,
    private readonly callee: Callee,
    private readonly variables: Variables,
    private readonly report: Report,
  ) {}

  /** `range` is what to underline where the value itself has many lines. */
  value(node: SyntaxNode, takes: Type, path: readonly string[], range: Range): void {
    if (takes.anything) return;
    switch (node.kind) {
      case 'mapping':
        if (node.entries.some(({ key }) => key.value === '$secret')) return;
        if (takes.map === undefined)
          this.#mismatch(range, path, takes, 'a map', `write ${describeType(takes)}, or a formula that gives it`);
        else this.#fields(node, takes.map, path, range);
        return;
      case 'sequence':
        if (takes.list === undefined)
          this.#mismatch(range, path, takes, 'a list', `write ${describeType(takes)}, or a formula that gives it`);
        else {
          const { items } = takes.list;
          node.items.forEach((item, index) => this.value(item, items, [...path, `[${index}]`], item.range));
        }
        return;
      case 'scalar':
        this.#scalar(node, takes, path);
    }
  }

  #fields(node: MappingNode, takes: MapType, path: readonly string[], range: Range): void {
    const given = new Set(node.entries.map(({ key }) => key.value));
    const open = [...takes.fields].filter(([name, type]) => !given.has(name) && !isNever(present(type)));
    const meant = new Set<string>();
    for (const { key, value } of node.entries) {
      const name = key.value;
      if (takes.fields.has(name) && !isNever(present(fieldOf(takes, name)))) {
        this.value(value, present(fieldOf(takes, name)), [...path, name], key.range);
        continue;
      }
      const guess = nearest(
        name,
        open.map(([field]) => field),
      );
      if (guess !== undefined) meant.add(guess);
      this.#undeclared(key, takes, path, guess);
    }
    reportMissing(this.callee, takes, new Set([...given, ...meant]), range, this.report, path);
  }

  #undeclared(key: TextNode, takes: MapType, path: readonly string[], guess?: string): void {
    const where = ownerText(this.callee, path);
    const names = [...takes.fields.keys()];
    const known = names.length === 0 ? `${where} takes no fields at all` : `it takes ${listOfNames(names)}`;
    const help = guess === undefined ? known : `did you mean \`${guess}\`?`;
    const isNeeded = guess !== undefined && takes.fields.get(guess)?.absent === false;
    if (isNeeded || isNever(present(takes.rest))) {
      this.report.error('RS5002', key.range, `${where} takes no ${quoted(key.value)}`, help);
    } else if (guess !== undefined || (this.callee.dropsOthers && path.length === 0)) {
      this.report.warning('RS5004', key.range, `${where} does not declare ${quoted(key.value)}`, help);
    }
  }

  #scalar(node: ScalarNode, takes: Type, path: readonly string[]): void {
    const type = this.flow.typeOfTemplate(node, this.variables, { exact: true });
    if (isNever(type)) return;
    const isComputed = isFormula(node);
    if (mayBe(type, takes)) {
      if (isComputed) this.#suspect(node, type, takes, path);
      return;
    }
    // A mistake inside a formula is the reason for whatever else is wrong with it.
    if (isComputed && this.flow.formula(node, this.variables)?.inference.isFlawed !== false) return;
    const range = isComputed ? { start: node.offsetOf(0), end: node.offsetOf(node.value.length) } : node.range;
    const reason = type.map !== undefined && takes.map !== undefined ? reasonOf(type.map, takes.map) : undefined;
    if (reason !== undefined) {
      const subject = ownerText(this.callee, path);
      const help = 'write the fields in `with` one by one, each as it must be';
      this.report.error('RS5003', range, `what ${subject} is given ${reason}`, help);
      return;
    }
    const choices = takes.string !== undefined && takes.string !== 'any' ? [...takes.string] : undefined;
    if (choices !== undefined && typeof node.value === 'string' && !isComputed) {
      const guess = nearest(node.value, choices);
      const help =
        guess === undefined
          ? `it takes ${choices
              .slice(0, 8)
              .map((each) => quoted(each))
              .join(', ')}`
          : `did you mean \`${guess}\`?`;
      this.report.error('RS5003', range, `${subjectText(this.callee, path)} cannot be ${quoted(node.value)}`, help);
      return;
    }
    this.#mismatch(
      range,
      path,
      takes,
      describeType(type),
      isComputed ? computedHelp(type, takes) : literalHelp(node, takes),
    );
  }

  /** What fits with some data alone: a filter, which gives a list only of several, and null in place of what is missing. */
  #suspect(node: TextNode, type: Type, takes: Type, path: readonly string[]): void {
    const inspected = inspectFormula(node.value);
    const typed = this.flow.formula(node, this.variables);
    if (!inspected.ok || typed === undefined || typed.inference.isFlawed) return;
    const { tree } = inspected;
    const range = { start: node.offsetOf(tree.start), end: node.offsetOf(tree.end) };
    const subject = subjectText(this.callee, path);
    const value = tree.kind === 'default' ? tree.left : tree;
    const shown = typed.inference.textOf(value);
    if (takes.list !== undefined && isFiltered(value) && !mayBe({ ...type, ...noListNorNull }, withoutList(takes))) {
      const message = `\`${shown}\` is a list only where several match, but ${subject} must be a list`;
      this.report.warning(
        'RS3018',
        range,
        message,
        `\`[${shown}]\` always gives a list, an empty one where none matches`,
      );
      return;
    }
    if (tree.kind !== 'default' || !type.null || takes.null) return;
    if (tree.right.kind !== 'literal' || tree.right.value !== null) return;
    const message = `where \`${shown}\` is missing, this is null, but ${subject} must be ${describeType(takes)}`;
    this.report.warning('RS4032', range, message, this.#helpForNull(shown, takes, path));
  }

  #helpForNull(shown: string, takes: Type, path: readonly string[]): string {
    const [name, ...deeper] = path;
    const isOptional = name !== undefined && deeper.length === 0 && this.callee.takes.map?.fields.get(name)?.absent;
    if (isOptional !== true) return `give a default that is ${describeType(takes)}`;
    const field = `{ ${JSON.stringify(name)}: ${shown} }`;
    return `to leave the field out, write all of \`with\` as one formula: \`=$exists(${shown}) ? ${field} : {}\``;
  }

  #mismatch(range: Range, path: readonly string[], takes: Type, given: string, help: string): void {
    const message = `${subjectText(this.callee, path)} must be ${describeType(takes)}, but this is ${given}`;
    this.report.error('RS5003', range, message, help);
  }
}

const noListNorNull = { list: undefined, null: false };

function withoutList(type: Type): Type {
  return { ...type, list: undefined };
}

const comparisons: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>=', 'in', 'and', 'or']);

/** Whether a path ends with a filter by a condition, and nothing keeps its result a list. */
function isFiltered(node: FormulaNode): boolean {
  if (node.kind !== 'path' || node.group !== undefined || node.steps.some(({ keepsList }) => keepsList)) return false;
  const last = node.steps.at(-1)?.stages.at(-1);
  return last?.kind === 'filter' && last.node.kind === 'binary' && comparisons.has(last.node.operator);
}

/** How to make of what a formula gives what is needed. */
function computedHelp(given: Type, takes: Type): string {
  if (takes.number !== undefined && given.string !== undefined) return 'a number in a text is read by `$number(…)`';
  if (takes.string !== undefined && (given.number !== undefined || given.boolean))
    return 'make a text of it with `$string(…)`';
  if (takes.list !== undefined && given.list === undefined) return 'for a list of one write `[ … ]` around it';
  if (given.map !== undefined) return 'read one of its fields';
  return `give it ${describeType(takes)}`;
}

function literalHelp({ value }: ScalarNode, takes: Type): string {
  if (typeof value === 'string' && takes.number !== undefined && value.trim() !== '' && Number.isFinite(Number(value)))
    return `without quotes it is a number: \`${value}\``;
  if (typeof value === 'string' && takes.boolean && /^(true|false)$/.test(value))
    return `without quotes it is true or false: \`${value}\``;
  if (typeof value === 'string' && value.startsWith('$')) return `for its value write \`=${value}\``;
  if (takes.string !== undefined && (typeof value === 'number' || typeof value === 'boolean'))
    return `as text it is quoted: \`"${String(value)}"\``;
  if (takes.list !== undefined && mayBe(anything, takes.list.items))
    return `a list of one is written \`[${String(value)}]\``;
  return `write ${describeType(takes)}, or a formula that gives it`;
}

/** Why a computed map does not do, in words that follow its subject. */
function reasonOf(given: MapType, takes: MapType): string | undefined {
  for (const [name, type] of takes.fields) {
    const field = fieldOf(given, name);
    if (!type.absent && isNever(present(field))) return `lacks ${quoted(name)}`;
    if (!mayBe(field, type))
      return `has ${describeType(field)} as ${quoted(name)}, which must be ${describeType(type)}`;
  }
  for (const [name, type] of given.fields) {
    if (!type.absent && isNever(present(fieldOf(takes, name)))) return `has ${quoted(name)}, which it does not take`;
  }
  return undefined;
}

function reportMissing(
  callee: Callee,
  takes: MapType | undefined,
  given: ReadonlySet<string>,
  range: Range,
  report: Report,
  path: readonly string[] = [],
): void {
  const missing = [...(takes?.fields ?? [])].flatMap(([name, type]) => (type.absent || given.has(name) ? [] : [name]));
  if (missing.length === 0) return;
  const message = `${ownerText(callee, path)} needs ${listOfNames(missing)}`;
  const place = path.length === 0 ? '`with`' : `\`${path.at(-1) ?? ''}\``;
  report.error('RS5001', range, message, `write ${missing.length === 1 ? 'it' : 'them'} in ${place}`);
}

function ownerText({ name }: Callee, path: readonly string[]): string {
  return path.length === 0 ? `\`${name}\`` : `\`${path.join('.').replaceAll('.[', '[')}\` of \`${name}\``;
}

function subjectText(callee: Callee, path: readonly string[]): string {
  return path.length === 0 ? `the \`with\` of \`${callee.name}\`` : ownerText(callee, path);
}

function listOfNames(names: readonly string[]): string {
  if (names.length <= 8) return listed(names, 'and');
  const shown = names.slice(0, 8).map((name) => `\`${name}\``);
  return `${shown.join(', ')}, …`;
}
