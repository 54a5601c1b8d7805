import { outputOf } from '../check/index.js';
import { type Definition, inputSchemaOf, walkItems } from '../definition/index.js';
import type { HandlerCatalogue } from '../handlers/index.js';
import { outputTypeText } from './output-type-text.js';
import { keyText, typeText } from './type-text.js';

/**
 * A module of types that tells the compiler what the workflows of a project take, give and wait for; of each the newest
 * revision.
 *
 * @param handlers without them nothing is known of what steps give
 */
export function workflowTypes(definitions: readonly Definition[], handlers?: HandlerCatalogue): string {
  const newest = new Map<string, Definition>();
  for (const definition of definitions) {
    const known = newest.get(definition.name);
    if (known === undefined || known.revision < definition.revision) newest.set(definition.name, definition);
  }
  const flows = [...newest.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const workflows = new Map(flows.map((flow) => [flow.name, [flow]]));
  const text = [
    fields('WorkflowInputs', flows, ({ document }) => typeText(inputSchemaOf(document))),
    fields('WorkflowOutputs', flows, ({ name }) => outputTypeText(outputOf(name, { handlers, workflows }))),
    fields('WorkflowSignals', flows, signalsText),
  ].join('\n');
  // Without an import or an export of its own it would declare a module of that name instead of adding to it.
  const opening = text.includes('JsonValue') ? "import type { JsonValue } from 'runsheet';" : 'export {};';
  return `// Written by \`runsheet handlers --types\`. Do not edit.
${opening}

declare module 'runsheet' {
${text}
}
`;
}

function fields(of: string, flows: readonly Definition[], typeOf: (flow: Definition) => string): string {
  const lines = flows.map((flow) => `${keyText(flow.name)}: ${typeOf(flow)};`.replace(/^/gm, '    '));
  return [`  interface ${of} {`, ...lines, '  }'].join('\n');
}

/** All gates of one signal have the same schema. */
function signalsText({ document }: Definition): string {
  const signals = new Map<string, string>();
  walkItems(document, ({ item }) => {
    if ('waitFor' in item) signals.set(item.waitFor, typeText(item.schema));
  });
  if (signals.size === 0) return 'Record<never, never>';
  const lines = [...signals].map(([name, type]) => `readonly ${keyText(name)}: ${type};`.replace(/^/gm, '  '));
  return `{\n${lines.join('\n')}\n}`;
}
