import {
  type Definition,
  type ReadWorkflow,
  type WorkflowDocument,
  readWorkflow,
  sealDefinition,
} from '../definition/index.js';
import type { HandlerCatalogue } from '../handlers/index.js';
import { type Diagnostic, type Source, byPlace, uncheckable } from '../syntax/index.js';
import { checkWorkflow } from './check-workflow.js';
import { isSaidAgain, oncePerName, withoutConsequences } from './echoes.js';
import { applyIgnoreComments } from './ignore-comments.js';
import type { WorkflowCatalogue } from './workflow-catalogue.js';

export interface CheckOptions {
  /** What the flow may call. Absent: nothing is said about handlers. */
  readonly handlers?: HandlerCatalogue;
  /** The workflows that it may start as children. Absent: nothing is said about children. */
  readonly workflows?: WorkflowCatalogue;
  /** There may be workflows that are not among those: a child that is none of them is a warning. */
  readonly workflowsMayBeMissing?: boolean;
}

export interface CheckedSource {
  /** Absent if there is an error among the diagnostics. */
  readonly definition?: Definition;
  /** In order of position. */
  readonly diagnostics: Diagnostic[];
}

/** The one checker, behind command line, library and editor: everything that is known of a flow before a run. */
export function checkSource(source: Source, options: CheckOptions = {}): CheckedSource {
  const { document, diagnostics } = checkRead(source, readSafely(source), options);
  return document === undefined ? { diagnostics } : { definition: sealDefinition(document, source), diagnostics };
}

export interface CheckedDocument {
  /** Absent if there is an error among the diagnostics. */
  readonly document?: WorkflowDocument;
  /** In order of position. */
  readonly diagnostics: Diagnostic[];
}

/** Reads a flow; what makes the reading of one file fail is said of that file. */
export function readSafely(source: Source): ReadWorkflow {
  try {
    return readWorkflow(source);
  } catch (error) {
    return { diagnostics: [uncheckable(error)] };
  }
}

/** The same of a flow that was read already, to learn what it is called and what it is made of; not yet sealed. */
export function checkRead(source: Source, read: ReadWorkflow, options: CheckOptions): CheckedDocument {
  try {
    return checkTree(source, read, options);
  } catch (error) {
    return { diagnostics: [...read.diagnostics, uncheckable(error)] };
  }
}

function checkTree(source: Source, read: ReadWorkflow, options: CheckOptions): CheckedDocument {
  const { root, document, diagnostics, isEcho = () => false } = read;
  const knowsAll = options.handlers !== undefined && options.workflows !== undefined;
  if (root === undefined) return { diagnostics: applyIgnoreComments(source, diagnostics, knowsAll) };
  const all = checkWorkflow({ source, root, ...(document !== undefined && { document }), ...options });
  const found = withoutConsequences(all, diagnostics).filter((each) => !isEcho(each));
  const ofShape = withoutConsequences(diagnostics, all).filter((each) => !isSaidAgain(each, found));
  const told = [...ofShape, ...found].sort(byPlace);
  const valid = document !== undefined && !found.some(({ severity }) => severity === 'error');
  const kept = oncePerName(applyIgnoreComments(source, told, knowsAll), source);
  return valid ? { document, diagnostics: kept } : { diagnostics: kept };
}
