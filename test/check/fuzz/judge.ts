import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Definition,
  type Handler,
  type JsonObject,
  type JsonValue,
  MemoryStorage,
  RunsheetError,
  createEngine,
  loadHandlers,
} from 'runsheet';
import { VirtualClock } from 'runsheet/testing';
import { expect } from 'vitest';
import { isJsonObject } from '../../../src/common/index.js';
import { type CheckOptions, checkSource } from '../../../src/check/index.js';
import {
  inputSchemaOf,
  readWorkflow,
  sealDefinition,
  validateInput,
  walkItems,
} from '../../../src/definition/index.js';
import { FormulaSyntaxError } from '../../../src/expression/index.js';
import { HandlerRegistry } from '../../../src/handlers/index.js';
import { type Diagnostic, Source } from '../../../src/syntax/index.js';
import { type Mutant, realFlows } from './mutants.js';
import { sampleOf } from './sample.js';

const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** A check that takes longer has run into something that grows without measure, in milliseconds: others take ten. */
const longestCheck = 20_000;

/** Timers that a run may set before it is left alone; a loop of reminders may have no end. */
const mostTimers = 3000;

/** What a run may fail with though the checker found nothing: it depends on values. */
const runTimeErrors: ReadonlySet<string> = new Set([
  ...['ValidationError', 'ExpressionError', 'LoopLimitExceeded', 'Timeout', 'WaitTimeout', 'RunTimeout', 'JoinFailed'],
  ...['ChildFailed', 'SerializationError', 'PayloadTooLarge', 'SecretMissing'],
]);

/** The handlers of the project under their own names and schemas; each returns a value that fits. */
export interface Handlers {
  readonly list: readonly Handler[];
  readonly catalogue: NonNullable<CheckOptions['handlers']>;
}

export async function handlersThatAnswer(): Promise<Handlers> {
  const catalogue = new HandlerRegistry(await loadHandlers(at('handlers'))).catalogue();
  const list = (await loadHandlers(at('handlers'))).map((handler): Handler => {
    const { output } = catalogue.get(handler.name) ?? {};
    return { ...handler, run: () => (output === undefined ? undefined : sampleOf(output)) };
  });
  return { list, catalogue };
}

export type Verdict = 'refused' | 'no input' | 'completed' | 'failed' | 'left alone';

/** Checks one mutant in every way; throws what is wrong with the checker. With `run`, what is accepted is run too. */
export async function judge(mutant: Mutant, handlers: Handlers, { run }: { run: boolean }): Promise<Verdict> {
  const source = new Source('mutant.yaml', mutant.text);
  // Of the processor: how long others make it wait is no fault of the checker.
  const before = process.cpuUsage();
  const { definition, diagnostics } = checkSource(source, { handlers: handlers.catalogue });
  const { user, system } = process.cpuUsage(before);
  soundDiagnostics(diagnostics, source);
  expect(definition === undefined, 'a definition, or an error').toBe(
    diagnostics.some(({ severity }) => severity === 'error'),
  );
  const refusal = definition === undefined ? refusalOf(source, handlers.list) : undefined;
  if (refusal !== undefined) {
    expect(
      diagnostics.map(({ code }) => code),
      'the code of what registration refuses',
    ).toSatisfy((codes: string[]) => codes.some((code) => code.startsWith(refusal)));
  }
  const verdict =
    definition !== undefined && run ? await runToItsEnd(definition, mutant.file, handlers.list) : undefined;
  expect((user + system) / 1000, 'milliseconds of checking').toBeLessThan(longestCheck);
  return verdict ?? (definition === undefined ? 'refused' : 'completed');
}

function soundDiagnostics(diagnostics: readonly Diagnostic[], source: Source): void {
  const said = new Set<string>();
  let last = { start: 0, end: 0 };
  for (const { code, message, range } of diagnostics) {
    const { start, end } = range;
    const about = `${code} ${start}-${end} ${message}`;
    expect(said.has(about), `said twice: ${about}`).toBe(false);
    said.add(about);
    const inside = Number.isInteger(start) && start >= 0 && end <= source.text.length && end >= start;
    expect(inside, `outside the file: ${about}`).toBe(true);
    const shownSomewhere =
      end > start || source.text.slice(start).trim() === '' || code === 'RS1002' || code === 'RS2047';
    expect(shownSomewhere, `an empty range: ${about}`).toBe(true);
    const inOrder = start > last.start || (start === last.start && end >= last.end);
    expect(inOrder, `out of order: ${about}`).toBe(true);
    last = range;
  }
}

/** The beginning of the code under which the checker must refuse what registration would refuse. */
function refusalOf(source: Source, handlers: readonly Handler[]): string | undefined {
  const { document } = readWorkflow(source);
  if (document === undefined) return undefined;
  try {
    register([sealDefinition(document, source)], handlers, new VirtualClock());
    return undefined;
  } catch (error) {
    if (error instanceof RunsheetError && error.code === 'RS_HANDLER_UNKNOWN') return 'RS4007';
    if (error instanceof FormulaSyntaxError) return 'RS';
    if (error instanceof TypeError && error.message.includes('no retry policy')) return 'RS4008';
    throw error;
  }
}

function register(definitions: readonly Definition[], handlers: readonly Handler[], clock: VirtualClock) {
  return createEngine({ storage: new MemoryStorage(), definitions, handlers, clock });
}

class CountingClock extends VirtualClock {
  #left = mostTimers;
  #exhaust: (value: undefined) => void = () => {};
  readonly exhausted = new Promise<undefined>((resolve) => {
    this.#exhaust = resolve;
  });

  override setTimer(...args: Parameters<VirtualClock['setTimer']>): ReturnType<VirtualClock['setTimer']> {
    this.#left -= 1;
    if (this.#left === 0) this.#exhaust(undefined);
    return super.setTimer(...args);
  }
}

async function runToItsEnd(definition: Definition, file: string, handlers: readonly Handler[]): Promise<Verdict> {
  const input = await inputFor(definition, file);
  const clock = new CountingClock();
  const others = [...children].filter(({ name }) => name !== definition.name);
  const engine = register([definition, ...others], handlers, clock);
  const faults: unknown[] = [];
  engine.onFault((error) => faults.push(error));
  if (input === undefined) {
    await engine.close();
    return 'no input';
  }
  await engine.start();
  const { id } = await engine.enqueue(definition.name, input);
  // Gates without a limit wait for ever, and then no timer is set.
  const patience = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 100));
  const result = engine.result(id).catch((error: unknown) => error);
  const ended = await clock.until(Promise.race([result, clock.exhausted, patience]));
  await engine.close();
  expect(faults, 'internal errors').toEqual([]);
  if (ended === undefined || !isRun(ended)) return 'left alone';
  if (ended.error === null || ended.error === undefined) return 'completed';
  const raised = new Set<string>();
  walkItems(definition.document, ({ item }) => void ('fail' in item && raised.add(item.fail)));
  expect(runTimeErrors.has(ended.error.name) || raised.has(ended.error.name), JSON.stringify(ended.error)).toBe(true);
  return 'failed';
}

function isRun(value: unknown): value is { status: string; error?: { name: string } | null } {
  return typeof value === 'object' && value !== null && 'status' in value;
}

const children: Definition[] = [...realFlows].flatMap(([name, text]) => {
  const { definition } = checkSource(new Source(name, text));
  return definition === undefined ? [] : [definition];
});

async function inputFor(definition: Definition, file: string): Promise<JsonObject | undefined> {
  const given = JSON.parse(
    readFileSync(at(`definitions/${file.replace('.yaml', '.input.json')}`), 'utf8'),
  ) as JsonValue;
  for (const input of [given, sampleOf(inputSchemaOf(definition.document))]) {
    if (isJsonObject(input) && (await validateInput(definition, input)).ok) return input;
  }
  return undefined;
}
