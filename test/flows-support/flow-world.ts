import {
  type Engine,
  type Handler,
  type JsonObject,
  MemoryStorage,
  type Run,
  createEngine,
  loadHandlers,
} from 'runsheet';
import { VirtualClock } from 'runsheet/testing';
import { expect } from 'vitest';
import { HandlersAtWork } from '../../src/testing/handlers-at-work.js';
import { loadFlow } from './load-flow.js';

let loaded: Promise<Handler[]> | undefined;

/** Flows of definitions/ with the handlers of handlers/, on real files and sockets but in virtual time. */
export class FlowWorld {
  readonly clock: VirtualClock;
  readonly storage = new MemoryStorage();
  readonly engine: Engine;
  /** `<step>#<occurrence>` of each completed step and `undo <step>#<occurrence>` of each reversal, in order. */
  readonly done: string[] = [];
  /** `<step>#<occurrence> <attempt>`, in the order in which the attempts began. */
  readonly started: string[] = [];
  readonly #work: HandlersAtWork;
  readonly #faults: unknown[] = [];
  readonly #workflow: string;

  private constructor(names: readonly string[], handlers: readonly Handler[], startAt: number | undefined) {
    this.clock = new VirtualClock(startAt);
    this.#work = new HandlersAtWork();
    const definitions = names.map((name) => loadFlow(`definitions/${name}.yaml`));
    this.#workflow = definitions[0]?.name ?? '';
    const { clock, storage } = this;
    this.engine = createEngine({ storage, definitions, handlers: this.#work.watch(handlers), clock });
    this.engine.onFault((error) => this.#faults.push(error));
    this.engine.subscribe(({ type, step, occurrence, attempt }) => {
      if (type === 'step:started') this.started.push(`${step}#${occurrence} ${attempt}`);
      if (type === 'step:completed') this.done.push(`${step}#${occurrence}`);
      if (type === 'compensation:completed') this.done.push(`undo ${step}#${occurrence}`);
    });
  }

  /** @param names of the files in definitions/; runs are of the first, the others are its children */
  static async of(names: readonly string[], { startAt }: { startAt?: number } = {}): Promise<FlowWorld> {
    loaded ??= loadHandlers('handlers');
    return new FlowWorld(names, await loaded, startAt);
  }

  /** Starts a run and lets it go as far as it can. */
  async begin(input: JsonObject): Promise<string> {
    await this.engine.start();
    const { id } = await this.engine.enqueue(this.#workflow, input);
    await this.pass(1);
    return id;
  }

  async pass(ms: number): Promise<void> {
    await this.#work.pass(this.clock, ms);
    expect(this.#faults).toEqual([]);
  }

  async end(id: string): Promise<Run> {
    const run = await this.#work.until(this.clock, this.engine.result(id));
    expect(this.#faults).toEqual([]);
    return run;
  }

  /** From its start to its end, in virtual milliseconds. */
  static duration({ startedAt, endedAt }: Run): number {
    return (endedAt ?? Number.NaN) - (startedAt ?? Number.NaN);
  }
}
