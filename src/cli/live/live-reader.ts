import type { HistoryReader, RunHistory } from '../../engine/index.js';
import type { RunRecord, Storage } from '../../storage/index.js';
import type { LiveRun } from './live-view.js';

/** Of many open children the first ones are shown. */
const mostChildren = 5;

type NewReader = (storage: Storage, record: RunRecord) => HistoryReader;

/** Reads a run and its open children again and again, of each only what is new. */
export class LiveReader {
  readonly #storage: Storage;
  readonly #newReader: NewReader;
  readonly #reader: HistoryReader;
  readonly #children = new Map<string, LiveReader>();

  constructor(storage: Storage, record: RunRecord, newReader: NewReader) {
    this.#storage = storage;
    this.#newReader = newReader;
    this.#reader = newReader(storage, record);
  }

  async read(): Promise<LiveRun> {
    const history = await this.#reader.read();
    const open = openChildren(history).slice(0, mostChildren);
    for (const id of this.#children.keys()) if (!open.includes(id)) this.#children.delete(id);
    const children = new Map<string, LiveRun>();
    for (const id of open) {
      const child = this.#children.get(id) ?? (await this.#childReader(id));
      if (child !== undefined) children.set(id, await child.read());
    }
    return { history, children };
  }

  async #childReader(id: string): Promise<LiveReader | undefined> {
    const record = await this.#storage.getRun(id);
    if (record === undefined) return undefined;
    const reader = new LiveReader(this.#storage, record, this.#newReader);
    this.#children.set(id, reader);
    return reader;
  }
}

function openChildren({ steps, reversals }: RunHistory): string[] {
  const waited = steps.flatMap((step) => (step.kind === 'child' && step.state === 'waiting' ? [step.run] : []));
  const undone = reversals.flatMap(({ run, state }) => (run !== null && state === 'running' ? [run] : []));
  return [...new Set([...waited, ...undone])];
}
