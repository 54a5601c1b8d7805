/** A place in a run as tests name it: `charge`, a turn `pick#2`, a compensation `charge:compensate`. */
export interface Place {
  /** Id of the item. */
  readonly item: string;
  /** Which turn of the loops around it, from 0, the outermost first (`2`, `2.0`); absent: any. */
  readonly occurrence?: string;
  readonly compensation: boolean;
}

const form = /^([A-Za-z_]\w*)(?:#(\d+(?:\.\d+)*))?(:compensate)?$/;

const childForm = /^([A-Za-z_][\w.-]*)(?:#(\d+(?:\.\d+)*))?$/;

/** A child as tests name it: the id of its step, or its workflow, and which iteration. */
export interface ChildName {
  readonly name: string;
  readonly occurrence?: string;
}

/** `book`, `book#2`, `book#2/print`: from the run under test on, one name for each generation. Undefined if it is none. */
export function parseChild(text: string): readonly ChildName[] | undefined {
  const names: ChildName[] = [];
  for (const part of text.split('/')) {
    const match = childForm.exec(part);
    if (match === null) return undefined;
    const [, name = '', occurrence] = match;
    names.push({ name, ...(occurrence !== undefined && { occurrence }) });
  }
  return names;
}

/** Undefined if the text is no place. */
export function parsePlace(text: string): Place | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, item = '', occurrence, compensation] = match;
  return { item, ...(occurrence !== undefined && { occurrence }), compensation: compensation !== undefined };
}
