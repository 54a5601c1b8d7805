/** Whether milliseconds since 1970 are a time that has a date: those beyond the year 275760 have none. */
export function isInstant(epochMs: number): boolean {
  return !Number.isNaN(new Date(epochMs).getTime());
}

/** `2030-01-01T09:30:00.000Z`; of what is no time, as a database of somebody else may hold it, what it is. */
export function instantText(epochMs: number): string {
  return isInstant(epochMs) ? new Date(epochMs).toISOString() : `no date (${epochMs})`;
}
