import { describe, expect, it } from 'vitest';
import { Project, notingHandlers, timeless } from './project.js';

const files = {
  'handlers/all.ts': notingHandlers,
  'definitions/tree.yaml': `
workflow: tree
timeout: 2d
steps:
  - id: each
    forEach: =[1..12]
    onItemError: continue
    do:
      - id: turn
        step: note
        with: { text: =$string($item) }
      - when: $item = 7
        id: seven
        step: refuse
  - id: few
    forEach: ["a", "b"]
    do:
      - id: one
        step: note
        with: { text: =$item }
  - id: both
    timeout: 3h
    parallel:
      left:
        - id: gate
          waitFor: go
          timeout: 4h
          remind: { every: 1h, step: note, with: { text: hurry } }
      right:
        - id: kind
          branch:
            - when: true
              do:
                - id: value
                  set: { long: "${'x'.repeat(200)}" }
            - else: []
  - id: later
    step: note
`,
  'definitions/causes.yaml': `
workflow: causes
steps:
  - id: outer
    step: refuse
    onError:
      - do:
          - id: inner
            step: fail
            retry: { attempts: 1 }
`,
  'definitions/weit.yaml': `
workflow: weit
steps:
  - id: note
    step: note
    with: { text: "注文番号一二三四五六七八九十注文番号一二三四五六七八九十" }
  - id: bad
    step: refuse
`,
};

async function shown(args: readonly string[], show: readonly string[] = [], surroundings = {}): Promise<string> {
  const project = new Project(files);
  await project.runsheet(['run', ...args, '--no-wait', '--key', 'k']);
  return (await project.runsheet(['show', 'k', ...show], surroundings)).out;
}

describe('runsheet show', () => {
  it('shows the steps as a tree, the turns of long loops counted, and what time is left', async () => {
    const out = timeless(await shown(['tree']));
    expect(out).toContain(`
waits for  the signal go (gate), since <time>, until <time> (<time> left), next reminder <time>
has time   the run until <time> (<time> left)
           both until <time> (<time> left)
next       runsheet signal wf_1 go
           runsheet run tree --continue wf_1

STEP         STATE             ATTEMPTS  STARTED
each         completed, 12 of 12 turns, 1 failed
  turn       12 completed
  seven      1 failed (handled), 11 skipped
    seven#6  failed (handled)  1         <time>
      error   Refused: not today
few          completed, 2 of 2 turns
  one        completed         1         <time>
    input   {"text":"a"}
    output  {"text":"a"}
  one#1      completed         1         <time>
    input   {"text":"b"}
    output  {"text":"b"}
both         waiting
  left
    gate     waiting                     <time>
      signal  go
  right
    kind     completed
      value  completed
        value   {"long":"xxxx`);
  });

  it('shows each turn, and nothing cut off, with --full', async () => {
    const out = timeless(await shown(['tree'], ['--full']));
    expect(out.match(/^ {2}turn(#\d+)? +completed +1/gm)).toHaveLength(12);
    expect(out.match(/^ {2}seven(#\d+)? +skipped/gm)).toHaveLength(11);
  });

  it('says what an error came from, and where it stands in the flow', async () => {
    expect(await shown(['causes'])).toMatch(
      /\nerror +Error: not yet \(in inner, attempt 1\)\n +at line 8: id: inner\n +caused by Refused: not today \(in outer\)\n/,
    );
  });

  it('cuts the tree to the terminal, by columns: a wide character takes two', async () => {
    const size = { columns: 60, rows: 20 };
    const out = await shown(['weit'], [], { isTerminal: true, size, env: { NO_COLOR: '1' } });
    const tree = out.slice(out.indexOf('\nSTEP') + 1).split('\n');
    expect(tree[2]).toBe('  input   {"text":"注文番号一二三四五六七八九十注文番号一二…');
    expect(out).not.toContain('\u001b');
    const plain = await shown(['weit'], [], { isTerminal: false });
    expect(plain).toContain('注文番号一二三四五六七八九十注文番号一二三四五六七八九十');
  });

  it('colours states on a terminal', async () => {
    const out = await shown(['weit'], [], { isTerminal: true });
    expect(out).toMatch(/\nnote {2}\u001b\[32mcompleted\u001b\[0m {2}1 /);
    expect(out).toMatch(/\nbad {3}\u001b\[31mfailed\u001b\[0m {5}1 /);
  });

  it('gives the limits as JSON', async () => {
    const { run, limits } = JSON.parse(await shown(['tree'], ['--json'])) as {
      run: { startedAt: number };
      limits: { until: number }[];
    };
    expect(limits).toMatchObject([{ step: null, until: run.startedAt + 2 * 86_400_000 }, { step: 'both' }]);
  });
});
