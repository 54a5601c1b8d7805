import { type Definition, type Item, inputSchemaOf, sealDefinition, walkItems } from '../../definition/index.js';
import type { HandlerRegistry } from '../../handlers/index.js';

/** What a test file is about. */
export interface FlowToRun {
  readonly definition: Definition;
  /** The flows that it starts, at any depth, as far as they are there. */
  readonly children: readonly Definition[];
  /** Those that `real` means, and whose schemas hold for scripted ones too. */
  readonly handlers?: HandlerRegistry;
}

/** A handler that a flow calls, and from which items. */
export interface HandlerUse {
  readonly name: string;
  readonly items: readonly string[];
}

/** The handlers that flows call, forwards, backwards and as reminders. */
export function handlersOf(definitions: readonly Definition[]): HandlerUse[] {
  const uses = new Map<string, string[]>();
  const add = (name: string, item: string): void => void uses.set(name, [...(uses.get(name) ?? []), item]);
  for (const { document } of definitions) {
    walkItems(document, ({ item, key }) => {
      if ('step' in item) {
        add(item.step, key);
        if (item.compensate !== undefined) add(item.compensate.step, `${key}:compensate`);
      }
      if ('waitFor' in item && item.remind !== undefined) add(item.remind.step, key);
    });
  }
  return [...uses].map(([name, items]) => ({ name, items }));
}

/** Which handler answers for a child workflow that is not run. */
export function answeringHandler(workflow: string): string {
  return `runsheet.child.${workflow}`;
}

/**
 * Flows of one step that stand for a child workflow, one for each revision that may be asked for; its input is held
 * to the schema of the flow that it stands for, where that is known. For a flow that starts itself a newer revision
 * answers, so that its own is still that of the run under test.
 */
export function answeringFlows(workflow: string, flow: FlowToRun): Definition[] {
  const { definition: own } = flow;
  const itself = own.name === workflow ? [{ ...own, revision: own.revision + 1 }] : [];
  const known = [...flow.children.filter(({ name }) => name === workflow), ...itself];
  const revisions = new Map<number, Definition | undefined>(known.map((child) => [child.revision, child]));
  for (const { document } of [flow.definition, ...flow.children]) {
    walkItems(document, ({ item }) => {
      const revision = revisionOf(item, workflow);
      if (revision !== undefined && !revisions.has(revision)) revisions.set(revision, undefined);
    });
  }
  if (revisions.size === 0) revisions.set(1, undefined);
  if (own.name === workflow) revisions.delete(own.revision);
  return [...revisions].map(([revision, child]) =>
    sealDefinition({
      workflow,
      revision,
      inputSchema: child === undefined ? {} : inputSchemaOf(child.document),
      steps: [
        { id: 'answer', step: answeringHandler(workflow), with: '=$input', timeout: 'never', retry: { attempts: 1 } },
      ],
    }),
  );
}

function revisionOf(item: Item, workflow: string): number | undefined {
  return 'subWorkflow' in item && item.subWorkflow === workflow ? item.revision : undefined;
}
