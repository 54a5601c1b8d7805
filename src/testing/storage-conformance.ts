import { claimCases } from './storage-cases/claims.js';
import { inboxCases } from './storage-cases/inbox.js';
import { interruptionCases } from './storage-cases/interruptions.js';
import { relationCases } from './storage-cases/relations.js';
import { retentionCases } from './storage-cases/retention.js';
import { runCases } from './storage-cases/runs.js';
import { scheduleCases } from './storage-cases/schedules.js';
import { severalCases } from './storage-cases/several.js';
import { startCases } from './storage-cases/starts.js';
import { surveyCases } from './storage-cases/survey.js';
import { unitCases } from './storage-cases/units.js';
import type { StorageCase } from './storage-cases/case.js';

export type { StorageCase } from './storage-cases/case.js';

/**
 * What every storage must do, as cases for any test runner:
 *
 * ```ts
 * for (const { name, needs, run } of storageConformance) {
 *   test.skipIf(needs !== undefined && !capabilities[needs])(name, () => run(makeMyStorage()));
 * }
 * ```
 */
export const storageConformance: readonly StorageCase[] = [
  ...runCases,
  ...claimCases,
  ...startCases,
  ...unitCases,
  ...inboxCases,
  ...relationCases,
  ...interruptionCases,
  ...scheduleCases,
  ...retentionCases,
  ...surveyCases,
  ...severalCases,
];
