import type { Handler, HandlerContext } from '../../src/handlers/index.js';
import { HandlerRegistry, parseInput, parseOutput, silentLogger } from '../../src/handlers/index.js';

export interface Call {
  readonly key?: string;
  readonly attempt?: number;
  readonly signal?: AbortSignal;
  /** Makes the call a reversal of the step that was called under this key. */
  readonly undoes?: string;
}

/**
 * Calls handlers as an engine does, schemas included, but without an engine:
 * `call('stock.pick', { sku: 'a' }, { key: 'k1' })`. Without a key each call has one of its own.
 */
export function callerOf(handlers: readonly Handler[]) {
  const registry = new HandlerRegistry(handlers);
  let calls = 0;
  return async (name: string, input: unknown, { key, attempt = 1, signal, undoes }: Call = {}): Promise<unknown> => {
    const handler = registry.get(name);
    const parsed = parseInput(handler, input);
    if (!parsed.ok) throw new TypeError(`input of ${name}: ${JSON.stringify(parsed.problems)}`);
    calls += 1;
    const context: HandlerContext<unknown> = {
      input: parsed.value,
      run: { id: 'wf_test', key: null, workflow: 'test', revision: 1 },
      step: { key: name, occurrence: '0' },
      attempt,
      idempotencyKey: key ?? `wf_test:${name}#${calls}:forward`,
      signal: signal ?? new AbortController().signal,
      logger: silentLogger,
      ...(undoes !== undefined && { forwardIdempotencyKey: undoes }),
    };
    const returned = await handler.run(context);
    const output = parseOutput(handler, returned);
    if (!output.ok) throw new TypeError(`output of ${name}: ${JSON.stringify(output.problems)}`);
    // As the journal keeps it.
    return output.value === undefined ? undefined : JSON.parse(JSON.stringify(output.value));
  };
}
