import type { Clock, Handler, JsonObject, Run } from 'runsheet';
import { MemoryStorage, createEngine, loadHandlers, systemClock } from 'runsheet';
import { loadFlow } from './load-flow.js';

let handlers: Promise<Handler[]> | undefined;

export interface FileRun {
  readonly run: Run;
  /** `<step>#<occurrence> <attempt>`, in the order in which the calls of handlers began. */
  readonly started: readonly string[];
}

/**
 * Runs a flow of definitions/ with the handlers of handlers/, on real files, commands and sockets.
 *
 * @param path of the flow; those of its children after it
 */
export async function runFlowFile(
  path: string | readonly [string, ...string[]],
  input: JsonObject,
  clock: Clock = systemClock,
): Promise<FileRun> {
  handlers ??= loadHandlers('handlers');
  const [first, ...children] = typeof path === 'string' ? [path] : path;
  const definition = loadFlow(first);
  const engine = createEngine({
    storage: new MemoryStorage(),
    definitions: [definition, ...children.map(loadFlow)],
    handlers: await handlers,
    clock,
  });
  const started: string[] = [];
  engine.subscribe(({ type, step, occurrence, attempt }) => {
    if (type === 'step:started') started.push(`${step}#${occurrence} ${attempt}`);
  });
  try {
    await engine.start();
    const { id } = await engine.enqueue(definition.name, input);
    return { run: await engine.result(id), started };
  } finally {
    await engine.close();
  }
}

/**
 * Real time, only faster, for flows whose handlers really do something: virtual time would run out
 * on them while a file or a socket is still busy.
 */
export function fasterClock(factor: number): Clock {
  const start = systemClock.now();
  return {
    now: () => Math.round(start + (systemClock.now() - start) * factor),
    monotonic: () => systemClock.monotonic() * factor,
    setTimer: (delayMs, callback, options) => systemClock.setTimer(delayMs / factor, callback, options),
  };
}
