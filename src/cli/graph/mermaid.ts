import { oneLine } from '../../common/index.js';
import type { Graph, GraphEdge, GraphNode, LeafShape, StateName } from './graph.js';
import { allNodes } from './graph.js';
import { lightColors } from './state-colors.js';

/** The graph as a Mermaid flowchart, which GitHub and many editors draw where it stands in Markdown. */
export function toMermaid(graph: Graph): string {
  const lines = [
    '---',
    `title: ${titleText([graph.title, ...graph.facts.map(({ text }) => text)].join(', '))}`,
    '---',
    'flowchart TB',
    ...contents(graph, 1),
    ...classLines(graph),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * Quoted as YAML reads it; Mermaid looks for directives and markup in the whole text, so that whatever could be one is
 * written by its number.
 */
function titleText(text: string): string {
  const safe = oneLine(text).replace(/[^\p{Letter}\p{Mark}\p{Number} .,:()@=+_$'!?…-]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
  return `"${safe}"`;
}

function contents({ nodes, edges }: Pick<Graph, 'nodes' | 'edges'>, depth: number): string[] {
  return [...nodes.flatMap((node) => nodeLines(node, depth)), ...edges.map((edge) => indent(depth) + edgeText(edge))];
}

function nodeLines(node: GraphNode, depth: number): string[] {
  const text = `"${labelText(node)}"`;
  if (node.kind === 'leaf') {
    const [open, close] = brackets[node.shape];
    return [`${indent(depth)}${node.id}${open}${text}${close}`];
  }
  return [
    `${indent(depth)}subgraph ${node.id} [${text}]`,
    `${indent(depth + 1)}direction ${node.shape === 'parallel' ? 'LR' : 'TB'}`,
    ...contents(node, depth + 1),
    `${indent(depth)}end`,
  ];
}

const brackets: Readonly<Record<LeafShape, readonly [string, string]>> = {
  start: ['([', '])'],
  end: ['([', '])'],
  step: ['[', ']'],
  set: ['[/', '/]'],
  gate: ['{{', '}}'],
  sleep: ['(', ')'],
  child: ['[[', ']]'],
  pivot: ['[\\', '\\]'],
  complete: ['([', '])'],
  fail: ['([', '])'],
  decision: ['{', '}'],
  nothing: ['(', ')'],
};

function labelText({ title, lines, state }: GraphNode): string {
  const texts = [
    ...(title.text === '' ? [' '] : [`<b>${escapeText(title.text)}</b>`]),
    ...lines.map(({ text }) => escapeText(text)),
    ...(state === undefined || state.text === '' ? [] : [`<i>${escapeText(state.text)}</i>`]),
  ];
  return texts.join('<br/>');
}

function edgeText({ from, to, kind, label }: GraphEdge): string {
  const arrow = kind === 'error' ? '-.->' : '-->';
  return `${from} ${arrow}${label === undefined ? '' : `|"${escapeText(label.text)}"|`} ${to}`;
}

/**
 * Text as Mermaid takes it between double quotes. Whatever could be its syntax, HTML, a comment or Markdown is written
 * by its number; letters of all scripts stay readable.
 */
function escapeText(text: string): string {
  return text
    .replace(
      /[^\p{Letter}\p{Mark}\p{Number} .,()=+/_$'!?…-]|\$(?=\$)/gu,
      (character) => `#${character.codePointAt(0)};`,
    )
    .replace(/^(\d+)\.(?= )/, '$1#46;');
}

function classLines(graph: Graph): string[] {
  const members = new Map<StateName, string[]>();
  for (const { id, state } of allNodes(graph.nodes)) {
    if (state !== undefined) members.set(state.name, [...(members.get(state.name) ?? []), id]);
  }
  return [...members].flatMap(([name, ids]) => {
    const { fill, border, text } = lightColors[name];
    const dashes = name === 'not-reached' || name === 'skipped' ? ',stroke-dasharray:4 3' : '';
    return [
      `  classDef ${name} fill:${fill},stroke:${border},color:${text}${dashes}`,
      `  class ${ids.join(',')} ${name}`,
    ];
  });
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}
