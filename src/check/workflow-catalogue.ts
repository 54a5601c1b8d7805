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

/** The revision asked for, or the newest; undefined if it is not known. */
export function newestOf(
  workflows: WorkflowCatalogue | undefined,
  name: string,
  revision?: number,
): CataloguedWorkflow | undefined {
  const all = workflows?.get(name) ?? [];
  if (revision !== undefined) return all.find((each) => each.revision === revision);
  return all.reduce<CataloguedWorkflow | undefined>(
    (newest, each) => (newest === undefined || each.revision > newest.revision ? each : newest),
    undefined,
  );
}
