/** A Markdown table; cells may hold any text. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string =>
    `| ${cells
      .map((cell) =>
        String(cell)
          .replaceAll('\\', '\\\\')
          .replaceAll('|', '\\|')
          .replaceAll(/\s*\n\s*/g, ' '),
      )
      .join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Hundredths as people write money: `1234567` → `12345.67`. */
export const money = (cents: number): string => (cents / 100).toFixed(2);
