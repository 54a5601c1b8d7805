import type { StateName } from '../graph.js';
import { type StateColors, darkColors, lightColors } from '../state-colors.js';

interface Palette {
  readonly ground: string;
  readonly text: string;
  readonly quiet: string;
  readonly leaf: string;
  readonly box: string;
  readonly border: string;
  readonly edge: string;
  readonly faint: string;
  readonly accent: string;
  readonly loop: string;
  readonly danger: string;
  readonly undo: string;
  readonly states: Readonly<Record<StateName, StateColors>>;
}

const light: Palette = {
  ground: '#ffffff',
  text: '#1f2328',
  quiet: '#59636e',
  leaf: '#ffffff',
  box: '#818b9814',
  border: '#8c959f',
  edge: '#59636e',
  faint: '#c4cad1',
  accent: '#0969da',
  loop: '#8250df',
  danger: '#cf222e',
  undo: '#8250df',
  states: lightColors,
};

const dark: Palette = {
  ground: '#0d1117',
  text: '#f0f6fc',
  quiet: '#9198a1',
  leaf: '#151b23',
  box: '#656c7626',
  border: '#6e7681',
  edge: '#9198a1',
  faint: '#3d444d',
  accent: '#58a6ff',
  loop: '#a371f7',
  danger: '#f85149',
  undo: '#a371f7',
  states: darkColors,
};

/** Metrics of Helvetica, which is what the boxes are measured for. */
const fonts = "font-family:Helvetica,Arial,'Liberation Sans',sans-serif";

export const styleSheet = [
  `text{${fonts};fill:var(--text)}`,
  '.heading{font-size:18px;font-weight:bold}.facts{font-size:12px;fill:var(--quiet)}',
  '.node text{font-size:11px;fill:var(--quiet)}.leaf text{text-anchor:middle}',
  '.node text.title{font-size:13px;font-weight:bold;fill:var(--text)}',
  '.node text.condition{font-style:italic}.node text.undo{fill:var(--undo)}',
  '.ground{fill:var(--ground)}',
  '.shape{fill:var(--leaf);stroke:var(--border);stroke-width:1.2}',
  '.rule{fill:none;stroke:var(--border);stroke-width:1.2}.bar{fill:none;stroke:var(--text);stroke-width:3}',
  '.start .shape,.end .shape{fill:var(--box)}',
  '.gate .shape,.sleep .shape,.child .shape,.child .rule{stroke:var(--accent)}',
  '.fail .shape{stroke:var(--danger)}.complete .shape{stroke-width:2.4}',
  '.nothing .shape{fill:none;stroke:var(--faint);stroke-dasharray:4 3}.nothing text.title{font-weight:normal;font-size:11px;fill:var(--quiet)}',
  '.pivot .shape{stroke:none}',
  '.box>.shape{fill:var(--box)}',
  '.lane>.shape{stroke-dasharray:5 4}.parallel>.shape{stroke:var(--accent)}.loop>.shape{stroke:var(--loop)}',
  '.handler>.shape{stroke:var(--danger);stroke-dasharray:5 4}',
  '.edge{fill:none;stroke:var(--edge);stroke-width:1.4}.edge.error{stroke:var(--danger);stroke-dasharray:5 4}',
  '.edge.untaken{stroke:var(--faint)}',
  '.head{fill:var(--edge)}.head.error{fill:var(--danger)}.head.untaken{fill:var(--faint)}',
  '.label rect{fill:var(--ground);opacity:.85}.label text{font-size:11px;text-anchor:middle;fill:var(--text)}.label.untaken text{fill:var(--quiet)}',
  '.node text.state{font-weight:bold}',
  `:root{${variables(light)}}${stateRules(light)}`,
  `@media(prefers-color-scheme:dark){:root{${variables(dark)}}${stateRules(dark)}}`,
].join('\n');

function variables({ states: _states, ...palette }: Palette): string {
  return Object.entries(palette)
    .map(([name, color]) => `--${name}:${color}`)
    .join(';');
}

/** Leaves are filled with the colour of their state; boxes only bordered, since what is in them has its own. */
function stateRules({ states }: Palette): string {
  return Object.entries(states)
    .map(([name, { fill, border, text }]) => {
      const own = `.${name}`;
      const dashes = name === 'not-reached' || name === 'skipped' ? ';stroke-dasharray:4 3' : '';
      return (
        `.leaf${own} .shape{fill:${fill};stroke:${border}${dashes}}.leaf${own} .rule{stroke:${border}}.leaf${own} .bar{stroke:${border}}` +
        `.leaf${own} text,.leaf${own} text.title{fill:${text}}` +
        `.box${own}>.shape{stroke:${border}}.box${own}>text.state{fill:${border}}` +
        (name === 'not-reached' ? `.box${own}>text,.box${own}>text.title{fill:${text}}` : '')
      );
    })
    .join('');
}
