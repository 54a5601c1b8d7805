import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { verbs, workflowShape } from '../../src/definition/index.js';
import { functionNames } from '../../src/expression/index.js';
import { Source } from '../../src/syntax/index.js';

const reference = readFileSync(new URL('../../docs/reference/language.md', import.meta.url), 'utf8');
const examples = [...reference.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');

/** What the examples read that stands outside them. */
const around = `workflow: example
inputSchema: { type: object }
`;

const elsewhere = `  - id: decision
    set: { by: eva }
`;

function asFlow(example: string): string {
  if (example.startsWith('workflow:')) return example;
  if (!example.startsWith('- ')) return `workflow: example\n${example}${/^steps:/m.test(example) ? '' : 'steps: []\n'}`;
  const known = example.includes('id: decision') ? '' : elsewhere;
  return `${around}steps:\n${known}${example.replace(/^(?=.)/gm, '  ')}`;
}

describe('docs/reference/language.md', () => {
  test.each(examples)('is right in %j', (example) => {
    const { diagnostics } = checkSource(new Source('example.yaml', asFlow(example)));
    // The inputs of the examples of schedules are declared nowhere.
    expect(diagnostics.filter(({ code }) => code !== 'RS2033')).toEqual([]);
  });

  test('describes every verb and every key of a file', () => {
    const headings = [...reference.matchAll(/^### (.*)$/gm)].flatMap((match) => (match[1] ?? '').split(' and '));
    expect(headings).toEqual(verbs);
    const table = reference.slice(reference.indexOf('## The file'), reference.indexOf('## Input'));
    const keys = Object.keys(workflowShape.keys).filter((key) => key !== '$schema');
    expect(keys.filter((key) => !table.includes(`\`${key}\``))).toEqual([]);
  });

  test('lists the functions there are', () => {
    const section = reference.slice(reference.indexOf('The functions of [JSONata]'), reference.indexOf('`$now()`'));
    const listed = [...section.slice(section.indexOf(':', 40)).matchAll(/`\$(\w+)`/g)].map((match) => match[1]);
    expect(new Set([...listed, 'addDuration'])).toEqual(new Set(functionNames));
  });
});
