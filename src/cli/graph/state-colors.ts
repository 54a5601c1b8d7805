import type { StateName } from './graph.js';

export interface StateColors {
  readonly fill: string;
  readonly border: string;
  readonly text: string;
}

/** On a light ground. */
export const lightColors: Readonly<Record<StateName, StateColors>> = {
  'not-reached': { fill: '#f6f8fa', border: '#c4cad1', text: '#818b98' },
  running: { fill: '#ddf4ff', border: '#0969da', text: '#0a3069' },
  waiting: { fill: '#fff8c5', border: '#bf8700', text: '#4d2d00' },
  completed: { fill: '#dafbe1', border: '#2da44e', text: '#04260f' },
  failed: { fill: '#ffebe9', border: '#cf222e', text: '#4c0014' },
  handled: { fill: '#fff1e5', border: '#bc4c00', text: '#5c2200' },
  skipped: { fill: '#f6f8fa', border: '#8c959f', text: '#57606a' },
  aborted: { fill: '#f6f8fa', border: '#8c959f', text: '#57606a' },
  undone: { fill: '#fbefff', border: '#8250df', text: '#3e1f79' },
  stuck: { fill: '#ffc1ba', border: '#82071e', text: '#4c0014' },
};

/** On a dark ground. */
export const darkColors: Readonly<Record<StateName, StateColors>> = {
  'not-reached': { fill: '#161b22', border: '#3d444d', text: '#768390' },
  running: { fill: '#0c2d6b', border: '#58a6ff', text: '#cae8ff' },
  waiting: { fill: '#4b2900', border: '#d29922', text: '#f8e3a1' },
  completed: { fill: '#033a16', border: '#3fb950', text: '#aff5b4' },
  failed: { fill: '#67060c', border: '#f85149', text: '#ffdcd7' },
  handled: { fill: '#5a1e02', border: '#f0883e', text: '#ffdfb6' },
  skipped: { fill: '#161b22', border: '#6e7681', text: '#9198a1' },
  aborted: { fill: '#161b22', border: '#6e7681', text: '#9198a1' },
  undone: { fill: '#3c1e70', border: '#a371f7', text: '#eddeff' },
  stuck: { fill: '#8e1519', border: '#ff7b72', text: '#ffffff' },
};
