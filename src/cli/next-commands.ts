import { type GateHistory, type RunHistory, readHistory } from '../engine/index.js';
import type { Storage } from '../storage/index.js';
import { rootOf } from './find-run.js';
import { placeholderOf } from './schema-text.js';
import { shellWord } from './shell-word.js';

/** What a command was given, to be given to those that it proposes. */
export interface Given {
  /** The flow, if by another word than its name. */
  readonly target?: string;
  readonly db?: string | undefined;
  readonly handlers?: string | undefined;
  readonly definitions?: string | undefined;
}

/** Of a run with many open children, the commands of the first ones are enough to begin with. */
const mostChildren = 5;

/** The commands that would move a run on, most to the point first. */
export async function nextCommands(storage: Storage, history: RunHistory, given: Given): Promise<string[]> {
  const { run, resumable } = history;
  if (run.endedAt !== null) return resumable ? [resumeCommand(run.id, given)] : [];
  const record = await storage.getRun(run.id);
  const root = record === undefined ? run : await rootOf(storage, record);
  return [...(await familyAnswers(storage, history, given)), continueCommand(root, given)];
}

/** The commands that would tell a run what it waits to be told. */
export function answerCommands({ run, steps, order }: RunHistory, given: Given): string[] {
  if (order !== null) return [];
  if (run.status === 'compensation-stuck') {
    return ['resume', 'abandon'].map((verdict) =>
      command(['runsheet compensation', verdict, run.id], { db: given.db }),
    );
  }
  return steps
    .filter((step) => step.kind === 'gate')
    .filter(isUnanswered)
    .map((gate) => signalCommand(run.id, gate, given));
}

/** The command that shows what happened in a run. */
export function showCommand(id: string, { db }: Given): string {
  return command(['runsheet show', id], { db });
}

/** A worker that goes on from stored documents with runs whose definition is not there any more. */
export function adoptCommand(given: Given): string {
  return command(['runsheet worker', '--adopt-stored'], given);
}

export function continueCommand(
  { id, workflow }: { readonly id: string; readonly workflow: string },
  given: Given,
): string {
  return command(['runsheet run', given.target ?? workflow, '--continue', id], given);
}

async function familyAnswers(storage: Storage, history: RunHistory, given: Given): Promise<string[]> {
  const commands = answerCommands(history, given);
  // A stuck child makes its parent stuck, and what the parent is told is passed on to it.
  if (history.run.status === 'compensation-stuck') return commands;
  for (const id of openChildren(history).slice(0, mostChildren)) {
    const child = await storage.getRun(id);
    if (child === undefined || child.endedAt !== null) continue;
    commands.push(...(await familyAnswers(storage, await readHistory(storage, child), given)));
  }
  return commands;
}

function openChildren({ steps, reversals }: RunHistory): string[] {
  const open = new Set<string>();
  for (const step of steps) if (step.kind === 'child' && step.state === 'waiting') open.add(step.run);
  for (const { run, state } of reversals) if (run !== null && state === 'running') open.add(run);
  return [...open];
}

function isUnanswered({ state, arrived }: GateHistory): boolean {
  return state === 'waiting' && !arrived;
}

/** The command that sends a signal, with places to fill in where the flow says what its payload is. */
export function signalCommand(
  id: string,
  { signal, schema }: Pick<GateHistory, 'signal' | 'schema'>,
  { db }: Given,
): string {
  const data = schema === undefined ? [] : ['--data', placeholderOf(schema)];
  return command(['runsheet signal', id, signal, ...data], { db });
}

function resumeCommand(id: string, { db }: Given): string {
  return command(['runsheet resume', id], { db });
}

function command([name = '', ...words]: readonly string[], { db, handlers, definitions }: Given): string {
  const options = [
    ...(db === undefined ? [] : ['--db', db]),
    ...(handlers === undefined ? [] : ['--handlers', handlers]),
    ...(definitions === undefined ? [] : ['--definitions', definitions]),
  ];
  return [name, ...[...words, ...options].map(shellWord)].join(' ');
}
