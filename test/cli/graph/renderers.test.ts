import { harmless } from '../../../src/common/index.js';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Graph,
  type GraphEdge,
  type GraphNode,
  type Label,
  buildGraph,
  toDot,
  toMermaid,
} from '../../../src/cli/graph/index.js';
import { allNodes } from '../../../src/cli/graph/graph.js';
import { layOut } from '../../../src/cli/graph/svg/layout.js';
import { toSvg } from '../../../src/cli/graph/svg/svg.js';
import { definitionOf } from '../../support/flow.js';
import { elements, parseDot, parseXml, textOf } from './small-parsers.js';

const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));
const definitions = fileURLToPath(new URL('../../../definitions', import.meta.url));

function graphOfFile(path: string): Graph {
  return buildGraph(definitionOf(readFileSync(path, 'utf8')));
}

const everything = graphOfFile(join(fixtures, 'everything.yaml'));

function sixtySteps(): Graph {
  const steps = Array.from({ length: 60 }, (_each, index) => {
    const head = `  - id: step${index}\n    step: shop.step${index}\n`;
    if (index % 7 === 3) return `${head}    onError:\n      - do:\n          - step: mail.send\n`;
    if (index % 11 === 5) return `  - id: step${index}\n    forEach: [1, 2]\n    do:\n      - step: shop.pick\n`;
    return head;
  });
  return buildGraph(definitionOf(`workflow: sixty\nsteps:\n${steps.join('')}`));
}

describe('a graph', () => {
  it('joins only nodes that stand side by side, each with another name', () => {
    const ids = [...allNodes(everything.nodes)].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const check = ({ nodes, edges }: { nodes: readonly GraphNode[]; edges: readonly GraphEdge[] }): void => {
      const here = new Set(nodes.map(({ id }) => id));
      for (const { from, to } of edges) expect([here.has(from), here.has(to)]).toEqual([true, true]);
      for (const node of nodes) if (node.kind === 'box') check(node);
    };
    check(everything);
  });

  it('leads nowhere from where the run or its error ends', () => {
    const graph = buildGraph(definitionOf('steps:\n  - fail: Stop\n'));
    expect(graph.nodes.map((node) => node.shape)).toEqual(['start', 'fail']);
  });
});

describe('Mermaid', () => {
  it('draws all there is in the language', () =>
    expect(toMermaid(everything)).toMatchFileSnapshot(join(fixtures, 'everything.mmd')));

  it('keeps its shape whatever the texts are', () => {
    const skeleton = (text: string): string => text.replace(/"[^"\n]*"/g, '""');
    const plain = skeleton(toMermaid(withText('x')));
    fc.assert(
      fc.property(anyText, (text) => {
        const drawn = toMermaid(withText(text));
        expect(skeleton(drawn)).toBe(plain);
        const [label = ''] = /"<b>.*?<\/b>/u.exec(drawn) ?? [];
        expect(unescapedMermaid(label.slice(4, -4))).toBe(text);
        // Nothing of it is markup, a comment, a directive or a formula of TeX.
        const texts = [...drawn.matchAll(/"([^"\n]*)"/g)].map(([, quoted = '']) => quoted).join('\n');
        expect(texts.replaceAll(/<\/?[bi]>|<br\/>/g, '')).not.toMatch(/[<>`]|%%|\$\$/);
      }),
      { numRuns: 200, seed: 7 },
    );
  });
});

describe('Graphviz', () => {
  it('draws all there is in the language', async () => {
    const dot = toDot(everything);
    await expect(dot).toMatchFileSnapshot(join(fixtures, 'everything.dot'));
    const { nodes, clusters, edges } = parseDot(dot);
    const all = [...allNodes(everything.nodes)];
    expect([...nodes.keys()].sort()).toEqual(
      all
        .filter(({ kind }) => kind === 'leaf')
        .map(({ id }) => id)
        .sort(),
    );
    expect(clusters.size).toBe(all.filter(({ kind }) => kind === 'box').length);
    for (const { from, to, attributes } of edges) {
      expect([nodes.has(from), nodes.has(to)]).toEqual([true, true]);
      for (const end of ['ltail', 'lhead']) {
        const cluster = attributes.get(end);
        if (cluster !== undefined) expect([...clusters.keys()]).toContain(cluster);
      }
    }
  });

  it('keeps its shape whatever the texts are', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { nodes, clusters, edges } = parseDot(toDot(withText(text)));
        expect(nodes.get('n1')?.get('label')).toBe(`${text}\n${text}`);
        expect(clusters.get('cluster_n2')).toBe(`${text}\n${text}\n`);
        expect(edges.map(({ attributes }) => attributes.get('label'))).toEqual([text]);
      }),
      { numRuns: 200, seed: 7 },
    );
  });
});

describe('SVG', () => {
  it.each(
    readdirSync(definitions)
      .filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml'))
      .map((name) => join(definitions, name)),
  )('of %s: everything has its place', async (path) => {
    await expectRoom(graphOfFile(path));
  });

  it('of all there is in the language, and of sixty steps, which go on in columns', async () => {
    await expectRoom(everything);
    const { width, height } = await expectRoom(sixtySteps());
    expect(width / height).toBeGreaterThan(0.5);
    expect(width / height).toBeLessThan(3);
  });

  it('is whole XML that says what it shows, in light and dark', async () => {
    const svg = await toSvg(everything);
    const root = parseXml(svg);
    expect(root.attributes.get('role')).toBe('img');
    expect(elements(root, 'title').map(textOf)[0]).toBe('everything');
    expect(elements(root, 'desc').map(textOf)).toEqual([everything.about]);
    expect(svg).toContain('prefers-color-scheme:dark');
    expect(svg).not.toMatch(/https?:(?!\/\/www\.w3\.org\/2000\/svg)|<script|@import|url\((?!#)/);
    const texts = elements(root, 'text').map(textOf);
    expect(texts).toContain('undone by payments.refund');
    // Shortened, and whole in the tooltip.
    expect(texts.some((text) => text.startsWith('at most 48h, else') && text.endsWith('…'))).toBe(true);
    expect(elements(root, 'title').map(textOf).join('\n')).toContain(
      'at most 48h, else { approved: false, by: nobody }',
    );
  });

  it('has its colours as attributes, for programs that know no style sheets', async () => {
    const svg = await toSvg(everything);
    expect(svg).not.toContain('var(');
    const drawn = ['rect', 'polygon', 'path', 'text'].flatMap((name) => elements(parseXml(svg), name));
    expect(drawn.length).toBeGreaterThan(50);
    for (const { attributes } of drawn) {
      expect(attributes.get('fill')).toMatch(/^(none|#[0-9a-f]{6})$/);
      expect(attributes.get('stroke') ?? 'none').toMatch(/^(none|#[0-9a-f]{6})$/);
      for (const name of attributes.get('class')?.split(' ') ?? []) expect(svg).toContain(`.${name}{`);
    }
  });

  it('stays whole XML whatever the texts are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText, fc.string({ unit: 'binary' })), async (text) => {
        const root = parseXml(await toSvg(withText(text)));
        const shown = harmless(text).replace(/\p{Surrogate}|[\ufffe\uffff]/gu, '\ufffd');
        if (text !== '') expect(elements(root, 'text').map(textOf)).toContain(shown);
      }),
      { numRuns: 60, seed: 7 },
    );
  });
});

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }).map(oneLine),
  fc.constantFrom(
    '"',
    '#quot;',
    '%%{init: {}}%%',
    '%% no comment',
    '1. list',
    '`code`',
    '<script>alert(1)</script>',
    'a & b &amp; c',
    '\\N \\',
    'end',
    '$$x$$',
    'style n1:#f00;',
    ']]',
    '日本語 ≥ 5',
    '-->|x| n9',
  ),
);

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ').trim();
}

/** A leaf and a box joined by an edge, all with this text. */
function withText(text: string): Graph {
  const label: Label = { text };
  const lines = [{ role: 'detail', text }] as const;
  const leaf = (id: string): GraphNode => ({ kind: 'leaf', shape: 'step', id, title: label, lines });
  const box: GraphNode = { kind: 'box', shape: 'group', id: 'n2', title: label, lines, nodes: [leaf('n3')], edges: [] };
  const edges = [{ from: 'n1', to: 'n2', kind: 'next', label }] as const;
  return { title: 'flow', about: text, facts: [], nodes: [leaf('n1'), box], edges };
}

function unescapedMermaid(text: string): string {
  return text.replace(/#(\d+);/g, (_escape, code: string) => String.fromCodePoint(Number(code)));
}

/** Nodes lie inside what holds them, side by side and not upon one another; lines and labels stay in the picture. */
async function expectRoom(graph: Graph): Promise<{ width: number; height: number }> {
  const { width, height, nodes, edges } = await layOut(graph);
  const places = new Map(nodes.map((placed) => [placed.node.id, placed]));
  expect(places.size).toBe([...allNodes(graph.nodes)].length);
  const check = (siblings: readonly GraphNode[], x: number, y: number, right: number, bottom: number): void => {
    const placed = siblings.map(({ id }) => places.get(id)).filter((each) => each !== undefined);
    for (const each of placed) {
      expect(each.x).toBeGreaterThanOrEqual(x - 0.01);
      expect(each.y).toBeGreaterThanOrEqual(y - 0.01);
      expect(each.x + each.width).toBeLessThanOrEqual(right + 0.01);
      expect(each.y + each.height).toBeLessThanOrEqual(bottom + 0.01);
      for (const other of placed) {
        if (other === each) continue;
        const apart =
          other.x >= each.x + each.width ||
          each.x >= other.x + other.width ||
          other.y >= each.y + each.height ||
          each.y >= other.y + other.height;
        expect(apart, `${each.node.title.text} and ${other.node.title.text}`).toBe(true);
      }
      if (each.node.kind === 'box') check(each.node.nodes, each.x, each.y, each.x + each.width, each.y + each.height);
    }
  };
  check(graph.nodes, 0, 0, width, height);
  for (const { points, label } of edges) {
    expect(points.length).toBeGreaterThanOrEqual(2);
    for (const point of [...points, ...(label === undefined ? [] : [label])]) {
      expect(point.x).toBeGreaterThanOrEqual(0);
      expect(point.x).toBeLessThanOrEqual(width);
      expect(point.y).toBeGreaterThanOrEqual(0);
      expect(point.y).toBeLessThanOrEqual(height);
    }
  }
  return { width, height };
}
