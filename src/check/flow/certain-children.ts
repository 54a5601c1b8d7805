import { type Item, type Items, type WorkflowDocument, bodiesOf } from '../../definition/index.js';
import type { Path } from '../../syntax/index.js';

/** A `subWorkflow` that every run comes to, unless something fails. */
export interface CertainChild {
  readonly workflow: string;
  readonly revision?: number;
  /** Of the item, from the root of the document. */
  readonly path: Path;
}

const known = new WeakMap<WorkflowDocument, readonly CertainChild[]>();

/** The children that a workflow starts with no condition on the way: no `when`, arm, loop that may have no turn or early end. */
export function certainChildrenOf(document: WorkflowDocument): readonly CertainChild[] {
  let children = known.get(document);
  if (children === undefined) {
    const found: CertainChild[] = [];
    collect(document.steps, ['steps'], found);
    collect(document.finally ?? [], ['finally'], found);
    children = found;
    known.set(document, children);
  }
  return children;
}

/** @returns whether the run certainly goes on after the list, as far as no step fails */
function collect(items: Items, path: Path, found: CertainChild[]): boolean {
  return items.every((item, index) => collectItem(item, [...path, index], found));
}

function collectItem(item: Item, path: Path, found: CertainChild[]): boolean {
  if (item.when !== undefined && !isTrue(item.when)) return !mayEnd(item);
  if ('subWorkflow' in item) {
    const { subWorkflow: workflow, revision } = item;
    found.push({ workflow, path, ...(revision !== undefined && { revision }) });
  }
  let goesOn = !mayEnd(item);
  if (hasCertainBody(item)) {
    for (const body of bodiesOf(item)) {
      if (body.path[0] !== 'onError') goesOn = collect(body.list, [...path, ...body.path], found) && goesOn;
    }
  }
  return goesOn;
}

/** Whether all its lists are begun wherever it is run. */
function hasCertainBody(item: Item): boolean {
  if ('forEach' in item) return Array.isArray(item.forEach) && item.forEach.length > 0;
  return 'group' in item || 'parallel' in item || 'doUntil' in item;
}

function isTrue(when: string | boolean): boolean {
  return when === true || (typeof when === 'string' && /^\s*=?\s*true\s*$/.test(when));
}

/** Whether it holds, at any depth, what ends the run or is caught further out. */
function mayEnd(item: Item): boolean {
  if ('complete' in item || 'fail' in item || 'rethrow' in item) return true;
  return bodiesOf(item).some(({ list }) => list.some(mayEnd));
}
