import { expect, it } from 'vitest';
import { Project, notingHandlers } from './project.js';

const flow = `workflow: greet
input: { name: { type: string } }
steps:
  - id: greeting
    step: note
    with: { text: =$input.name }
output: =$steps.greeting
`;

it('runsheet test --from-run writes a test that repeats a run and passes', async () => {
  const project = new Project({ 'definitions/greet.yaml': flow, 'handlers/note.ts': notingHandlers });
  const run = await project.runsheet(['run', 'greet', '--key', 'first', '--input', '{"name":"Ana"}']);
  expect(run).toMatchObject({ code: 0 });

  const file = 'definitions/greet-ana.test.yaml';
  const written = await project.runsheet(['test', '--from-run', 'first', '--output', file]);
  expect(written).toMatchObject({ code: 0, err: `${file} is written; \`runsheet test ${file}\` runs it\n` });
  const printed = await project.runsheet(['test', '--from-run', 'first']);
  expect(printed.out).toBe(project.read(file));

  expect(await project.runsheet(['test', file])).toMatchObject({ code: 0, err: '1 test, all passed\n' });
  expect(await project.runsheet(['test', '--from-run', 'first', '--output', file])).toMatchObject({ code: 5 });
  expect(await project.runsheet(['test', '--from-run', 'none'])).toMatchObject({ code: 4 });
});
