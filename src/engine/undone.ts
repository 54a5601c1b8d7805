import type { JournalRow, RunRecord, Storage } from '../storage/index.js';

/**
 * Whether nothing is left of what a run has done, its children included: each step that may have had an effect was
 * compensated. One whose rollback is completed may have had steps without compensation.
 */
export async function isWhollyUndone(run: RunRecord, storage: Storage): Promise<boolean> {
  const journal = await storage.readJournal(run.run, 0, Number.MAX_SAFE_INTEGER);
  const compensated = placesOf(journal, ({ kind }) => kind === 'compensation-completed');
  const harmless = placesOf(journal, isHarmless);
  const harmful = placesOf(
    journal,
    (row) => row.kind === 'step-completed' || (row.kind === 'step-failed' && !isHarmless(row)),
  );
  for (const place of placesOf(journal, ({ kind }) => kind === 'step-started')) {
    if (!compensated.has(place) && (harmful.has(place) || !harmless.has(place))) return false;
  }
  for (const child of await storage.listChildren(run.id)) if (!(await isWhollyUndone(child, storage))) return false;
  return true;
}

function placesOf(journal: readonly JournalRow[], isWanted: (row: JournalRow) => boolean): ReadonlySet<string> {
  return new Set(journal.filter(isWanted).map(({ step, occurrence }) => `${step}#${occurrence}`));
}

function isHarmless({ kind, payload }: JournalRow): boolean {
  return kind === 'step-failed' && (JSON.parse(payload ?? '{}') as { effect?: string }).effect === 'none';
}
