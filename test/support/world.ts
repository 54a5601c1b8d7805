import { MemoryStorage, type Storage } from 'runsheet';
import { type Engine, type EngineOptions, type Handler, type Run, type RunEvent, createEngine } from 'runsheet';
import { VirtualClock } from 'runsheet/testing';
import { expect } from 'vitest';
import type { JournalRow } from '../../src/storage/index.js';
import { definitionOf, scripted } from './flow.js';

export type Script = Parameters<typeof scripted>[0][string];

/** One call of a handler, forwards or backwards. */
export interface Call {
  readonly name: string;
  readonly key: string;
  readonly input: unknown;
  readonly context: Parameters<Handler['run']>[0];
}

/** An engine in virtual time, over a storage that outlives it, with all its handlers' calls written down. */
export class World {
  readonly clock: VirtualClock;
  readonly storage: Storage;
  readonly calls: Call[] = [];
  readonly events: RunEvent[] = [];
  readonly engine: Engine;
  readonly #again: () => World;
  readonly #faults: unknown[] = [];

  constructor(
    flows: string | readonly string[],
    scripts: Record<string, Script> = {},
    {
      storage = new MemoryStorage(),
      clock = new VirtualClock(),
      ...options
    }: Partial<Omit<EngineOptions, 'clock'>> & { clock?: VirtualClock } = {},
  ) {
    this.clock = clock;
    this.storage = storage;
    this.#again = () => new World(flows, scripts, { storage, clock, ...options });
    const definitions = [flows].flat().map((yaml) => definitionOf(yaml));
    const handlers = scripted(
      Object.fromEntries(
        Object.entries(scripts).map(([name, script]): [string, Script] => [
          name,
          (input, context) => {
            this.calls.push({ name, key: context.idempotencyKey.replace(/^wf_\w+:/, ''), input, context });
            return script(input, context);
          },
        ]),
      ),
    );
    this.engine = createEngine({ storage, definitions, handlers, clock, ...options });
    this.engine.subscribe((event) => this.events.push(event));
    this.engine.onFault((error) => this.#faults.push(error));
  }

  /** Starts a run (of the first flow, named `flow`, unless told otherwise) and lets it go as far as it can. */
  async begin(
    input: object = {},
    { workflow = 'flow', key }: { workflow?: string; key?: string } = {},
  ): Promise<string> {
    await this.engine.start();
    await this.clock.rest();
    const { id } = await this.engine.enqueue(workflow, input as never, key === undefined ? {} : { key });
    await this.pass(1);
    return id;
  }

  /**
   * Nobody drives anything for so long, then another engine does.
   *
   * @param acts what somebody does meanwhile, by the milliseconds since the engine stopped, ascending
   */
  async down(ms: number, acts: Readonly<Record<number, () => Promise<unknown>>> = {}): Promise<World> {
    await this.clock.until(this.engine.stop());
    const stoppedAt = this.clock.now();
    for (const [at, act] of Object.entries(acts)) {
      await this.clock.advance(stoppedAt + Number(at) - this.clock.now());
      await act();
    }
    await this.clock.advance(stoppedAt + ms - this.clock.now());
    const next = this.#again();
    await next.engine.start();
    await this.clock.rest();
    return next;
  }

  pass(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }

  /** The run once it has ended. */
  async end(id: string): Promise<Run> {
    const run = await this.clock.until(this.engine.result(id));
    expect(this.#faults).toEqual([]);
    return run;
  }

  run(id: string): Promise<Run> {
    expect(this.#faults).toEqual([]);
    return this.engine.getRun(id);
  }

  async journal(id: string): Promise<JournalRow[]> {
    const record = await this.storage.getRun(id);
    return this.storage.readJournal(record?.run ?? 0, 0, 100_000);
  }

  /** Names of the handlers that were called, in order. */
  get names(): string[] {
    return this.calls.map(({ name }) => name);
  }
}

/** The code of what a promise is rejected with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error) || !('code' in error)) throw new Error(`not refused: ${String(error)}`);
  return String(error.code);
}

/** A script that always fails by this name. */
export const failing =
  (name: string): Script =>
  () => {
    throw Object.assign(new Error(`${name} happened`), { name });
  };
