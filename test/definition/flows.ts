import { readFileSync } from 'node:fs';
import { type Definition, type WorkflowDocument, readWorkflow, sealDefinition } from '../../src/definition/index.js';
import { Source } from '../../src/syntax/index.js';

/** The flow of the language's description: it uses nearly every verb. */
export const orderFulfilment = readFileSync(new URL('order-fulfilment.yaml', import.meta.url), 'utf8');

/** Beside it the verbs and options that the order does not need. */
export const everythingElse = readFileSync(new URL('everything-else.yaml', import.meta.url), 'utf8');

/** The document of a flow that must be right as far as its shape goes. */
export function documentOf(text: string): WorkflowDocument {
  const { document, diagnostics } = readWorkflow(new Source('flow.yaml', text));
  if (document === undefined) throw new Error(diagnostics.map(({ code, message }) => `${code}: ${message}`).join('\n'));
  return document;
}

export function definitionOf(text: string): Definition {
  return sealDefinition(documentOf(text));
}

/** The diagnostics of a text, each as its code and the words it underlines. */
export function mistakesIn(text: string): string[] {
  const { diagnostics } = readWorkflow(new Source('flow.yaml', text));
  return diagnostics.map(({ code, range }) => `${code} ${text.slice(range.start, range.end)}`);
}
