import type { WorkflowDocument } from '../definition/index.js';

/** What is known of a workflow that others may start as a child. */
export interface CataloguedWorkflow {
  readonly name: string;
  readonly revision: number;
  /** Its shape has no mistakes; whatever else is wrong with it. */
  readonly document: WorkflowDocument;
}

/** All revisions of each workflow, by name. */
export type WorkflowCatalogue = ReadonlyMap<string, readonly CataloguedWorkflow[]>;
