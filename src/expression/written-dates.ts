/** A date that stands in a formula without quotes. */
export interface WrittenDate {
  readonly written: string;
  readonly message: string;
  readonly help: string;
}

/** The date that begins at an offset of a text: `2030-01-31`, `2030-01-31T09:00:00Z`, `31.01.2030`. */
export function dateAt(text: string, start: number): WrittenDate | undefined {
  const rest = text.slice(start);
  const iso = /^(\d{4})-(\d{2})-(\d{2})(?![\d.])(T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?/.exec(rest);
  const german = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)/.exec(rest);
  const written = iso?.[0] ?? german?.[0];
  if (written === undefined) return undefined;
  const [year = '', month = '', day = ''] = iso === null ? [german?.[3], german?.[2], german?.[1]] : iso.slice(1);
  const time = iso?.[4] ?? 'T00:00:00Z';
  const meant = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}${/(Z|[+-]\d{2}:?\d{2})$/.test(time) ? time : `${time}Z`}`;
  return { written, message: 'a date is a text in formulas, and stands in quotes', help: `write \`"${meant}"\`` };
}
