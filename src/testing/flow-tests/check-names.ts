import type { Script } from './document.generated.js';
import type { FlowUnderTest } from './flow-under-test.js';
import { type FileCheck, headOf, meant } from './test-check.js';

/**
 * Names that tests give answers or values under, and that nothing in the flow uses: an answer that is never asked for
 * misleads its reader.
 */
export function checkUsedNames(check: FileCheck): void {
  const { flow } = check;
  const reached = reachedFrom(flow, check);
  const { known } = reached;
  const handlers = new Set(known.flatMap((each) => [...each.handlers]));
  const children = new Set(known.flatMap((each) => [...each.children]));
  const secrets = new Set(known.flatMap((each) => [...each.secrets]));
  const { name } = flow.definition;
  const none = (what: string): string => `the flow ${what}`;
  for (const { path, test } of scenariosOf(check)) {
    // Of a child that is not known nobody can say what it calls.
    if (reached.complete && test.handlers !== undefined && test.handlers !== 'real') {
      for (const handler of unknown(test.handlers, handlers)) {
        const message = `${name} never calls the handler \`${handler}\``;
        report(check, 'RS6026', [...path, 'handlers', handler], message, meant(handler, handlers, none('calls none')));
      }
    }
    for (const child of unknown(test.children ?? {}, children)) {
      if (!reached.complete && !flow.children.has(child) && flow.children.size > 0) continue;
      const message = `${name} never starts the workflow \`${child}\``;
      report(check, 'RS6027', [...path, 'children', child], message, meant(child, children, none('starts none')));
    }
    if (!reached.complete) continue;
    for (const secret of unknown(test.secrets ?? {}, secrets)) {
      const message = `${name} uses no secret \`${secret}\``;
      report(check, 'RS6037', [...path, 'secrets', secret], message, meant(secret, secrets, none('uses none')));
    }
  }
}

interface WrittenScenario {
  readonly path: readonly (string | number)[];
  readonly test: {
    readonly handlers?: 'real' | Readonly<Record<string, Script>>;
    readonly children?: Readonly<Record<string, Script>>;
    readonly secrets?: Readonly<Record<string, string>>;
  };
}

/** The defaults and each test as they are written, nothing merged. */
export function scenariosOf({ document }: FileCheck): WrittenScenario[] {
  return [
    ...(document.defaults === undefined ? [] : [{ path: ['defaults'], test: document.defaults }]),
    ...document.tests.map((test, index) => ({ path: ['tests', index], test })),
  ];
}

/** The flow and all that it may start; not complete where one of those is not known. */
function reachedFrom(flow: FlowUnderTest, { children }: FileCheck): { known: FlowUnderTest[]; complete: boolean } {
  const known = new Set([flow]);
  let complete = true;
  for (const each of known) {
    for (const name of each.children) {
      const child = name === flow.definition.name ? flow : children.get(name);
      if (child === undefined) complete = false;
      else known.add(child);
    }
  }
  return { known: [...known], complete };
}

function unknown(written: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): string[] {
  return Object.keys(written).filter((name) => !known.has(name));
}

function report(
  check: FileCheck,
  code: 'RS6026' | 'RS6027' | 'RS6037',
  path: readonly (string | number)[],
  message: string,
  help: string,
): void {
  check.report.error(code, headOf(check.root, path), message, help);
}
