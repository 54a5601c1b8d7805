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
export function scenarioOf({ now, defaults = {}, tests }: FlowTestDocument, index: number): Scenario {
  const test = tests[index];
  if (test === undefined) throw new RangeError(`there is no test ${index}`);
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

function merged(fallback: JsonValue | undefined, own: JsonValue | undefined): JsonValue | undefined {
  if (own === undefined) return fallback;
  return isJsonObject(fallback) && isJsonObject(own) ? { ...fallback, ...own } : own;
}

function handlersOf(defaults: TestDefaults, test: Test): Pick<Scenario, 'handlers' | 'otherHandlersAreReal'> {
  if (test.handlers === 'real') return { handlers: {}, otherHandlersAreReal: true };
  if (defaults.handlers === 'real') return { handlers: { ...test.handlers }, otherHandlersAreReal: true };
  return { handlers: { ...defaults.handlers, ...test.handlers }, otherHandlersAreReal: false };
}
