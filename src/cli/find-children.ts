import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { flowNameOf } from '../check/index.js';
import { type Definition, type SubWorkflowItem, walkItems } from '../definition/index.js';
import type { HandlerRegistry } from '../handlers/index.js';
import { type Source, nearest } from '../syntax/index.js';
import { validDefinition } from './check-flow.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import { filesOf, readIn } from './flow-files.js';
import { type Io, pathOf } from './io.js';

/**
 * The definitions that these start as children, at any depth, with themselves: from the folders in which they stand,
 * then from `folder`. Of a name all revisions are taken; of a revision that stands in both the one in the first.
 *
 * @throws CommandFailure (invalid flow) naming the step whose child is in none of them, or a child that has mistakes
 */
export async function withChildren(
  definitions: readonly Definition[],
  folder: string,
  handlers: HandlerRegistry | undefined,
  io: Io,
): Promise<Definition[]> {
  const known = [...definitions];
  let flows: readonly NamedFlow[] | undefined;
  const lookedFor = new Set(known.map(({ name }) => name));
  // Grows while it is walked through.
  for (const parent of known) {
    for (const { item, key } of childrenOf(parent)) {
      flows ??= await flowsIn(foldersOf(definitions, folder, io), io);
      if (!lookedFor.has(item.subWorkflow) || !known.some((one) => isMeant(one, item))) {
        lookedFor.add(item.subWorkflow);
        for (const { source, name } of flows) {
          if (name !== item.subWorkflow) continue;
          const found = await validDefinition(source, handlers, io);
          if (!known.some((one) => one.name === found.name && one.revision === found.revision)) known.push(found);
        }
      }
      if (!known.some((one) => isMeant(one, item))) throw missingChild(parent, item, key, flows, folder);
    }
  }
  return known;
}

interface NamedFlow {
  readonly source: Source;
  readonly name: string;
}

function childrenOf({ document }: Definition): { item: SubWorkflowItem; key: string }[] {
  const children: { item: SubWorkflowItem; key: string }[] = [];
  walkItems(document, ({ item, key }) => {
    if ('subWorkflow' in item) children.push({ item, key });
  });
  return children;
}

function isMeant({ name, revision }: Definition, item: SubWorkflowItem): boolean {
  return name === item.subWorkflow && (item.revision === undefined || revision === item.revision);
}

/** Each once, whatever path leads to it. */
function foldersOf(definitions: readonly Definition[], folder: string, io: Io): string[] {
  const own = definitions.flatMap(({ source }) => (source === undefined ? [] : [dirname(source.name)]));
  const folders = new Map<string, string>();
  for (const path of [...own, folder]) {
    const place = resolve(pathOf(io, path));
    if (existsSync(place) && !folders.has(place)) folders.set(place, path);
  }
  return [...folders.values()];
}

/** Whatever else is wrong with them: only those that are children have to be valid. */
async function flowsIn(folders: readonly string[], io: Io): Promise<NamedFlow[]> {
  const flows: NamedFlow[] = [];
  for (const folder of folders) {
    for (const file of await filesOf(folder, io)) {
      const source = await readIn(folder, file, io);
      const name = flowNameOf(source);
      if (name !== undefined) flows.push({ source, name });
    }
  }
  return flows;
}

function missingChild(
  parent: Definition,
  { subWorkflow, revision }: SubWorkflowItem,
  key: string,
  flows: readonly NamedFlow[],
  folder: string,
): CommandFailure {
  const wanted = revision === undefined ? subWorkflow : `${subWorkflow} revision ${revision}`;
  const near = nearest(
    subWorkflow,
    flows.map(({ name }) => name).filter((name) => name !== subWorkflow),
  );
  const remedy =
    near === undefined ? 'put its flow there, or name its folder by --definitions' : `did you mean ${near}?`;
  return new CommandFailure(
    exitCodes.invalidFlow,
    `${parent.name} starts ${wanted} (in ${key}), which is neither in its own folder nor in ${folder}; ${remedy}`,
  );
}
