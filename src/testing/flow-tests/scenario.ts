import { type JsonValue, isJsonObject } from '../../common/index.js';
import type { FlowTestDocument, Handlers, Test, TestDefaults } from './document.generated.js';

/** A test with what the file and its defaults add to it. */
export type Scenario = Omit<Test, 'handlers'> & {
  /** By handler; those of the test take the place of those of the defaults. */
  readonly handlers: Exclude<Handlers, 'real'>;
  /** Whether handlers that are not among `handlers` are the registered ones (`handlers: real`); else they are unknown. */
  readonly otherHandlersAreReal: boolean;
};

/**
 * Merges the defaults into a test: `input` field by field at the top level, `handlers`, `children` and `secrets` by
 * name; of anything else the test's own takes the place of the default.
 */
export function scenarioOf(document: FlowTestDocument, index: number): Scenario {
  const test = document.tests[index];
  if (test === undefined) throw new RangeError(`there is no test ${index}`);
  const { without = [] } = test;
  const defaults = lifted(document.defaults ?? {}, without);
  const now = without.includes('now') ? undefined : document.now;
  const input = merged(defaults.input, test.input);
  return {
    ...(now !== undefined && { now }),
    ...defaults,
    ...test,
    ...(input !== undefined && { input }),
    ...((defaults.children ?? test.children) && { children: { ...defaults.children, ...test.children } }),
    ...((defaults.secrets ?? test.secrets) && { secrets: { ...defaults.secrets, ...test.secrets } }),
    ...handlersOf(defaults, test),
  };
}

/** The defaults that hold for a test which does without some of them. */
function lifted(defaults: TestDefaults, without: readonly string[]): TestDefaults {
  const left: Record<string, unknown> = { ...defaults };
  for (const text of without) {
    const [key, name] = liftedParts(text);
    const value = left[key];
    if (name === undefined) delete left[key];
    else if (typeof value === 'object' && value !== null) {
      left[key] = Object.fromEntries(Object.entries(value).filter(([each]) => each !== name));
    }
  }
  return left;
}

/** `input.total` is the field `total` of `input`; the name of a handler may hold further dots. */
export function liftedParts(text: string): readonly [key: string, name: string | undefined] {
  const dot = text.indexOf('.');
  return dot < 0 ? [text, undefined] : [text.slice(0, dot), text.slice(dot + 1)];
}

function merged(fallback: JsonValue | undefined, own: JsonValue | undefined): JsonValue | undefined {
  if (own === undefined) return fallback;
  return isJsonObject(fallback) && isJsonObject(own) ? { ...fallback, ...own } : own;
}

function handlersOf(defaults: TestDefaults, test: Test): Pick<Scenario, 'handlers' | 'otherHandlersAreReal'> {
  if (test.handlers === 'real') return { handlers: {}, otherHandlersAreReal: true };
  if (defaults.handlers === 'real') return { handlers: { ...test.handlers }, otherHandlersAreReal: true };
  return { handlers: { ...defaults.handlers, ...test.handlers }, otherHandlersAreReal: false };
}
