import { type Color, type JsonValue, instantText, padEnd, paint, widthOf } from '../../common/index.js';
import { type FlowPlaces, turnAround } from '../../engine/index.js';
import type { JournalRow } from '../../storage/index.js';
import { hanging } from '../terminal-text.js';
import { oneLine, placeText } from '../text.js';
import { type Tone, entryText } from './entry-text.js';

const colors: Readonly<Record<Tone, Color | undefined>> = {
  plain: undefined,
  quiet: 'faint',
  good: 'green',
  bad: 'red',
  attention: 'yellow',
};

/** Longer places push what happened out of its column. */
const widestPlace = 32;

/** What goes on below its beginning keeps enough room to be read. */
const mostIndent = 28;

/** Writes entries as lines for people: when, where, what. */
export class LogLines {
  readonly #flow: FlowPlaces;
  readonly #color: boolean;
  /** Of the terminal; undefined where lines may be of any length. */
  readonly #columns: number | undefined;
  readonly #workflow: string;
  #width: number;
  #day: string | undefined;

  /** @param places those there may be, so that what happened stands in one column from the first line on */
  constructor(
    flow: FlowPlaces,
    workflow: string,
    places: readonly string[],
    { color, columns }: { readonly color: boolean; readonly columns: number | undefined },
  ) {
    this.#flow = flow;
    this.#workflow = workflow;
    this.#color = color;
    this.#columns = columns;
    this.#width = Math.min(widestPlace, Math.max(...[workflow, ...places].map(({ length }) => length)));
  }

  /** The lines of one entry: its own, and before the first one of a day the date. */
  write(row: JournalRow): string[] {
    const { step, at } = row;
    const occurrence = row.occurrence ?? '0';
    const [day = '', time = ''] = instantText(at).split('T');
    const place = oneLine(
      step === null ? this.#workflow : placeText(step, isOfTurn(row) ? turnAround(occurrence) : occurrence),
    );
    this.#width = Math.max(this.#width, Math.min(place.length, widestPlace));
    const { text, tone } = entryText(row, step === null ? undefined : this.#flow.item(step));
    const before = `${time.slice(0, 12)}  ${padEnd(place, this.#width)}  `;
    const whole = hanging(before + oneLine(text), this.#columns, Math.min(widthOf(before), mostIndent));
    const color = this.#color ? colors[tone] : undefined;
    const what = whole.slice(before.length);
    const line = color === undefined ? whole : before + paint(what, color);
    if (day === this.#day) return [line];
    this.#day = day;
    return [day, line];
  }
}

/** Whether a loop tells of one of its turns, whose number the entry has; the loop itself is called as `show` does. */
function isOfTurn({ kind, aspect }: JournalRow): boolean {
  return kind === 'scope-ended' ? aspect === 'turn' : kind === 'decision' && aspect === 'condition';
}

/** An entry as data. `payload` is what the journal holds, whose fields are the engine's business. */
export function entryJson(row: JournalRow, flow: FlowPlaces): object {
  const { seq, at, kind, step, occurrence, aspect, payload } = row;
  const { text } = entryText(row, step === null ? undefined : flow.item(step));
  const data = payload === null ? null : (JSON.parse(payload) as JsonValue);
  return { version: 1, seq, at, kind, step, occurrence, aspect, text, payload: data };
}
