import { join } from 'node:path';
import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { once, openDatabase, undoOnce } from './_database.js';
import { shortHash } from './_files.js';

const schema = `
  CREATE TABLE IF NOT EXISTS claim (
    id TEXT PRIMARY KEY,
    expense TEXT NOT NULL,
    employee TEXT NOT NULL,
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    currency TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('submitted', 'withdrawn', 'approved', 'rejected')),
    decided_by TEXT
  );`;

/** What employees have asked for, and what became of it. */
const openClaims = (folder: string) => openDatabase(join(folder, 'expenses.db'), schema);

const submit = defineHandler({
  name: 'expenses.submit',
  description: 'Notes what an employee wants to have back.',
  input: z.strictObject({
    folder: z.string(),
    expense: z.string(),
    employee: z.string(),
    amountCents: z.int().positive(),
    currency: z.string().length(3),
  }),
  output: z.object({ claim: z.string() }),
  run({ input: { folder, ...asked }, idempotencyKey }) {
    const claims = openClaims(folder);
    return once(claims, idempotencyKey, asked, () => {
      const claim = `claim-${shortHash(idempotencyKey)}`;
      claims
        .prepare(
          `INSERT INTO claim (id, expense, employee, amount_cents, currency, state)
           VALUES (@claim, @expense, @employee, @amountCents, @currency, 'submitted')`,
        )
        .run({ claim, ...asked });
      return { claim };
    });
  },
});

const withdraw = defineHandler({
  name: 'expenses.withdraw',
  description: 'Takes a claim back that nobody has decided about.',
  input: z.strictObject({
    folder: z.string(),
    claim: z.string().nullable().describe('null in a reversal that does not know whether there is one'),
  }),
  output: z.object({ withdrawn: z.boolean() }),
  run({ input: { folder, claim }, idempotencyKey, forwardIdempotencyKey }) {
    const claims = openClaims(folder);
    const undoing = { key: idempotencyKey, forwardKey: forwardIdempotencyKey, request: { claim } };
    return undoOnce(claims, undoing, (submitted: { claim: string } | undefined) => {
      const { changes } = claims
        .prepare(`UPDATE claim SET state = 'withdrawn' WHERE id = ? AND state = 'submitted'`)
        .run(claim ?? submitted?.claim ?? null);
      return { withdrawn: changes > 0 };
    });
  },
});

const settle = defineHandler({
  name: 'expenses.settle',
  description: 'Notes what was decided about a claim; what is approved is paid with the next salary.',
  input: z.strictObject({ folder: z.string(), claim: z.string(), approved: z.boolean(), by: z.array(z.string()) }),
  output: z.object({ state: z.enum(['approved', 'rejected']) }),
  errors: ['NotOpen'],
  run({ input: { folder, claim, approved, by }, idempotencyKey }) {
    const claims = openClaims(folder);
    return once(claims, idempotencyKey, { claim, approved, by }, () => {
      const state = approved ? 'approved' : 'rejected';
      const { changes } = claims
        .prepare(`UPDATE claim SET state = ?, decided_by = ? WHERE id = ? AND state = 'submitted'`)
        .run(state, by.join(', '), claim);
      if (changes === 0) throw new NonRetryableError(`${claim} is not open`, { name: 'NotOpen' });
      return { state } as const;
    });
  },
});

export default [submit, withdraw, settle];
