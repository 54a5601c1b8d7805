import { describe, expect, it } from 'vitest';
import { Project, notingHandlers } from './project.js';

const flows = {
  'definitions/ok.yaml': 'workflow: ok\nsteps:\n  - step: note\n    with: { text: hi }\n',
  'definitions/bad.yaml': 'workflow: bad\nsteps:\n  - id: no\n    step: refuse\n',
  'definitions/nap.yaml': 'workflow: nap\nsteps:\n  - id: rest\n    sleep: 1h\n',
  'handlers/all.ts': notingHandlers,
};

async function projectWithRuns(): Promise<Project> {
  const project = new Project(flows);
  await project.runsheet(['run', 'ok', '--key', 'same']);
  await project.runsheet(['run', 'bad', '--key', 'same']);
  await project.runsheet(['run', 'nap', '--key', 'night', '--no-wait']);
  return project;
}

describe('runsheet list', () => {
  it('lists runs, newest first, in columns', async () => {
    const project = await projectWithRuns();
    const { code, out } = await project.runsheet(['list']);
    expect(code).toBe(0);
    const rows = out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual(['RUN', 'WORKFLOW', 'STATUS', 'CREATED', 'TOOK', 'KEY']);
    expect(rows.slice(1).map(([, workflow, status]) => [workflow, status])).toEqual([
      ['nap@1', 'sleeping'],
      ['bad@1', 'failed'],
      ['ok@1', 'completed'],
    ]);
  });

  it('filters, and pages by cursor', async () => {
    const project = await projectWithRuns();
    const list = async (...args: string[]): Promise<{ runs: { workflow: string }[]; cursor?: string }> =>
      JSON.parse((await project.runsheet(['list', '--json', ...args])).out);
    const names = async (...args: string[]): Promise<string[]> =>
      (await list(...args)).runs.map(({ workflow }) => workflow);
    expect(await names('--status', 'failed,sleeping')).toEqual(['nap', 'bad']);
    expect(await names('--workflow', 'ok')).toEqual(['ok']);
    expect(await names('--since', '1h')).toEqual(['nap', 'bad', 'ok']);
    expect(await names('--since', '2100-01-01')).toEqual([]);
    const { runs, cursor } = await list('--limit', '2');
    expect(runs.map(({ workflow }) => workflow)).toEqual(['nap', 'bad']);
    expect(await names('--cursor', cursor ?? '')).toEqual(['ok']);
    expect((await project.runsheet(['list', '--since', 'yesterday'])).code).toBe(2);
  });
});

describe('runsheet show', () => {
  it('shows the error first, then states, times, inputs and outputs', async () => {
    const project = await projectWithRuns();
    const { code, out } = await project.runsheet(['show', 'same', '--workflow', 'bad']);
    expect(code).toBe(0);
    const [head, error, place, status] = out.split('\n');
    expect(head).toMatch(/^wf_[0-9a-f]{32} bad revision 1 \(key same\)$/);
    expect(error).toBe('error    Refused: not today (in no, attempt 1)');
    expect(place).toBe('           at line 3: id: no');
    expect(status).toBe('status   failed');
    expect(out).toMatch(
      /\nSTEP {2}STATE {3}ATTEMPTS {2}STARTED.*\nno {4}failed {2}1 .*\n {2}error {3}Refused: not today\n/,
    );
    const done = (await project.runsheet(['show', 'same', '--workflow', 'ok'])).out;
    expect(done).toContain('\n  input   {"text":"hi"}\n  output  {"text":"hi"}\n');
  });

  it('says what a run waits for and how to move it on', async () => {
    const project = await projectWithRuns();
    const { out } = await project.runsheet(['show', 'night']);
    const [, id = ''] = /^(wf_\S+)/.exec(out) ?? [];
    expect(out).toMatch(/\nwaits for {2}rest, which sleeps until \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\n/);
    expect(out).toContain(`\nnext       runsheet run nap --continue ${id}\n`);
    expect((await project.runsheet(['show', id])).out).toBe(out);
  });

  it('gives all of it as JSON', async () => {
    const project = await projectWithRuns();
    const shown = JSON.parse((await project.runsheet(['show', 'same', '--workflow', 'ok', '--json'])).out);
    expect(shown).toMatchObject({
      version: 1,
      run: { workflow: 'ok', status: 'completed', output: { text: 'hi' } },
      steps: [{ step: 'note@0', occurrence: '0', state: 'completed', attempts: 1, output: { text: 'hi' } }],
    });
  });

  it('answers 4 for what is not there, 2 for a key of several workflows', async () => {
    const project = await projectWithRuns();
    const unknown = await project.runsheet(['show', 'nosuch']);
    expect(unknown).toMatchObject({ code: 4, out: '' });
    expect(unknown.err).toContain('there is no run with the id or key nosuch');
    expect((await project.runsheet(['show', 'same'])).code).toBe(2);
    expect((await new Project().runsheet(['show', 'x'])).code).toBe(4);
  });
});
