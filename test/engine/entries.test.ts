import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JsonText } from '../../src/common/index.js';
import { readStepInput, stepStartedPayload } from '../../src/engine/entries.js';

/** Texts in which the mark before an input can be, or half of it. */
const text = fc.oneof(fc.string(), fc.constantFrom(',"input":', '","input":{', '\\",\\"input\\":', '"}', '\\'));

it('the input of a start is read back as the text that it was, whatever is in its key and in itself', () => {
  const input = fc.dictionary(text, fc.oneof(text, fc.array(text), fc.constant(null)));
  fc.assert(
    fc.property(text, fc.boolean(), fc.option(input), (idempotencyKey, owed, value) => {
      const given = value === null ? undefined : new JsonText(JSON.stringify(value));
      const payload = stepStartedPayload({ idempotencyKey, owed }, given);
      expect(readStepInput(payload)?.text).toBe(given?.text);
      expect(JSON.parse(payload)).toEqual({ idempotencyKey, owed, ...(value !== null && { input: value }) });
    }),
    { seed: 8, numRuns: 500 },
  );
});
