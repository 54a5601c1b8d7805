import { type Definition, inputSchemaOf } from '../definition/index.js';
import { keyText, typeText } from './type-text.js';

/** A module of types that tells the compiler what the workflows of a project take; of each the newest revision. */
export function workflowTypes(definitions: readonly Definition[]): string {
  const newest = new Map<string, Definition>();
  for (const definition of definitions) {
    const known = newest.get(definition.name);
    if (known === undefined || known.revision < definition.revision) newest.set(definition.name, definition);
  }
  const fields = [...newest.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, document }) => `${keyText(name)}: ${typeText(inputSchemaOf(document))};`.replace(/^/gm, '    '));
  const text = fields.join('\n');
  // Without an import or an export of its own it would declare a module of that name instead of adding to it.
  const opening = text.includes('JsonValue') ? "import type { JsonValue } from 'runsheet';" : 'export {};';
  return `// Written by \`runsheet handlers --types\`. Do not edit.
${opening}

declare module 'runsheet' {
  interface WorkflowInputs {
${text}
  }
}
`;
}
