import { describe, expect, it } from 'vitest';
import { Project, notingHandlers } from '../project.js';

const files = {
  'handlers/all.ts': notingHandlers,
  'definitions/undo.yaml': `
workflow: undo
steps:
  - id: first
    step: note
    with: { text: first }
    compensate: { step: note, with: { text: back } }
  - id: each
    forEach: [1, 2, 3]
    do:
      - step: note
        with: { text: turn }
  - id: which
    branch:
      - name: never
        when: $count($steps.each) > 3
        do:
          - id: no
            step: note
      - else:
          - id: yes
            set: 1
  - id: last
    step: refuse
    onError:
      - errors: [Other]
        do:
          - id: never
            step: note
  - id: later
    step: note
onFailure:
  - id: told
    set: 1
`,
  'definitions/undo-2.yaml': 'workflow: undo\nrevision: 2\nsteps: []\n',
  'definitions/wait.yaml': 'workflow: wait\nsteps:\n  - id: gate\n    waitFor: go\n    timeout: 2h\n  - step: note\n',
};

describe('runsheet graph', () => {
  it('draws a flow by path, and the newest revision of a name', async () => {
    const project = new Project(files);
    const byPath = await project.runsheet(['graph', 'definitions/undo.yaml']);
    expect(byPath.code).toBe(0);
    expect(byPath.out).toMatch(/^---\ntitle: "undo, revision 1"\n---\nflowchart TB\n/);
    expect((await project.runsheet(['graph', 'undo'])).out).toContain('title: "undo, revision 2"');
  });

  it('writes the format that is asked for, or that the name of the file says', async () => {
    const project = new Project(files);
    const starts = { mermaid: '---\n', svg: '<svg ', dot: 'digraph ' };
    for (const [format, start] of Object.entries(starts)) {
      expect((await project.runsheet(['graph', 'wait', '--format', format])).out.startsWith(start)).toBe(true);
    }
    for (const [name, start] of Object.entries({
      'a.mmd': '---\n',
      'a.svg': '<svg ',
      'a.dot': 'digraph ',
      'a.gv': 'digraph ',
    })) {
      expect(await project.runsheet(['graph', 'wait', '-o', name])).toMatchObject({ code: 0, out: '' });
      expect(project.read(name).startsWith(start)).toBe(true);
    }
    await project.runsheet(['graph', 'wait', '--format', 'dot', '-o', 'a.txt']);
    expect(project.read('a.txt')).toMatch(/^digraph /);
    const unclear = await project.runsheet(['graph', 'wait', '-o', 'a.png']);
    expect(unclear.code).toBe(2);
    expect(unclear.err).toContain('the name a.png does not say which format is meant');
    expect((await project.runsheet(['graph', 'wait', '-o', 'no/such/a.svg'])).code).toBe(2);
    expect((await project.runsheet(['graph', 'wait', '--format', 'png'])).code).toBe(2);
  });

  it('draws a run by key or id, each item in the state it is in', async () => {
    const project = new Project(files);
    await project.runsheet(['run', 'definitions/undo.yaml', '--key', 'k']);
    const { code, out } = await project.runsheet(['graph', 'k']);
    expect(code).toBe(0);
    expect(out).toContain('failed after');
    expect(out).toContain('Refused: not today');
    const states = statesIn(out);
    expect(states).toMatchObject({
      first: 'undone',
      each: 'completed',
      note: 'completed',
      no: 'not-reached',
      yes: 'completed',
      last: 'failed',
      never: 'not-reached',
      later: 'not-reached',
      told: 'completed',
    });
    expect(out).toContain('<b>each</b><br/>each item of #91;1, 2, 3#93;<br/><i>3 of 3 turns</i>');
    expect(out).toContain('<b>note</b><br/><i>3 completed</i>');
    const { runs } = JSON.parse((await project.runsheet(['list', '--json'])).out) as { runs: { id: string }[] };
    expect(statesIn((await project.runsheet(['graph', runs[0]?.id ?? ''])).out)).toEqual(states);
    const svg = (await project.runsheet(['graph', 'k', '--format', 'svg'])).out;
    expect(svg).toMatch(
      /<desc id="about">A run of the workflow undo, revision 1, as a graph of 10 items: the run is failed, /,
    );
  });

  it('draws what a run waits for', async () => {
    const project = new Project(files);
    await project.runsheet(['run', 'wait', '--key', 'k', '--no-wait']);
    const { out } = await project.runsheet(['graph', 'k']);
    expect(statesIn(out)).toMatchObject({ gate: 'waiting', note: 'not-reached' });
    expect(out).toMatch(/<i>waits for go, 1h\d\dm left<\/i>/);
  });

  it('answers 4 for what is neither a flow nor a run, 3 for a flow with mistakes', async () => {
    const project = new Project({ ...files, 'definitions/bad.yaml': 'workflow: bad\nsteps: 3\n' });
    const unknown = await project.runsheet(['graph', 'wiat']);
    expect(unknown).toMatchObject({ code: 4, out: '' });
    expect(unknown.err).toContain('there is no workflow wiat in definitions; did you mean wait?');
    expect((await project.runsheet(['graph', `wf_${'0'.repeat(32)}`])).code).toBe(4);
    expect((await project.runsheet(['graph', 'nosuch.yaml'])).code).toBe(4);
    expect((await project.runsheet(['graph', 'definitions/bad.yaml'])).code).toBe(3);
    expect((await project.runsheet(['graph', 'definitions'])).code).toBe(2);
  });
});

/** State of each node by its title. */
function statesIn(mermaid: string): Record<string, string> {
  const titles = new Map(
    [...mermaid.matchAll(/(n\d+)[^\n]*<b>([^<]*)<\/b>/g)].map(([, id = '', title = '']) => [id, title]),
  );
  const states: Record<string, string> = {};
  for (const [, ids = '', state = ''] of mermaid.matchAll(/^ {2}class (\S+) (\S+)$/gm)) {
    for (const id of ids.split(',')) states[titles.get(id) ?? id] = state;
  }
  return states;
}
