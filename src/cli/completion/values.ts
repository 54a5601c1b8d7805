import { existsSync } from 'node:fs';
import { diagnosticCodes, entryOf, parseDocument, textOf } from '../../syntax/index.js';
import type { SyntaxNode } from '../../syntax/index.js';
import { databasePath, withExistingStorage } from '../database.js';
import { filesOf, readFlow } from '../flow-files.js';
import type { Io } from '../io.js';
import { definitionsSetting, findConfig } from '../settings.js';
import type { Candidate, Completion, TypedOptions, ValuesOf } from './candidates.js';

/** As many as one can look through. */
const mostRuns = 50;

/** Where to look: in a project with its config, and where the options say that were typed. */
interface Place {
  readonly io: Io;
  readonly typed: TypedOptions;
}

/**
 * What can stand for the placeholders of the commands, from the project in the working directory. Whatever is wrong
 * with it (a flow with mistakes, a locked database), the rest is offered: nobody wants an error at a Tab.
 */
export function projectValues(outer: Io): ValuesOf {
  // A shell asks at a key, in whatever folder one stands: nothing there is executed for that.
  const io: Io = { ...outer, untrusted: 'completion' };
  const only = (candidates: readonly Candidate[]): Completion => ({ candidates, files: false });
  const quietly = async (read: () => Promise<Candidate[]>): Promise<Candidate[]> =>
    (await read().catch(() => [])).filter(({ value }) => isShellWord(value));
  return async (placeholder, option, typed) => {
    const project = await findConfig(typed.get('--config'), io).catch(() => undefined);
    const place: Place = { io: { ...io, project }, typed };
    if (option === '--status') return only(await quietly(statuses));
    switch (placeholder) {
      case 'flow':
      case 'targets':
        return { candidates: await quietly(() => flows(place)), files: true };
      case 'target':
        return {
          candidates: [...(await quietly(() => flows(place))), ...(await quietly(() => runs(place)))],
          files: true,
        };
      case 'workflow':
      case 'names':
        return only(await quietly(() => flows(place)));
      case 'run':
        return only(await quietly(() => runs(place)));
      case 'name':
        return only(await quietly(() => (option === '--workflow' ? flows(place) : signals(place))));
      case 'handlers':
        return only(await quietly(() => handlers(place)));
      case 'code':
        return only(Object.entries(diagnosticCodes).map(([value, description]) => ({ value, description })));
      case 'path':
      case 'paths':
      case 'folder':
      case 'directory':
      case 'file':
      case 'before':
      case 'after':
        return { candidates: [], files: true };
      default:
        return undefined;
    }
  };
}

/**
 * Whether a shell takes a text as one word that means itself: what is completed stands on the command line without
 * quotes, and is executed as it stands there.
 */
function isShellWord(text: string): boolean {
  return /^[\p{L}\p{N}_./][\p{L}\p{M}\p{N}_@%+:,./-]*$/u.test(text);
}

async function statuses(): Promise<Candidate[]> {
  const { openStatuses, terminalStatuses } = await import('../../storage/index.js');
  return [...openStatuses, ...terminalStatuses].map((value) => ({ value, description: '' }));
}

async function roots({ io, typed }: Place): Promise<SyntaxNode[]> {
  const found: SyntaxNode[] = [];
  for (const file of await filesOf(definitionsSetting(typed.get('--definitions'), io).path, io)) {
    const { root } = parseDocument(await readFlow(file, io));
    if (root !== undefined) found.push(root);
  }
  return found;
}

async function flows(place: Place): Promise<Candidate[]> {
  const found = new Map<string, string>();
  for (const root of await roots(place)) {
    const name = textOf(entryOf(root, 'workflow')?.value);
    if (name !== undefined) found.set(name, textOf(entryOf(root, 'description')?.value) ?? '');
  }
  return [...found].map(([value, description]) => ({ value, description }));
}

async function signals(place: Place): Promise<Candidate[]> {
  return textsAt('waitFor', place);
}

/** What stands behind a key, anywhere in the flows. */
async function textsAt(key: string, place: Place): Promise<Candidate[]> {
  const names = new Set<string>();
  const visit = (node: SyntaxNode): void => {
    if (node.kind === 'sequence') node.items.forEach(visit);
    if (node.kind !== 'mapping') return;
    const name = textOf(entryOf(node, key)?.value);
    if (name !== undefined) names.add(name);
    for (const { value } of node.entries) visit(value);
  };
  for (const root of await roots(place)) visit(root);
  return [...names].map((value) => ({ value, description: '' }));
}

/** The newest ones: by key where they have one that a shell takes as one word, else by id. */
async function runs({ io, typed }: Place): Promise<Candidate[]> {
  const db = typed.get('--db');
  if (!existsSync(databasePath(db, io))) return [];
  const found = await withExistingStorage(db, io, (storage) => storage.listRuns({ limit: mostRuns }));
  return found.runs.map(({ id, key, workflow, status }) => ({
    value: key !== null && isShellWord(key) ? key : id,
    description: `${workflow}, ${status}`,
  }));
}

/** Those that flows call: to know all there are, their modules would have to be executed. */
async function handlers(place: Place): Promise<Candidate[]> {
  return textsAt('step', place);
}
