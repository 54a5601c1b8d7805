import { xmlText } from '../../formats/xml.js';
import type { Graph, GraphNode } from '../graph.js';
import { layOut } from './layout.js';
import { edgeColors, lookOf, rulePaint, shapePaint, textColor } from './node-paint.js';
import { darkStyleSheet, paint } from './paint.js';
import type { Layout, PlacedEdge, PlacedNode, Point } from './placed.js';
import { sizes, textsOf } from './sizes.js';
import { textWidth } from './text-width.js';

const headerHeight = 58;
const border = 16;

/** Metrics of Helvetica, which is what the boxes are measured for. */
const fonts = "Helvetica,Arial,'Liberation Sans',sans-serif";

/**
 * The graph as a picture that stands alone: no script, no font or style from elsewhere. Its colours are attributes, which
 * every program understands; in a browser it is light or dark as the reader prefers.
 */
export async function toSvg(graph: Graph): Promise<string> {
  const layout = await layOut(graph);
  const heading = headingOf(graph);
  const width = Math.ceil(Math.max(layout.width, heading.width) + 2 * border);
  const height = Math.ceil(layout.height + headerHeight + border);
  const left = (width - layout.width) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title about" font-family="${fonts}">`,
    `<title id="title">${xmlText(graph.title)}</title>`,
    `<desc id="about">${xmlText(graph.about)}</desc>`,
    `<style>${darkStyleSheet}</style>`,
    arrowHeads,
    `<rect ${paint({ fill: 'ground' })} width="${width}" height="${height}" rx="8"/>`,
    heading.svg,
    `<g transform="translate(${number(left)} ${headerHeight})">`,
    ...contents(layout),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const arrowHeads =
  '<defs>' +
  Object.entries(edgeColors)
    .map(
      ([look, fill]) =>
        `<marker id="${look}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">` +
        `<path ${paint({ fill })} d="M0 0.5 L8 4 L0 7.5 Z"/></marker>`,
    )
    .join('') +
  '</defs>';

function headingOf({ title, facts }: Graph): { readonly svg: string; readonly width: number } {
  const facet = facts.map(({ text }) => text).join('   ·   ');
  const full = facts.flatMap(({ full: whole }) => whole ?? []).join('\n');
  return {
    width: Math.max(textWidth(title, 18, true), textWidth(facet, 12)),
    svg:
      `<text ${paint({ fill: 'text' })} font-size="18" font-weight="bold" x="${border}" y="28">${xmlText(title)}</text>` +
      `<text ${paint({ fill: 'quiet' })} font-size="12" x="${border}" y="47">${full === '' ? '' : `<title>${xmlText(full)}</title>`}${xmlText(facet)}</text>`,
  };
}

function contents({ nodes, edges }: Layout): string[] {
  return [
    ...nodes.filter(({ node }) => node.kind === 'box').map(drawNode),
    ...edges.map(drawEdge),
    ...nodes.filter(({ node }) => node.kind === 'leaf').map(drawNode),
    ...edges.map(drawLabel),
  ].filter((text) => text !== '');
}

function drawNode(placed: PlacedNode): string {
  const { node } = placed;
  const texts = node.kind === 'leaf' && node.shape === 'decision' ? '' : drawTexts(placed);
  return `<g>${tooltip(node)}${outline(placed)}${texts}</g>`;
}

/** All that the node says, unshortened. */
function tooltip(node: GraphNode): string {
  const { title, lines, state } = node;
  const whole = [title, ...lines].map(({ text, full }) => full ?? text);
  const texts = [...whole, ...(state === undefined ? [] : [state.text || state.name])].filter((text) => text !== '');
  return texts.length === 0 ? '' : `<title>${xmlText(texts.join('\n'))}</title>`;
}

function outline({ node, x, y, width, height }: PlacedNode): string {
  const look = paint(shapePaint(node));
  const box = `x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"`;
  switch (node.shape) {
    case 'start':
    case 'end':
    case 'complete':
      return `<rect ${look} ${box} rx="${number(Math.min(height / 2, 18))}"/>`;
    case 'sleep':
      return `<rect ${look} ${box} rx="14"/>`;
    case 'gate':
      return polygon(look, [
        [x + 10, y],
        [x + width - 10, y],
        [x + width, y + height / 2],
        [x + width - 10, y + height],
        [x + 10, y + height],
        [x, y + height / 2],
      ]);
    case 'decision':
      return polygon(look, [
        [x + width / 2, y],
        [x + width, y + height / 2],
        [x + width / 2, y + height],
        [x, y + height / 2],
      ]);
    case 'fail':
      return polygon(look, [
        [x + 8, y],
        [x + width - 8, y],
        [x + width, y + 8],
        [x + width, y + height - 8],
        [x + width - 8, y + height],
        [x + 8, y + height],
        [x, y + height - 8],
        [x, y + 8],
      ]);
    case 'child':
      return (
        `<rect ${look} ${box} rx="4"/>` +
        `<path ${paint(rulePaint(node, 'accent'))} d="M${number(x + 5)} ${number(y)} v${number(height)} M${number(x + width - 5)} ${number(y)} v${number(height)}"/>`
      );
    case 'pivot':
      return (
        `<rect ${look} ${box}/>` +
        `<path ${paint(rulePaint(node, 'text', 3))} d="M${number(x)} ${number(y)} h${number(width)} M${number(x)} ${number(y + height)} h${number(width)}"/>`
      );
    default:
      return `<rect ${look} ${box} rx="6"/>`;
  }
}

function polygon(look: string, points: readonly (readonly [number, number])[]): string {
  return `<polygon ${look} points="${points.map(([x, y]) => `${number(x)},${number(y)}`).join(' ')}"/>`;
}

function drawTexts({ node, x, y, width }: PlacedNode): string {
  const isBox = node.kind === 'box';
  const at = number(isBox ? x + sizes.padding : x + width / 2);
  let baseline = y + sizes.padding - 6;
  return textsOf(node)
    .map(({ bold, label, role }) => {
      baseline += bold ? sizes.titleHeight : sizes.lineHeight;
      const font = [
        `font-size="${bold && node.shape !== 'nothing' ? sizes.title : sizes.line}"`,
        ...((bold && node.shape !== 'nothing') || role === 'state' ? ['font-weight="bold"'] : []),
        ...(role === 'condition' ? ['font-style="italic"'] : []),
        ...(isBox ? [] : ['text-anchor="middle"']),
      ].join(' ');
      const fill = paint({ fill: textColor(node, role) });
      return `<text ${fill} ${font} x="${at}" y="${number(baseline)}">${xmlText(label.text)}</text>`;
    })
    .join('');
}

function drawEdge({ edge, points, arrow }: PlacedEdge): string {
  const look = lookOf(edge);
  const head = arrow ? ` marker-end="url(#${look})"` : '';
  const dashes = edge.kind === 'error' ? { dashes: '5 4' } : {};
  const line = paint({ fill: 'none', stroke: edgeColors[look], strokeWidth: 1.4, ...dashes });
  return `<path ${line} d="${rounded(points)}"${head}/>`;
}

function drawLabel({ edge, label }: PlacedEdge): string {
  if (edge.label === undefined || label === undefined) return '';
  const { text, full } = edge.label;
  const width = textWidth(text, sizes.edge) + 6;
  return (
    `<g>${full === undefined ? '' : `<title>${xmlText(full)}</title>`}` +
    `<rect ${paint({ fill: 'ground' })} opacity="0.85" x="${number(label.x - width / 2)}" y="${number(label.y - 8)}" width="${number(width)}" height="16" rx="3"/>` +
    `<text ${paint({ fill: edge.untaken === true ? 'quiet' : 'text' })} font-size="${sizes.edge}" text-anchor="middle" x="${number(label.x)}" y="${number(label.y + 4)}">${xmlText(text)}</text></g>`
  );
}

/** A line whose corners are rounded. */
function rounded(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      const after = points[index + 1];
      if (before === undefined) return `M${number(point.x)} ${number(point.y)}`;
      if (after === undefined) return `L${number(point.x)} ${number(point.y)}`;
      const from = towards(point, before);
      const to = towards(point, after);
      return `L${number(from.x)} ${number(from.y)} Q${number(point.x)} ${number(point.y)} ${number(to.x)} ${number(to.y)}`;
    })
    .join(' ');
}

function towards(corner: Point, other: Point): Point {
  const length = Math.hypot(other.x - corner.x, other.y - corner.y);
  const part = length === 0 ? 0 : Math.min(6, length / 2) / length;
  return { x: corner.x + (other.x - corner.x) * part, y: corner.y + (other.y - corner.y) * part };
}

function number(value: number): string {
  return String(Math.round(value * 10) / 10);
}
