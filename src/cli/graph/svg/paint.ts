import type { StateName } from '../graph.js';
import { darkColors, lightColors } from '../state-colors.js';

type PlainColor =
  'ground' | 'text' | 'quiet' | 'leaf' | 'box' | 'border' | 'edge' | 'faint' | 'accent' | 'loop' | 'danger' | 'undo';

/** A colour by its use, which is also the name of its class: `quiet`, `failed-border`. */
export type Color = PlainColor | `${StateName}-${'fill' | 'border' | 'text'}`;

/** How an element is drawn. */
export interface Paint {
  readonly fill?: Color | 'none';
  readonly stroke?: Color | 'none';
  /** In pixels; 1.2 unless given. */
  readonly strokeWidth?: number;
  readonly dashes?: string;
}

const light: Readonly<Record<PlainColor, string>> = {
  ground: '#ffffff',
  text: '#1f2328',
  quiet: '#59636e',
  leaf: '#ffffff',
  box: '#818b98',
  border: '#8c959f',
  edge: '#59636e',
  faint: '#c4cad1',
  accent: '#0969da',
  loop: '#8250df',
  danger: '#cf222e',
  undo: '#8250df',
};

const dark: Readonly<Record<PlainColor, string>> = {
  ground: '#0d1117',
  text: '#f0f6fc',
  quiet: '#9198a1',
  leaf: '#151b23',
  box: '#656c76',
  border: '#6e7681',
  edge: '#9198a1',
  faint: '#3d444d',
  accent: '#58a6ff',
  loop: '#a371f7',
  danger: '#f85149',
  undo: '#a371f7',
};

/** Boxes are in one another, and let those around them show through. */
const boxOpacity = 0.1;

const lightValues = withStates(light, lightColors);
const darkValues = withStates(dark, darkColors);

/**
 * Attributes with the colours of the light theme, which every program that draws SVG understands, and classes by which
 * the style sheet turns them into those of the dark one.
 */
export function paint({ fill, stroke, strokeWidth = 1.2, dashes }: Paint): string {
  const classes = [
    ...(fill === undefined || fill === 'none' ? [] : [`f-${fill}`]),
    ...(stroke === undefined || stroke === 'none' ? [] : [`s-${stroke}`]),
  ];
  return [
    ...(classes.length === 0 ? [] : [`class="${classes.join(' ')}"`]),
    ...(fill === undefined ? [] : [`fill="${valueOf(fill)}"`]),
    ...(fill === 'box' ? [`fill-opacity="${boxOpacity}"`] : []),
    ...(stroke === undefined ? [] : [`stroke="${valueOf(stroke)}"`]),
    ...(stroke === undefined || stroke === 'none' ? [] : [`stroke-width="${strokeWidth}"`]),
    ...(dashes === undefined ? [] : [`stroke-dasharray="${dashes}"`]),
  ].join(' ');
}

function valueOf(color: Color | 'none'): string {
  return color === 'none' ? color : (lightValues.get(color) ?? color);
}

/** For readers who prefer dark pages, where whatever shows the picture can tell. A rule beats an attribute. */
export const darkStyleSheet = `@media(prefers-color-scheme:dark){${[...darkValues]
  .map(([name, value]) => `.f-${name}{fill:${value}}.s-${name}{stroke:${value}}`)
  .join('')}}`;

function withStates(plain: Readonly<Record<PlainColor, string>>, states: typeof lightColors): Map<Color, string> {
  const values = new Map<Color, string>(Object.entries(plain) as [PlainColor, string][]);
  for (const [name, colors] of Object.entries(states) as [StateName, (typeof states)[StateName]][]) {
    for (const part of ['fill', 'border', 'text'] as const) values.set(`${name}-${part}`, colors[part]);
  }
  return values;
}
