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

/** The types of what workflows give when they complete, by name; a project adds its own. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface WorkflowOutputs {}

/** By workflow and name of a signal, the types of what their gates take; a project adds its own. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface WorkflowSignals {}

/** The workflows there are; any, where a project has declared none. */
export type WorkflowName = [keyof WorkflowInputs] extends [never] ? string : keyof WorkflowInputs & string;

export type WorkflowOutput<Name extends string> = Name extends keyof WorkflowOutputs
  ? WorkflowOutputs[Name]
  : JsonValue;

type SignalsOf<Name extends string> = Name extends keyof WorkflowSignals
  ? WorkflowSignals[Name]
  : Readonly<Record<string, JsonValue>>;

/** The signals that a workflow waits for; any name, of one that is not known. */
export type SignalName<Workflow extends string> = keyof SignalsOf<Workflow> & string;

export type SignalPayload<Workflow extends string, Name extends string> = Name extends keyof SignalsOf<Workflow>
  ? SignalsOf<Workflow>[Name]
  : JsonValue;

/** What `signal` takes after the name: a payload of null may be left out. */
export type SignalArguments<Workflow extends string, Name extends string> =
  null extends SignalPayload<Workflow, Name>
    ? [payload?: SignalPayload<Workflow, Name>]
    : [payload: SignalPayload<Workflow, Name>];

/** A name that is known only at run time: neither it nor the input can be checked by the compiler. */
export type ComputedName<Name extends string> = Name & (string extends Name ? unknown : never);

/** What `enqueue` takes after the name: the input may be left out where `{}` would do. */
export type EnqueueArguments<Name extends string> =
  Record<string, never> extends WorkflowInput<Name>
    ? [input?: WorkflowInput<Name>, options?: EnqueueOptions]
    : [input: WorkflowInput<Name>, options?: EnqueueOptions];
