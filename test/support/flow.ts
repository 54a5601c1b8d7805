import { type JsonObject, type JsonValue, MemoryStorage, type Storage } from 'runsheet';
import { type EngineOptions, type Handler, type Run, type RunEvent, createEngine, defineHandler } from 'runsheet';
import { expect } from 'vitest';
import { VirtualClock } from 'runsheet/testing';
import { type Definition, readWorkflow, sealDefinition } from '../../src/definition/index.js';
import type { JournalRow } from '../../src/storage/index.js';
import { Source } from '../../src/syntax/index.js';

/** The sealed definition of a flow written in a test; the name may be left out. */
export function definitionOf(yaml: string, name = 'flow'): Definition {
  const text = /^workflow:/m.test(yaml) ? yaml : `workflow: ${name}\n${yaml}`;
  const source = new Source('flow.yaml', text);
  const { document, diagnostics } = readWorkflow(source);
  if (document === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return sealDefinition(document, source);
}

type Script = (input: JsonValue, context: Parameters<Handler['run']>[0]) => unknown;

/** Handlers from plain functions of their input. */
export function scripted(scripts: Record<string, Script>): Handler[] {
  return Object.entries(scripts).map(([name, script]) =>
    defineHandler({ name, run: (context) => script(context.input as JsonValue, context) }),
  );
}

export interface FlowRun {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly journal: readonly JournalRow[];
  /** Names of the calls of handlers in their order, with their input. */
  readonly calls: readonly {
    readonly name: string;
    readonly input: JsonValue;
    readonly key: string;
    readonly at: number;
  }[];
  /** Virtual time from the start of the test to the end of the run. */
  readonly elapsedMs: number;
}

export interface FlowOptions extends Partial<Omit<EngineOptions, 'storage' | 'definitions' | 'handlers' | 'clock'>> {
  readonly handlers?: Record<string, Script>;
  readonly input?: JsonObject;
  readonly storage?: Storage;
}

/** Runs a flow to its end in virtual time, on one engine. */
export async function runFlow(yaml: string, options: FlowOptions = {}): Promise<FlowRun> {
  const { handlers = {}, input = {}, storage = new MemoryStorage(), ...rest } = options;
  const clock = new VirtualClock();
  const calls: { name: string; input: JsonValue; key: string; at: number }[] = [];
  const recording = scripted(
    Object.fromEntries(
      Object.entries(handlers).map(([name, script]): [string, Script] => [
        name,
        (value, context) => {
          calls.push({ name, input: structuredClone(value), key: context.idempotencyKey, at: clock.now() });
          return script(value, { ...context });
        },
      ]),
    ),
  );
  const definition = definitionOf(yaml);
  const engine = createEngine({ storage, definitions: [definition], handlers: recording, clock, ...rest });
  const events: RunEvent[] = [];
  const faults: unknown[] = [];
  engine.subscribe((event) => events.push(event));
  engine.onFault((error) => faults.push(error));
  const startedAt = clock.now();
  await engine.start();
  // Once it has looked around, it begins a run with its first unit, as one that has been at work for long does.
  await clock.rest();
  const { id } = await engine.enqueue(definition.name, input);
  const run = await clock.until(engine.result(id));
  const record = await storage.getRun(id);
  const journal = await storage.readJournal(record?.run ?? 0, 0, 1_000_000);
  await engine.stop();
  expect(faults).toEqual([]);
  return { run, events, journal, calls, elapsedMs: clock.now() - startedAt };
}

/** A promise that is settled from outside, for handlers that a test lets go. */
export function gate<T = void>(): { promise: Promise<T>; open: (value: T) => void } {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => (open = resolve));
  return { promise, open };
}
