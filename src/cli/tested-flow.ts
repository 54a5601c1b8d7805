import { dirname, resolve } from 'node:path';
import { type Source, entryOf, parseDocument, textOf } from '../syntax/index.js';

/** What a file of flow tests calls its flow: by its name, or by a path, which is made absolute. */
export function testedBy(test: Source): ReadonlySet<string> {
  const named = textOf(entryOf(parseDocument(test).root, 'workflow')?.value);
  return new Set(named === undefined ? [] : [named, resolve(dirname(test.name), named)]);
}

/** Whether a file of flow tests is about a flow. */
export function isTestOf(
  tested: ReadonlySet<string>,
  flow: { readonly path: string; readonly name?: string | undefined },
) {
  return tested.has(resolve(flow.path)) || (flow.name !== undefined && tested.has(flow.name));
}
