/** What graphs are written in. */
export const graphFormats = ['mermaid', 'svg', 'dot'] as const;

export type GraphFormat = (typeof graphFormats)[number];
