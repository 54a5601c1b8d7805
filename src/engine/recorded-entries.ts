import type { Place } from '../interpreter/index.js';
import type { JournalRow } from '../storage/index.js';

/** A place has a few entries, which are looked through; from so many on (of a step tried again and again) by name. */
const mostInList = 12;

/** What is recorded at one item in one turn. */
type Rows = JournalRow[] | Map<string, JournalRow>;

/**
 * Entries of earlier lives by kind and place, each of which a walk meets once. By item, then by turn, and no key is made
 * up for a look: a walk asks several times for each entry there is, most often in vain.
 */
export class RecordedEntries {
  readonly #byStep = new Map<string | null, Map<string, Rows>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Of several at the same place the first one stays. */
  add(row: JournalRow): void {
    const occurrence = row.occurrence ?? '0';
    const aspect = row.aspect ?? '';
    let byOccurrence = this.#byStep.get(row.step);
    if (byOccurrence === undefined) this.#byStep.set(row.step, (byOccurrence = new Map()));
    const rows = byOccurrence.get(occurrence);
    if (rows === undefined) byOccurrence.set(occurrence, [row]);
    else if (find(rows, row.kind, aspect) !== undefined) return;
    else if (rows instanceof Map) rows.set(nameOf(row.kind, aspect), row);
    else if (rows.length < mostInList) rows.push(row);
    else byOccurrence.set(occurrence, new Map([...rows, row].map((one) => [nameOf(one.kind, one.aspect ?? ''), one])));
    this.#size += 1;
  }

  peek(kind: string, { step, occurrence, aspect }: Place): JournalRow | undefined {
    if (this.#size === 0) return undefined;
    const rows = this.#byStep.get(step)?.get(occurrence);
    return rows && find(rows, kind, aspect);
  }

  take(kind: string, place: Place): JournalRow | undefined {
    if (this.#size === 0) return undefined;
    const byOccurrence = this.#byStep.get(place.step);
    const rows = byOccurrence?.get(place.occurrence);
    const row = rows && find(rows, kind, place.aspect);
    if (byOccurrence === undefined || rows === undefined || row === undefined) return undefined;
    if (rows instanceof Map) rows.delete(nameOf(kind, place.aspect));
    else rows.splice(rows.indexOf(row), 1);
    if ((rows instanceof Map ? rows.size : rows.length) === 0) byOccurrence.delete(place.occurrence);
    this.#size -= 1;
    return row;
  }
}

function find(rows: Rows, kind: string, aspect: string): JournalRow | undefined {
  if (rows instanceof Map) return rows.get(nameOf(kind, aspect));
  for (const row of rows) if (row.kind === kind && (row.aspect ?? '') === aspect) return row;
  return undefined;
}

/** In a form in which no two can meet: kinds hold no line break. */
function nameOf(kind: string, aspect: string): string {
  return `${kind}\n${aspect}`;
}
