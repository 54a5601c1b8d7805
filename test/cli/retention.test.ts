import { describe, expect, it } from 'vitest';
import { Project, notingHandlers } from './project.js';

/** Three runs: one completed, one failed, one that waits. */
async function project(): Promise<Project> {
  const runs = new Project({
    'handlers/all.ts': notingHandlers,
    'definitions/good.yaml': 'workflow: good\nsteps:\n  - step: note\n    with: { text: good }\n',
    'definitions/bad.yaml': 'workflow: bad\nsteps:\n  - step: refuse\n',
    'definitions/gate.yaml': 'workflow: gate\nsteps:\n  - waitFor: go\n    timeout: never\n',
  });
  for (const name of ['good', 'bad', 'gate']) await runs.runsheet(['run', name, '--no-wait', '--key', name]);
  return runs;
}

async function listed(runs: Project, ...args: string[]): Promise<string[]> {
  const { out } = await runs.runsheet(['list', '--json', ...args]);
  return (JSON.parse(out) as { runs: { workflow: string }[] }).runs.map(({ workflow }) => workflow);
}

describe('runsheet cleanup', () => {
  it('removes what has ended so long ago, and nothing else', async () => {
    const runs = await project();
    expect(await runs.runsheet(['cleanup', '--older-than', '7d'])).toEqual({
      code: 0,
      out: '0 runs removed\n',
      err: '',
    });
    expect(await runs.runsheet(['cleanup', '--older-than', '0s'])).toMatchObject({ out: '2 runs removed\n' });
    expect(await listed(runs)).toEqual(['gate']);
    expect((await runs.runsheet(['show', 'good'])).code).toBe(4);
  });

  it('removes only runs in the states that it is told', async () => {
    const runs = await project();
    const { out } = await runs.runsheet(['cleanup', '--older-than', '0s', '--status', 'failed,cancelled', '--json']);
    expect(JSON.parse(out)).toEqual({ version: 1, removed: 1 });
    expect(await listed(runs)).toEqual(['gate', 'good']);
  });
});

describe('runsheet archive', () => {
  it('puts runs away: shown by key, listed apart, removed by cleanup', async () => {
    const runs = await project();
    expect(await runs.runsheet(['archive', '--older-than', '0s', '--status', 'completed'])).toMatchObject({
      code: 0,
      out: '1 run archived\n',
    });
    expect(await listed(runs)).toEqual(['gate', 'bad']);
    expect(await listed(runs, '--archived')).toEqual(['good']);
    expect((await runs.runsheet(['show', 'good'])).out).toContain('completed');
    expect((await runs.runsheet(['cleanup', '--older-than', '0s', '--json'])).out).toContain('"removed":2');
    expect(await listed(runs, '--archived')).toEqual([]);
  });
});

describe.each(['cleanup', 'archive'])('runsheet %s', (command) => {
  it.each([
    [[], 'missing option --older-than <duration>'],
    [['--older-than', '7'], 'error: --older-than: "7" has no unit: which is meant, 7s, 7m or 7h?'],
    [['--older-than', '7d', '--status', 'running'], 'the states are completed, failed, cancelled'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await (await project()).runsheet([command, ...args]);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  it('needs a database that is there', async () => {
    expect((await new Project().runsheet([command, '--older-than', '7d'])).code).toBe(4);
  });
});
