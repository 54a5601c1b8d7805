import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRun } from '../../scripts/draw-example-run.js';
import { drawRun } from '../../src/cli/commands/graph.js';

it('the picture of a run in the README is what the command draws now (scripts/draw-example-run.js)', async () => {
  expect(await exampleRun(drawRun)).toBe(readFileSync('docs/images/run.svg', 'utf8'));
});
