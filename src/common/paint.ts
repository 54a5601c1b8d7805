/** What a terminal is told (SGR) for each of the few styles that are used. */
const codes = { bold: 1, faint: 2, red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36 } as const;

export type Color = keyof typeof codes;

/** A text in a colour; as it is where there is none. */
export function paint(text: string, color: Color | undefined): string {
  return color === undefined || text === '' ? text : `\u001b[${codes[color]}m${text}\u001b[0m`;
}
