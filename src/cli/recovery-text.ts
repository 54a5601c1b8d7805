import type { Recovery } from '../engine/index.js';
import { type Given, adoptCommand, showCommand } from './next-commands.js';
import { countText, firstOf, shortHash } from './text.js';

/** Of many runs the first ones are enough to begin with; `--json` has all. */
const mostRuns = 5;

/** What was taken over and what is left to somebody, for people; one line each. */
export function recoveryLines(recovery: Recovery, given: Given): string[] {
  const { running, compensating, waiting, orphans, suspects } = recovery;
  return [
    `taken over: ${running} running, ${compensating} compensating; waiting: ${waiting}`,
    ...section(`${countText(orphans.length, 'run')} whose owner is gone, going on alone`, orphans),
    ...section(
      `${countText(suspects.length, 'run')} interrupted again and again, each driven alone`,
      suspects,
      (id) => `  ${showCommand(id, given)}`,
    ),
    ...missingLines(recovery, given),
  ];
}

function section(title: string, runs: readonly string[], line: (id: string) => string = (id) => `  ${id}`): string[] {
  if (runs.length === 0) return [];
  return [`${title}:`, ...firstOf(runs.map(line), mostRuns)];
}

/** They go on once the file with their content is among the definitions again, or from what is stored with them. */
function missingLines({ definitionMissing }: Recovery, given: Given): string[] {
  const byHash = new Map<string, Recovery['definitionMissing'][number][]>();
  for (const one of definitionMissing) byHash.set(one.hash, [...(byHash.get(one.hash) ?? []), one]);
  const lines = [...byHash.values()].flatMap((runs) => {
    const [{ workflow, revision, hash } = { workflow: '', revision: 0, hash: '' }] = runs;
    const title = `${countText(runs.length, 'run')} without definition: ${workflow} revision ${revision}, hash ${shortHash(hash)}`;
    return section(
      title,
      runs.map(({ run }) => run),
    );
  });
  if (lines.length === 0) return [];
  return [
    ...lines,
    'put the flows with that content back among the definitions, or drive these runs from what is stored with them:',
    `  ${adoptCommand(given)}`,
  ];
}
