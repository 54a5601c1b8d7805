import { describe, expect, it } from 'vitest';
import { Project, timeless } from './project.js';
import { waitingFlows } from './waiting-flows.js';

describe('runsheet run --signal', () => {
  it('delivers right after the start, and keeps what comes before its gate', async () => {
    const project = new Project(waitingFlows);
    const signals = ['--signal', 'go', '--signal', 'approval={"approved":true,"by":"a=b"}'];
    const { code, out, err } = await project.runsheet(['run', 'gate', ...signals]);
    expect({ code, out }).toEqual({ code: 0, out: 'true\n' });
    expect(timeless(err)).toBe('started    gate  wf_1\nsignal     decision\nsignal     late\ncompleted  gate\n');
  });

  it('does not mind that the same command delivered them before', async () => {
    const project = new Project({ ...waitingFlows, 'go.json': '1' });
    const args = ['run', 'gate', '--key', 'k', '--no-wait', '--signal', 'go=@go.json'];
    expect((await project.runsheet(args)).code).toBe(6);
    const again = await project.runsheet(args);
    expect(again.code).toBe(6);
    expect(again.err).toContain('go was delivered to wf_');
  });

  it.each([
    ['aproval=1', 4, 'did you mean approval?'],
    ['approval={"by":1}', 2, 'does not fit'],
    ['approval={', 2, '--signal approval is not JSON'],
  ])('refuses %s before anything is stored', async (signal, code, message) => {
    const project = new Project(waitingFlows);
    const result = await project.runsheet(['run', 'gate', '--signal', signal]);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.err).toContain(message);
    expect((await project.runsheet(['list'])).code).toBe(4);
  });
});

describe('runsheet run --no-wait', () => {
  it('lets a run at a gate go with 6, saying by which signal and how it goes on', async () => {
    const project = new Project(waitingFlows);
    const { code, out, err } = await project.runsheet(['run', 'gate', '--no-wait']);
    expect({ code, out }).toEqual({ code: 6, out: '' });
    const signal = `runsheet signal wf_1 approval --data '{ "approved": <boolean>, "by": <string> }'`;
    expect(timeless(err)).toBe(
      `started    gate  wf_1\nwaiting    gate  until <time>\n` +
        `wf_1 is waiting until <time> and can go on:\n  ${signal}\n  runsheet run gate --continue wf_1\n`,
    );
  });

  it('lets a run without any due time go as well, and one that is stuck', async () => {
    const project = new Project(waitingFlows);
    const parent = await project.runsheet(['run', 'parent', '--no-wait']);
    expect(parent.code).toBe(6);
    expect(timeless(parent.err)).toMatch(/kid\/note@0 {2}wf_[0-9a-f]{8}\n/);
    const stuck = await project.runsheet(['run', 'saga', '--no-wait']);
    expect(stuck.code).toBe(6);
    expect(timeless(stuck.err)).toContain(
      'failed     saga  Stop: on purpose\nundoing    saga\nundoing    second\nstuck      second  Error: broken\nwaiting    saga\nwf_1 is compensation-stuck and waits for an operator: second could not be undone by unless-mended: Error: broken\nit can go on:\n  runsheet compensation resume wf_1\n',
    );
  });
});

describe('runsheet run, of a run whose undoing gets stuck', () => {
  const note = 'it waits here until one of these commands decides, from anywhere; Ctrl-C lets it go\n';
  const commands = '  runsheet compensation resume wf_1\n  runsheet compensation abandon wf_1\n';

  it('says that it waits for an operator, and goes on when one has decided elsewhere', async () => {
    const project = new Project(waitingFlows);
    let decided: Promise<unknown> | undefined;
    const { code, err } = await project.runsheet(['run', 'saga', '--key', 'k'], {
      onProgress: (text) => {
        if (!text.includes('abandon wf_')) return;
        decided ??= project.runsheet(['compensation', 'abandon', 'k']);
      },
    });
    await decided;
    expect(code).toBe(1);
    expect(timeless(err).replace(/^ +/gm, '  ')).toContain(
      `stuck      second  Error: broken\nwaiting    saga\n  ${note}${commands}kept       second\n`,
    );
  });

  it('says why one that is stuck already is stuck, and ends with 130 where it is let go', async () => {
    const project = new Project(waitingFlows);
    await project.runsheet(['run', 'saga', '--key', 'k', '--no-wait']);
    const reason =
      'wf_1 is compensation-stuck and waits for an operator: second could not be undone by unless-mended: Error: broken\n';
    const { code, err } = await project.runsheet(['run', 'saga', '--key', 'k'], {
      onProgress: (text, interrupt) => text.includes('abandon wf_') && interrupt(),
    });
    expect(code).toBe(130);
    expect(timeless(err).replace(/^ +/gm, '  ')).toBe(
      `${reason}  ${note}${commands}stopping once the running steps have ended; Ctrl-C again stops at once\n` +
        `${reason}it can go on:\n${commands}  runsheet run saga --continue wf_1\n`,
    );
    const limited = await project.runsheet(['run', 'saga', '--key', 'k', '--timeout', '50ms']);
    expect(limited.code).toBe(6);
  });
});

const family = {
  ...waitingFlows,
  'flows/top.yaml': 'workflow: top\nsteps:\n  - id: mid\n    subWorkflow: mid\noutput: =$steps.mid\n',
  'flows/mid.yaml': `
workflow: mid
steps:
  - parallel:
      a: [{ id: a, subWorkflow: leaf, with: { n: 1 } }]
      b: [{ id: b, subWorkflow: leaf, with: { n: 2 } }]
output: =[$steps.a, $steps.b]
`,
  'definitions/leaf.yaml': `
workflow: leaf
input: { n: { type: integer } }
steps:
  - id: hi
    step: note
    with: { text: ="leaf" & $string($input.n) }
output: =$input.n
`,
};

describe('a run that owns others', () => {
  it('is driven with them, from its own folder and --definitions; what happens in them is told', async () => {
    const project = new Project(family);
    const { code, out, err } = await project.runsheet(['run', 'flows/top.yaml']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual([1, 2]);
    const lines = timeless(err).trimEnd().split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^completed {2}leaf\/hi {2}wf_[0-9a-f]{8}$/));
    expect(
      lines.filter((line) => /^(started|completed) +(top|mid|leaf)\b/.test(line)).map((line) => line.split(/ {2,}/)[1]),
    ).toEqual(expect.arrayContaining(['top', 'mid', 'leaf', 'leaf/hi']));
    expect(lines.at(-1)).toBe('completed  top');
  });

  it('is listed before them', async () => {
    const project = new Project(family);
    await project.runsheet(['run', 'nap', '--no-wait']);
    await project.runsheet(['run', 'flows/top.yaml']);
    const rows = timeless((await project.runsheet(['list'])).out).split('\n');
    expect(rows.map((row) => /^ *wf_\d +\w+@1/.exec(row)?.[0])).toEqual([
      undefined,
      'wf_1      top@1',
      '  wf_2    mid@1',
      '    wf_3  leaf@1',
      '    wf_4  leaf@1',
      'wf_5      nap@1',
      undefined,
    ]);
    const leaves = (await project.runsheet(['list', '--workflow', 'leaf'])).out.trimEnd().split('\n');
    expect(leaves).toHaveLength(3);
    for (const leaf of leaves.slice(1)) expect(leaf).toMatch(/^wf_.*of wf_[0-9a-f]{32}$/);
  });

  it.each([
    [
      'leaf',
      'gone',
      'mid starts gone (in a), which is neither in its own folder nor in definitions; put its flow there, or name its folder by --definitions\n',
    ],
    ['leaf', 'leav', 'did you mean leaf?\n'],
    ['leaf, with', 'leaf, revision: 7, with', 'mid starts leaf revision 7 (in a)'],
  ])('is not started where a child is missing: %s → %s', async (from, to, message) => {
    const mid = family['flows/mid.yaml'].replace(`subWorkflow: ${from}`, `subWorkflow: ${to}`);
    const project = new Project({ ...family, 'flows/mid.yaml': mid });
    const { code, out, err } = await project.runsheet(['run', 'flows/top.yaml']);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(message);
    expect((await project.runsheet(['list'])).code).toBe(4);
  });

  it('is not started where a child has mistakes, which are shown; other flows in the folder may have some', async () => {
    const broken = 'workflow: leaf\nsteps: [{ nonsense: 1 }]\n';
    const project = new Project({ ...family, 'definitions/leaf.yaml': broken });
    const { code, err } = await project.runsheet(['run', 'flows/top.yaml']);
    expect(code).toBe(3);
    expect(err).toContain('definitions/leaf.yaml:2:');
    project.write('definitions/leaf.yaml', family['definitions/leaf.yaml']);
    project.write('definitions/other.yaml', broken.replace('leaf', 'other'));
    expect((await project.runsheet(['run', 'flows/top.yaml'])).code).toBe(0);
  });

  it('takes a child from its own folder rather than from --definitions, and the same file once', async () => {
    const own = family['definitions/leaf.yaml'].replace('output: =$input.n', 'output: own');
    const project = new Project({ ...family, 'flows/leaf.yaml': own });
    expect(JSON.parse((await project.runsheet(['run', 'flows/top.yaml'])).out)).toEqual(['own', 'own']);
    const once = await project.runsheet(['run', 'flows/top.yaml', '--definitions', './flows/']);
    expect(JSON.parse(once.out)).toEqual(['own', 'own']);
  });

  it('may start itself again', async () => {
    const countdown = `
workflow: countdown
input: { n: { type: integer } }
steps:
  - branch:
      - { when: $input.n = 0, do: [{ set: lift-off }] }
      - else: [{ subWorkflow: countdown, with: { n: =$input.n - 1 } }]
`;
    const project = new Project({ 'c.yaml': countdown });
    const { code, out } = await project.runsheet(['run', 'c.yaml', '--input', '{"n":4}']);
    expect({ code, out }).toEqual({ code: 0, out: '"lift-off"\n' });
  });
});
