import { describe, expect, it } from 'vitest';
import { Project, notingHandlers } from './project.js';

const before = `
workflow: order
input: { total: { type: number, minimum: 0 } }
steps:
  - id: charge
    step: note
    with: { text: charge }
  - id: go
    waitFor: go
    timeout: never
`;
const after = `
workflow: order
input: { total: { type: number, minimum: 1 } }
steps:
  - step: note
    with: { text: hello }
  - id: go
    waitFor: go
    timeout: 1d
  - id: charge
    step: note
    with: { text: charge }
    retry: { attempts: 5 }
`;

function project(): Project {
  return new Project({ 'a.yaml': before, 'b.yaml': after, 'handlers/all.ts': notingHandlers });
}

async function hashOf(flows: Project, file: string): Promise<string> {
  return (await flows.runsheet(['hash', file])).out.slice(0, 64);
}

/** Starts so many runs of `a.yaml`, which wait. */
async function waiting(flows: Project, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { out } = await flows.runsheet(['run', 'a.yaml', '--no-wait', '--json', '--input', '{"total":1}']);
    ids.unshift((JSON.parse(out) as { run: { id: string } }).run.id);
  }
  return ids;
}

/** As people are told it. */
async function shortHashOf(flows: Project, path: string): Promise<string> {
  return (await hashOf(flows, path)).slice(0, 12);
}

describe('runsheet diff', () => {
  it('says what changed in meaning between two flows', async () => {
    const flows = project();
    const { code, out, err } = await flows.runsheet(['diff', 'a.yaml', 'b.yaml']);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        `before: order revision 1, hash ${await shortHashOf(flows, 'a.yaml')} (a.yaml)`,
        `after:  order revision 1, hash ${await shortHashOf(flows, 'b.yaml')} (b.yaml)`,
        'workflow',
        '  ~ input.total.minimum: 0 → 1',
        'items',
        '  + note@0',
        '  ~ go',
        '      ~ timeout: "never" → "1d"',
        '  > charge (moved from 0 to 2)',
        '  ~ charge',
        '      + retry: {"attempts":5}',
        '',
      ].join('\n'),
    );
    expect(err).toContain('raise `revision` if there may be any');
  });

  it('says `same` where only the layout differs, also of a flow on stdin', async () => {
    const flows = project();
    const stdin = `# ours\ndescription: Orders\n${before}`;
    const { code, out } = await flows.runsheet(['diff', '-', 'a.yaml'], { stdin });
    expect({ code, out }).toEqual({
      code: 0,
      out: `same: order revision 1, hash ${await shortHashOf(flows, 'a.yaml')} (a.yaml)\n`,
    });
  });

  it('tells of unfinished runs on the same revision, which the change would be refused for', async () => {
    const flows = project();
    const ids = await waiting(flows, 7);
    const { code, out } = await flows.runsheet(['diff', 'a.yaml', 'b.yaml']);
    expect(code).toBe(5);
    expect(out).toContain(
      `7 unfinished runs are on revision 1, hash ${await shortHashOf(flows, 'a.yaml')}:\n` +
        `${ids
          .slice(0, 5)
          .map((id) => `  ${id}\n`)
          .join('')}  and 2 more\n` +
        'the same revision with other content is refused until they have ended: raise `revision` to 2\n',
    );
  });

  it('tells that runs stay on their revision, and how that is kept', async () => {
    const flows = project();
    const [id] = await waiting(flows, 1);
    flows.write('b.yaml', `revision: 2\n${after}`);
    const { code, out } = await flows.runsheet(['diff', 'a.yaml', 'b.yaml']);
    expect(code).toBe(0);
    expect(out).toContain('  + revision: 2\n');
    expect(out).toContain(
      `1 unfinished run is on revision 1, hash ${await shortHashOf(flows, 'a.yaml')}:\n  ${id}\n` +
        'they end on revision 1: keep its flow among the definitions, or drive them by `runsheet worker --adopt-stored`\n',
    );
  });

  it('compares a flow with what the newest run of it is on', async () => {
    const flows = project();
    const [id] = await waiting(flows, 1);
    const { code, out } = await flows.runsheet(['diff', 'b.yaml', '--json']);
    expect(code).toBe(5);
    const hash = await hashOf(flows, 'a.yaml');
    expect(JSON.parse(out)).toMatchObject({
      version: 1,
      same: false,
      before: { name: 'order', revision: 1, hash },
      after: { name: 'order', revision: 1, hash: await hashOf(flows, 'b.yaml') },
      document: [{ path: 'input.total.minimum', before: 0, after: 1 }],
      affected: [{ hash, revision: 1, runs: [id], conflict: true }],
    });
    const same = await flows.runsheet(['diff', 'a.yaml']);
    expect(same).toMatchObject({
      code: 0,
      out: `same: order revision 1, hash ${hash.slice(0, 12)} (a.yaml)\nno unfinished run of order is on another content\n`,
    });
  });

  it.each([
    [['a.yaml', 'nosuch.yaml'], 4, 'there is no nosuch.yaml'],
    [['a.yaml'], 4, 'there is no database'],
    [['a.yaml', 'b.yaml', '--db', 'nosuch.db'], 4, 'there is no database'],
    [['handlers', 'a.yaml'], 4, 'there is no flow'],
    [['wrong.yaml', 'a.yaml'], 3, 'wrong.yaml has 1 mistake'],
  ])('refuses %j with %d', async (args, code, message) => {
    const flows = project();
    flows.write('wrong.yaml', 'workflow: wrong\nsteps: 1\n');
    const result = await flows.runsheet(['diff', ...args]);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.err).toContain(message);
  });
});
