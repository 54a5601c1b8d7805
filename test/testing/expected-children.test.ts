import { describe, expect, it } from 'vitest';
import { passes, runTests } from './flow-test.js';

const grandchild = `
workflow: grandchild
input: { n: { type: number } }
steps:
  - { id: print, step: print, with: { n: =$input.n }, compensate: { step: unprint } }
  - { id: go, waitFor: go, timeout: 1d }
output: =$steps.go
`;
const child = `
workflow: child
input: { n: { type: number } }
steps:
  - { id: inner, subWorkflow: grandchild, with: { n: =$input.n } }
output: =$steps.inner
`;
const others = { 'child.yaml': child, 'grandchild.yaml': grandchild };
const flow = `
steps:
  - id: both
    forEach: =[1, 2]
    as: n
    concurrency: 2
    do: [{ id: book, subWorkflow: child, with: { n: =$n } }]
`;
const handlers = 'handlers: { print: {}, unprint: {} }';

describe('children', () => {
  it('are expected to be something, each by its step and iteration, at any depth', async () => {
    await passes(
      flow,
      `tests:
  - name: the second one is answered
    ${handlers}
    signals: [{ at: 1h, name: go, payload: two, to: book#1/inner }]
    expect:
      status: failed
      children:
        book#0:
          status: failed
          compensated: [inner]
          children:
            inner:
              status: failed
              error: { name: WaitTimeout }
              calls: { print: 1 }
              inputs: { print: { n: 1 } }
              compensated: [print]
        book#1/inner: { output: two, ran: [print, go] }
`,
      { others },
    );
  });

  it('that are not so fail the test by name', async () => {
    const { text } = await runTests(
      'steps: [{ id: book, subWorkflow: child, with: { n: 1 } }]\n',
      `tests: [{ name: a, ${handlers}, expect: { status: failed, children: { book: { children: { grandchild: { status: completed, calls: { print: 2 } } } } } } }]`,
      { others },
    );
    expect(text).toContain('failed: the child book: the run was to be completed, but it has failed');
    expect(text).toContain('failed: the child book: the child grandchild: print was to be called 2 times');
  });

  it('are sent signals by their step; a name that means two of them is an error', async () => {
    const signals = `[{ at: 1h, name: go, to: grandchild }]`;
    const { text } = await runTests(
      flow,
      `tests: [{ name: a, ${handlers}, signals: ${signals}, expect: { status: failed } }]`,
      { others },
    );
    expect(text).toContain('`to: grandchild` means 2 children that are under way (`book#0/inner#0`, `book#1/inner#0`)');
    const direct = { 'child.yaml': grandchild.replace('grandchild', 'child') };
    await passes(
      flow,
      `tests:
  - name: a
    ${handlers}
    signals: [{ at: 1h, name: go, payload: one, to: book#1 }, { at: 2h, name: go, payload: two, to: book#0 }]
    expect: { children: { book#1: { output: one, elapsed: { exactly: 1h } }, book#0: { output: two } } }
`,
      { others: direct },
    );
  });
});

describe('a death of the process', () => {
  const waits = `
timeout: 2d
steps:
  - { id: nap, sleep: 1h }
  - { id: gate, waitFor: go, timeout: 1d }
  - { id: book, subWorkflow: grandchild, with: { n: 1 } }
`;
  it.each([
    '{ during: nap, down: 30m }',
    '{ during: gate, down: 30m }',
    '{ during: book, down: 5m }',
    '{ at: 30m }',
    '{ at: 90m, down: 20m }',
  ])('can be placed: %s', async (point) => {
    const signals = '[{ at: 2h, name: go }, { at: 3h, name: go, to: book }]';
    await passes(
      waits,
      `tests: [{ name: a, ${handlers}, crash: [${point}], signals: ${signals}, expect: { calls: { print: 0 }, elapsed: { exactly: 3h }, children: { book: { calls: { print: 1 } } } } }]`.replace(
        'calls: { print: 0 }, ',
        '',
      ),
      { others },
    );
  });

  it('at a gate that is never reached is reported', async () => {
    const { text } = await runTests(
      'steps: [{ when: false, id: gate, waitFor: go, timeout: 1d }]\n',
      'tests: [{ name: a, crash: [{ during: gate }] }]',
    );
    expect(text).toContain('the process was to die during gate, which never began');
  });
});

describe('the time that has gone by', () => {
  it.each([
    ['{ exactly: 1h }', 'exactly 1h of virtual time were to go by, but it was 1h30s'],
    ['{ atMost: 90m, atLeast: 61m }', 'at least 61m of virtual time were to go by, but it was 1h30s'],
    ['{ atMost: 1h }', 'at most 1h of virtual time were to go by, but it was 1h30s'],
    ['2h', 'at least 2h of virtual time were to go by, but it was 1h30s'],
  ])('is not %s', async (elapsed, message) => {
    const { text } = await runTests(
      'steps: [{ sleep: 1h30s }]',
      `tests: [{ name: a, expect: { elapsed: ${elapsed} } }]`,
    );
    expect(text).toContain(message);
  });

  it('is exactly so', async () => {
    await passes('steps: [{ sleep: 1h30s }]', 'tests: [{ name: a, expect: { elapsed: { exactly: 1h30s } } }]');
  });
});

describe('one test does without', () => {
  it('defaults that the others have', async () => {
    const { results, text } = await runTests(
      'input: { total: { type: number, default: 7 } }\nsteps: [{ id: work, step: work, compensate: { step: undo } }, { sleep: 2h }]\noutput: =$input.total\n',
      `defaults:
  input: { total: 5 }
  handlers: { work: {}, undo: { throws: { name: Locked } } }
  crash: every
  cancel: { at: 1h }
  resume: { at: 3h }
  compensation: [{ at: 2h, decide: abandon }]
tests:
  - name: as the others
    without: [resume]
    expect: { status: cancelled, rollback: abandoned, compensated: [] }
  - name: alone
    without: [crash, cancel, resume, compensation, input.total]
    expect: { output: 7 }
`,
    );
    expect(text).toBe('');
    expect(results).toHaveLength(2);
  });
});
