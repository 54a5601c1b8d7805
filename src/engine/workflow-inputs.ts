import type { JsonValue } from '../common/index.js';
import type { EnqueueOptions } from './engine.js';

/**
 * The types of the inputs of workflows, by name: empty, until a project adds its own (`runsheet handlers --types`), so
 * that the compiler checks what is given to `enqueue`.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface WorkflowInputs {}

/** The input of a workflow; anything, of one whose name is not known. */
export type WorkflowInput<Name extends string> = Name extends keyof WorkflowInputs ? WorkflowInputs[Name] : JsonValue;

/** What `enqueue` takes after the name: the input may be left out where `{}` would do. */
export type EnqueueArguments<Name extends string> =
  Record<string, never> extends WorkflowInput<Name>
    ? [input?: WorkflowInput<Name>, options?: EnqueueOptions]
    : [input: WorkflowInput<Name>, options?: EnqueueOptions];
