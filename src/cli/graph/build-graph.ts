import {
  type Definition,
  type Item,
  type Items,
  type OnErrorEntry,
  type WorkflowDocument,
  bodiesOf,
  itemKey,
} from '../../definition/index.js';
import { oneLine } from '../text.js';
import type { Box, BoxShape, Graph, GraphEdge, GraphNode, Label, Leaf, LeafShape, Line, NodeState } from './graph.js';
import { conditionLabel, label, linesOf, titleOf } from './item-labels.js';

/** How a run went, where the graph is one of a run. */
export interface States {
  readonly facts: readonly Label[];
  /** In one sentence, without full stop. */
  readonly summary: string;
  /** Of an item, by its key. */
  ofItem(key: string): NodeState;
  /** Of a list of an item (an arm, a branch, an error handler), by its path below the item. */
  ofBody(key: string, path: readonly (string | number)[]): NodeState;
  ofSection(name: SectionName): NodeState;
  readonly start: NodeState;
  readonly end: NodeState;
}

export type SectionName = 'steps' | 'onFailure' | 'finally';

/** The graph of a flow, or of a run of it. */
export function buildGraph({ document, name, revision }: Definition, states?: States): Graph {
  const builder = new Builder(states);
  const { nodes, edges, items } = builder.workflow(document);
  const what = `${items} ${items === 1 ? 'item' : 'items'}`;
  return {
    title: oneLine(name),
    about: oneLine(
      states === undefined
        ? `The workflow ${name}, revision ${revision}, as a graph of ${what}.`
        : `A run of the workflow ${name}, revision ${revision}, as a graph of ${what}: ${states.summary}.`,
    ),
    facts: [label(`revision ${revision}`), ...(states?.facts ?? [])],
    nodes,
    edges,
  };
}

/** Where an arrow to what comes next begins. */
interface Exit {
  readonly from: string;
  readonly kind: GraphEdge['kind'];
  readonly label?: Label;
  readonly untaken?: boolean;
}

/** Nodes in a row, with what of them leads on. */
interface Chain {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly exits: readonly Exit[];
}

class Builder {
  readonly #states: States | undefined;
  #items = 0;
  #ids = 0;

  constructor(states: States | undefined) {
    this.#states = states;
  }

  workflow(document: WorkflowDocument): Pick<Graph, 'nodes' | 'edges'> & { readonly items: number } {
    const start = this.#leaf('start', label('start'), startLines(document), this.#states?.start);
    const exit: Exit = { from: start.id, kind: 'next' };
    const body =
      document.onFailure === undefined && document.finally === undefined
        ? this.#chain(document.steps, '', [exit])
        : this.#sections(document, exit);
    const { nodes, edges, exits } = body;
    if (exits.length === 0) return { nodes: [start, ...nodes], edges, items: this.#items };
    const end = this.#leaf('end', label('end'), [], this.#states?.end);
    return {
      nodes: [start, ...nodes, end],
      edges: [...edges, ...exits.map((each) => this.#edge(each, end))],
      items: this.#items,
    };
  }

  #sections(document: WorkflowDocument, start: Exit): Chain {
    const section = (name: SectionName, title: string, list: Items): Box => {
      const prefix = name === 'steps' ? '' : `${name}.`;
      return this.#box('section', label(title), [], this.#chain(list, prefix), this.#states?.ofSection(name));
    };
    const steps = section('steps', 'steps', document.steps);
    const nodes = [steps];
    const edges = [this.#edge(start, steps)];
    let exits: Exit[] = [{ from: steps.id, kind: 'next' }];
    if (document.onFailure !== undefined) {
      const onFailure = section('onFailure', 'after a failure, once it is undone', document.onFailure);
      nodes.push(onFailure);
      edges.push(this.#edge({ from: steps.id, kind: 'error' }, onFailure));
      const hasRun = onFailure.state !== undefined && onFailure.state.name !== 'not-reached';
      exits = [{ ...exitOf(steps), ...(hasRun && { untaken: true }) }, exitOf(onFailure)];
    }
    if (document.finally !== undefined) {
      const last = section('finally', 'at last, however it ended', document.finally);
      nodes.push(last);
      edges.push(...exits.map((exit) => this.#edge(exit, last)));
      exits = [{ from: last.id, kind: 'next' }];
    }
    return { nodes, edges, exits };
  }

  /** @param prefix of the items' places, as in `walkItems` */
  #chain(list: Items, prefix: string, entries: readonly Exit[] = []): Chain {
    const nodes: GraphNode[] = [];
    const edges: GraphEdge[] = [];
    let exits = entries;
    list.forEach((item, index) => {
      const place = `${prefix}${index}`;
      const key = itemKey(item, place);
      const node = this.#item(item, key, place);
      nodes.push(node);
      edges.push(...exits.map((exit) => this.#edge(exit, node)));
      const handlers = (item.onError ?? []).map((entry, at) => ({
        box: this.#handler(entry, key, place, at),
        goesOn: goesOn(entry.do),
      }));
      for (const { box } of handlers) {
        nodes.push(box);
        edges.push(this.#edge({ from: node.id, kind: 'error' }, box));
      }
      exits = [
        ...(canEnd(item)
          ? [
              {
                ...exitOf(node),
                ...((node.state?.name === 'failed' || node.state?.name === 'handled') && { untaken: true }),
              },
            ]
          : []),
        ...handlers.filter((each) => each.goesOn).map(({ box }) => exitOf(box)),
      ];
    });
    return { nodes, edges, exits };
  }

  /** The run has not gone to what it has not reached. */
  #edge(exit: Exit, to: GraphNode): GraphEdge {
    return { to: to.id, ...exit, ...(to.state?.name === 'not-reached' && { untaken: true }) };
  }

  #item(item: Item, key: string, place: string): GraphNode {
    this.#items += 1;
    const title = titleOf(item);
    const lines = linesOf(item);
    const state = this.#states?.ofItem(key);
    if ('group' in item) return this.#box('group', title, lines, this.#chain(item.group, `${place}.`), state);
    if ('do' in item) return this.#box('loop', title, lines, this.#chain(item.do, `${place}.`), state);
    if ('branch' in item) return this.#box('branch', title, lines, this.#arms(item, key, place), state);
    if ('parallel' in item) return this.#box('parallel', title, lines, this.#lanes(item, key, place), state);
    return this.#leaf(leafShape(item), title, lines, state);
  }

  #arms(item: Extract<Item, { branch: unknown }>, key: string, place: string): Chain {
    const decision = this.#leaf('decision', label(''), []);
    const nodes: GraphNode[] = [decision];
    const edges: GraphEdge[] = [];
    const bodies = bodiesOf(item);
    item.branch.forEach((arm, index) => {
      const body = bodies[index];
      if (body === undefined) return;
      const named = 'else' in arm ? label('else') : armLabel(arm);
      const untaken = this.#states?.ofBody(key, body.path).name === 'not-reached';
      const entry: Exit = { from: decision.id, kind: 'next', label: named, ...(untaken && { untaken }) };
      const chain =
        body.list.length > 0 ? this.#chain(body.list, `${place}.${body.segments}`, [entry]) : this.#nothing(entry);
      nodes.push(...chain.nodes);
      edges.push(...chain.edges);
    });
    return { nodes, edges, exits: [] };
  }

  #nothing(entry: Exit): Chain {
    const state: NodeState | undefined =
      this.#states && (entry.untaken === true ? { name: 'not-reached', text: '' } : { name: 'completed', text: '' });
    const node = this.#leaf('nothing', label('nothing'), [], state);
    return { nodes: [node], edges: [this.#edge(entry, node)], exits: [] };
  }

  #lanes(item: Extract<Item, { parallel: unknown }>, key: string, place: string): Chain {
    const nodes = bodiesOf(item)
      .filter(({ path }) => path[0] === 'parallel')
      .map(({ list, path, segments }) => {
        const state = this.#states?.ofBody(key, path);
        return this.#box('lane', label(String(path[1])), [], this.#chain(list, `${place}.${segments}`), state);
      });
    return { nodes, edges: [], exits: [] };
  }

  #handler(entry: OnErrorEntry, key: string, place: string, index: number): Box {
    const names = entry.errors === undefined || entry.errors.includes('*') ? 'any error' : entry.errors.join(', ');
    const lines: Line[] =
      entry.when === undefined ? [] : [{ role: 'condition', ...label(`only if ${conditionLabel(entry.when).text}`) }];
    const state = this.#states?.ofBody(key, ['onError', index, 'do']);
    const chain = this.#chain(entry.do, `${place}.onError.${index}.`);
    return this.#box('handler', label(`on ${names}`), lines, chain, state);
  }

  #leaf(shape: LeafShape, title: Label, lines: readonly Line[], state?: NodeState): Leaf {
    return { kind: 'leaf', shape, id: this.#newId(), title, lines, ...(state !== undefined && { state }) };
  }

  #box(shape: BoxShape, title: Label, lines: readonly Line[], { nodes, edges }: Chain, state?: NodeState): Box {
    const inside = nodes.length > 0 ? nodes : [this.#leaf('nothing', label('nothing'), [])];
    return {
      kind: 'box',
      shape,
      id: this.#newId(),
      title,
      lines,
      nodes: inside,
      edges,
      ...(state !== undefined && { state }),
    };
  }

  #newId(): string {
    this.#ids += 1;
    return `n${this.#ids}`;
  }
}

function exitOf(node: GraphNode): Exit {
  return { from: node.id, kind: 'next', ...(node.state?.name === 'not-reached' && { untaken: true }) };
}

function armLabel(arm: { readonly when: string | boolean; readonly name?: string }): Label {
  const condition = conditionLabel(arm.when);
  return arm.name === undefined ? condition : { text: arm.name, full: condition.full ?? condition.text };
}

function leafShape(item: Item): LeafShape {
  if ('step' in item) return 'step';
  if ('waitFor' in item) return 'gate';
  if ('sleep' in item) return 'sleep';
  if ('subWorkflow' in item) return 'child';
  if ('pivot' in item) return 'pivot';
  if ('complete' in item) return 'complete';
  if ('fail' in item || 'rethrow' in item) return 'fail';
  return 'set';
}

function startLines({ timeout, schedule = [] }: WorkflowDocument): Line[] {
  const texts = [
    ...schedule.map((entry) => ('cron' in entry ? `${entry.cron} (${entry.timezone})` : `every ${entry.every}`)),
    ...(timeout === undefined || timeout === 'never' ? [] : [`at most ${timeout}`]),
  ];
  return texts.map((text) => ({ role: 'detail', ...label(text) }));
}

/** Whether what follows a list can be reached through its end. */
function goesOn(list: Items): boolean {
  return list.every((item) => canEnd(item) || (item.onError ?? []).some((entry) => goesOn(entry.do)));
}

/** Whether an item can end other than by an error or by the end of the run. */
function canEnd(item: Item): boolean {
  if (item.when !== undefined) return true;
  if ('fail' in item || 'rethrow' in item || 'complete' in item) return false;
  if ('group' in item) return goesOn(item.group);
  if ('branch' in item) return item.branch.some((arm) => goesOn('else' in arm ? arm.else : arm.do));
  return true;
}
