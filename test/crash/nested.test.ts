import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MemoryStorage, createEngine, loadHandlers } from 'runsheet';
import { temporaryFolder } from '../flows-support/temporary-folder.js';
import { loadFlow } from '../flows-support/load-flow.js';
import effect, { recordedCalls } from './handlers.js';
import { expectedOfNested } from './nested-expected.js';

test('undisturbed, the flow makes each expected call once and gives the expected output', async () => {
  const orders = [4, 1, 2, 9, 6];
  const file = join(temporaryFolder(), 'calls.jsonl');
  const engine = createEngine({
    storage: new MemoryStorage(),
    definitions: [loadFlow('test/crash/nested.yaml')],
    handlers: [effect],
  });
  await engine.start();
  const { id } = await engine.enqueue('nested', { file, orders });
  const run = await engine.result(id);
  await engine.close();
  const { calls, output } = expectedOfNested(orders);
  expect(run.error).toBeNull();
  expect(run.output).toEqual(output);
  const byPlace = (a: { place: string; attempt: number }, b: { place: string; attempt: number }): number =>
    a.place === b.place ? a.attempt - b.attempt : a.place < b.place ? -1 : 1;
  const made = recordedCalls(file).map(({ key, attempt, input }) => ({
    place: key.slice(id.length + 1),
    attempt,
    input,
  }));
  expect(made.sort(byPlace)).toEqual([...calls].sort(byPlace));
});

test('its handlers load as the command line loads them', async () => {
  expect(await loadHandlers('test/crash/handlers.ts')).toMatchObject([{ name: 'crash.effect' }]);
});
