import { defineHandler } from '../../../dist/index.js';
import { completed, startedEngine } from '../../runs.js';
import { answer, steps } from '../work.js';

const flow = `workflow: three-steps
steps:
${steps.map((step) => `  - { id: ${step}, step: answer, with: { step: ${step} } }`).join('\n')}
`;

export const engine = {
  packages: [],
  runtime: 'node',
  variants: [{ durability: 'power' }, { durability: 'process' }],
  settings: 'SqliteStorage, concurrency as many as at once; the end by engine.result()',

  async open({ folder, durability, atOnce }) {
    const handlers = [defineHandler({ name: 'answer', run: ({ input }) => answer(input.step) })];
    const file = `${folder}/runs.db`;
    const opened = await startedEngine({ file, durability, flow, handlers, concurrency: atOnce });
    return { runOnce: () => completed(opened, 'three-steps', {}), close: () => opened.close() };
  },
};
