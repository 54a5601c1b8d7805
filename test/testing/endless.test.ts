import { testFlow } from 'runsheet/testing';
import { expect, it } from 'vitest';
import { definitionOf } from '../support/flow.js';

/** A test of a run without an end fails and says why: it neither hangs nor fills the memory. */
it('a loop that calls a handler again and again, at one moment, ends with a failure that names it', async () => {
  const definition = definitionOf(`
workflow: endless
steps: [{ doWhile: =true, maxIterations: 1000000, do: [{ id: work, step: work }] }]
`);
  const large = 'x'.repeat(900_000);
  const flow = await testFlow({ definitions: [definition], handlers: { work: () => large } });
  await expect(flow.result()).rejects.toThrow(
    'the run is running and does not end: more than 200 MB were written in 0ms of virtual time ' +
      '(the last one by work#223); does a loop wait for nothing?',
  );
  await flow.close();
});
