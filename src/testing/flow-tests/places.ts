/** A place in a run as tests name it: `charge`, a turn `pick#2`, a compensation `charge:compensate`. */
export interface Place {
  /** Id of the item. */
  readonly item: string;
  /** Which turn of the loops around it, from 0, the outermost first (`2`, `2.0`); absent: any. */
  readonly occurrence?: string;
  readonly compensation: boolean;
}

const form = /^([A-Za-z_]\w*)(?:#(\d+(?:\.\d+)*))?(:compensate)?$/;

/** Undefined if the text is no place. */
export function parsePlace(text: string): Place | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, item = '', occurrence, compensation] = match;
  return { item, ...(occurrence !== undefined && { occurrence }), compensation: compensation !== undefined };
}
