import { z } from 'zod';

/** One row as it stands in the file: nothing is judged yet but its place. */
export const rowSchema = z.object({
  line: z.int().describe('line of the file on which the row begins, 1-based'),
  cells: z.int().describe('how many cells it has'),
  duplicateOf: z.int().nullable().describe('line of the first row with the same order id'),
  fields: z.record(z.string(), z.string()).describe('cells by column name; those that a short row lacks are absent'),
});
