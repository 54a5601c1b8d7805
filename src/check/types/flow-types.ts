import type { JsonObject } from '../../common/index.js';
import { functionNames, inspectFormula } from '../../expression/index.js';
import type { HandlerCatalogue } from '../../handlers/index.js';
import { type SyntaxNode, type TextNode, entryOf, isText, toValue } from '../../syntax/index.js';
import type { Binding, FlowItem, FlowModel, Variables } from '../flow-model.js';
import type { StepNames } from '../step-names.js';
import { errorIfFailed, errorType, runType, workflowType } from './fixed-types.js';
import { type FormulaWorld, Inference, outermost } from './infer.js';
import { ItemOutputs } from './item-outputs.js';
import { schemaAt, typeOfSchema, typeOfValue } from './schema-type.js';
import { spreadOf } from './spread.js';
import {
  type Type,
  anything,
  listOf,
  mapOf,
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
  readonly model: FlowModel;
  /** Absent if nothing is known of the input. */
  readonly inputSchema?: JsonObject | undefined;
  readonly steps: StepNames;
  readonly handlers?: HandlerCatalogue | undefined;
  /** What a child gives. */
  readonly childOutput: (name: string, revision: number | undefined) => Type;
  readonly help?: (owner: string, name: string, fields: readonly string[]) => string | undefined;
  /** Formulas that read as something else than they mean, which is told: their types say nothing. */
  readonly misread: ReadonlySet<SyntaxNode>;
}

export interface TypedFormula {
  readonly type: Type;
  readonly inference: Inference;
}

/** A formula in the sight of certain variables. */
interface KnownFormula {
  readonly variables: Variables;
  typed: TypedFormula;
}

/** The types of a flow: of its variables, its formulas, and what its items give. Each found out when first asked for. */
export class FlowTypes {
  readonly model: FlowModel;
  readonly #sources: FlowSources;
  readonly #outputs: ItemOutputs;
  /** What an alias repeats is one node in several places. */
  readonly #formulas = new Map<SyntaxNode, KnownFormula[]>();
  readonly #worlds = new Map<Variables, FormulaWorld>();
  readonly #language = new Map<string, Type>();
  readonly #bound = new Map<Binding, Type>();

  constructor(sources: FlowSources) {
    this.#sources = sources;
    this.model = sources.model;
    this.#outputs = new ItemOutputs(this, sources);
  }

  /** What the run gives in the end. */
  output(): Type {
    return this.#outputs.ofRun();
  }

  /** The type of a formula where it stands; undefined for a text that is none. */
  formula(node: TextNode, variables: Variables): TypedFormula | undefined {
    const places = this.#formulas.get(node);
    const known = places?.find((each) => each.variables === variables);
    if (known !== undefined) return known.typed;
    const inspected = inspectFormula(node.value);
    if (!inspected.ok || this.#sources.misread.has(node)) return undefined;
    const inference = new Inference(node.value, this.#worldOf(variables), inspected);
    // A loop that reads what its last turn left comes back here: then nothing is known yet.
    const found: KnownFormula = { variables, typed: { type: unknown, inference } };
    if (places === undefined) this.#formulas.set(node, [found]);
    else places.push(found);
    const type = inference.infer(inspected.tree, outermost);
    // What a name that does not exist was meant to be nobody knows.
    const isSound = inspected.free.every(({ node: { name } }) => variables.has(name) || functionNames.has(name));
    found.typed = { type: isSound ? type : unknown, inference };
    return found.typed;
  }

  /** The type of a value with formulas at any depth. Literal texts and numbers are kept only where `exact`. */
  typeOfTemplate(node: SyntaxNode, variables: Variables, options: { exact?: boolean } = {}): Type {
    switch (node.kind) {
      case 'scalar': {
        if (isFormula(node)) return present(this.formula(node, variables)?.type ?? anything);
        const literal = typeOfValue(node.value);
        return options.exact === true ? literal : widened(literal);
      }
      case 'sequence': {
        const items = node.items.map((item) => this.typeOfTemplate(item, variables, options));
        return listOf(union(...items), items.length, items.length);
      }
      case 'mapping':
        if (node.entries.some(({ key }) => key.value === '$secret')) return anything;
        return mapOf(node.entries.map(({ key, value }) => [key.value, this.typeOfTemplate(value, variables, options)]));
    }
  }

  /** What a `forEach` goes through. */
  elementsOf({ node, verb, variables }: FlowItem): { items: Type; min: number; max: number } {
    const list = entryOf(node, verb)?.value;
    const type = isText(list)
      ? (this.formula(list, variables)?.type ?? unknown)
      : list?.kind === 'sequence'
        ? this.typeOfTemplate(list, variables)
        : unknown;
    return spreadOf(type);
  }

  handlerOutput(name: SyntaxNode | undefined): JsonObject | undefined {
    return isText(name) ? this.#sources.handlers?.get(name.value)?.output : undefined;
  }

  #worldOf(variables: Variables): FormulaWorld {
    const known = this.#worlds.get(variables);
    if (known !== undefined) return known;
    const { help, steps } = this.#sources;
    const world: FormulaWorld = {
      variable: (name) => {
        const binding = variables.get(name);
        return binding && this.#typeOfVariable(name, binding);
      },
      step: (id) => {
        const item = steps.items.get(id);
        // Whether it has run at all is another question.
        return item && optional(this.#outputs.of(item.node));
      },
      ...(help !== undefined && { help }),
    };
    this.#worlds.set(variables, world);
    return world;
  }

  #typeOfVariable(name: string, binding: Binding): Type | undefined {
    switch (binding.kind) {
      case 'language':
        return this.#remembered(this.#language, name, () => this.#languageType(name));
      case 'number':
        return numberType;
      case 'error':
        return binding.mayLack ? errorIfFailed : errorType;
      default:
        return this.#remembered(this.#bound, binding, () => this.#boundType(binding));
    }
  }

  #remembered<K>(types: Map<K, Type>, key: K, compute: () => Type): Type {
    const known = types.get(key);
    if (known !== undefined) return known;
    const type = compute();
    types.set(key, type);
    return type;
  }

  #languageType(name: string): Type {
    const { root, inputSchema } = this.#sources;
    switch (name) {
      case 'input':
        return inputSchema === undefined ? unknown : typeOfSchema(inputSchema, { fillsDefaults: true });
      case 'constants': {
        const constants = entryOf(root, 'constants')?.value;
        return constants === undefined ? mapOf([]) : widened(typeOfValue(toValue(constants)));
      }
      case 'workflow':
        return workflowType;
      case 'run':
        return runType;
      default:
        return unknown;
    }
  }

  #boundType({ kind, item }: Extract<Binding, { item: FlowItem }>): Type {
    switch (kind) {
      case 'element':
        return this.elementsOf(item).items;
      case 'signal': {
        const schema = schemaAt(entryOf(item.node, 'schema')?.value);
        return schema === undefined ? unknown : typeOfSchema(schema);
      }
      case 'result': {
        const schema = this.handlerOutput(entryOf(item.node, 'step')?.value);
        return union(schema === undefined ? anything : typeOfSchema(schema), nullType);
      }
    }
  }
}

export function isFormula(node: SyntaxNode): node is TextNode {
  return isText(node) && node.value.startsWith('=');
}
