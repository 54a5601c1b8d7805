import { describe, expect, it } from 'vitest';
import { Project } from './project.js';

const order = `workflow: order
input: { orderId: { type: string }, total: { type: number } }
steps:
  - id: reserve
    step: stock.reserve
    with: { orderId: =$input.orderId }
    compensate: { step: stock.release }
  - id: charge
    step: payments.charge
    with: { amount: =$input.total }
  - id: approval
    when: =$input.total > 1000
    waitFor: approve
    timeout: 48h
    onTimeout: null
  - branch:
      - name: refused
        when: =$input.total > 5000
        do: [{ fail: TooLarge }]
      - else: [{ id: ship, step: ship }]
output: { shipped: =$steps.ship }
`;

const tests = `workflow: ./order.yaml
defaults:
  input: { orderId: o-1, total: 10 }
  handlers:
    stock.reserve: { returns: { reservationId: r-1 } }
    stock.release: {}
    payments.charge: [{ throws: { name: Busy, message: try later } }, { returns: { paymentId: p-1 }, takes: 2m }]
    ship: { returns: t-1 }
tests:
  - name: a small order is shipped
    expect: { output: { shipped: t-1 } }
  - name: all that is wrong with a large one
    input: { total: 2000 }
    expect:
      status: failed
      ran: [ship, charge]
      calls: { payments.charge: 1 }
      inputs: { reserve: { orderId: o-2 } }
      elapsed: 3d
  - name: the exact output
    expect: { output: { shipped: t-2 } }
`;

/** Without what is new each time. */
const timeless = (text: string): string =>
  text
    .replace(/\((?:\d+(?:\.\d+)?m?s)+\)$/gm, '(<time>)')
    .replace(/"durationMs": [\d.]+/g, '"durationMs": 0')
    .replace(/time="[\d.]+"/g, 'time="0"')
    // The back-off has a random part, the same in every run of the test.
    .replace(/took \d+m[\d.]+s/g, 'took <time>');

const project = (): Project => new Project({ 'definitions/order.yaml': order, 'definitions/order.test.yaml': tests });

describe('runsheet test', () => {
  it('shows what is wrong at its line, and what the run did', async () => {
    const { code, out, err } = await project().runsheet(['test']);
    expect(code).toBe(1);
    expect(err).toBe('3 tests, 2 failed\n');
    expect(timeless(out)).toMatchInlineSnapshot(`
      "definitions/order.test.yaml
        ok    a small order is shipped (<time>)
        FAIL  all that is wrong with a large one (<time>)

      definitions/order.test.yaml:15:15: failed: the run was to be failed, but it has completed
        15 |       status: failed
           |               ^^^^^^
        - failed
        + completed

      definitions/order.test.yaml:16:19: failed: charge began before ship, not after it
        16 |       ran: [ship, charge]
           |                   ^^^^^^
        - ship, charge
        + reserve, charge, approval, ship

      definitions/order.test.yaml:17:33: failed: payments.charge was to be called 1 time, but it was called 2 times
        17 |       calls: { payments.charge: 1 }
           |                                 ^
        - payments.charge: 1
        + payments.charge: 2
        help: the calls of the run were stock.reserve: 1, payments.charge: 2, ship: 1

      definitions/order.test.yaml:18:37: failed: reserve got another input
        18 |       inputs: { reserve: { orderId: o-2 } }
           |                                     ^^^
        - orderId: "o-2"
        + orderId: "o-1"

      definitions/order.test.yaml:19:16: failed: at least 3d of virtual time were to go by, but it was 2d2m965ms
        19 |       elapsed: 3d
           |                ^^
        - at least 3d
        + 2d2m965ms

        what the run did (completed after 2d of virtual time):
          reserve   completed  1 attempt   at 0ms           gave {"reservationId":"r-1"}
          charge    completed  2 attempts  at 0ms  took 2m  gave {"paymentId":"p-1"}
          approval  timed-out              at 2m   took 2d  signal approve
          ship      completed  1 attempt   at 2d            gave "t-1"

        FAIL  the exact output (<time>)

      definitions/order.test.yaml:21:34: failed: the output is another one
        21 |     expect: { output: { shipped: t-2 } }
           |                                  ^^^
        - shipped: "t-2"
        + shipped: "t-1"

        what the run did (completed after 2m of virtual time):
          reserve   completed  1 attempt   at 0ms           gave {"reservationId":"r-1"}
          charge    completed  2 attempts  at 0ms  took 2m  gave {"paymentId":"p-1"}
          approval  skipped                at 2m
          ship      completed  1 attempt   at 2m            gave "t-1"

      "
    `);
  });

  it('gives JSON', async () => {
    const { code, out } = await project().runsheet(['test', '--json', '--filter', 'SMALL']);
    expect(code).toBe(0);
    expect(JSON.parse(timeless(out))).toEqual({
      version: 1,
      tests: [
        {
          file: 'definitions/order.test.yaml',
          name: 'a small order is shipped',
          ok: true,
          durationMs: 0,
          message: null,
        },
      ],
      diagnostics: [],
    });
    const failing = await project().runsheet(['test', '--json']);
    const { tests: all } = JSON.parse(failing.out) as { tests: { message: string | null }[] };
    expect(all[2]?.message).toContain('definitions/order.test.yaml:21:34: failed: the output is another one');
  });

  it('gives JUnit XML', async () => {
    const files = { ...broken, 'definitions/order.yaml': order, 'definitions/order.test.yaml': tests };
    const { code, out } = await new Project(files).runsheet(['test', '--format', 'junit', '--filter', 'exact']);
    expect(code).toBe(3);
    expect(timeless(out)).toMatchInlineSnapshot(`
      "<?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="runsheet test">
        <testsuite name="definitions/bad.test.yaml" tests="1" failures="0" errors="1" time="0">
          <testcase name="the file has no mistakes" classname="definitions/bad.test.yaml" file="definitions/bad.test.yaml">
            <error message="a test has no \`expext\`" type="RS6003">definitions/bad.test.yaml:2:22: error RS6003: a test has no \`expext\`
        2 | tests: [{ name: one, expext: {} }]
          |                      ^^^^^^
        help: did you mean \`expect\`?
      </error>
          </testcase>
        </testsuite>
        <testsuite name="definitions/order.test.yaml" tests="1" failures="1" errors="0" time="0">
          <testcase name="the exact output" classname="definitions/order.test.yaml" file="definitions/order.test.yaml" time="0">
            <failure message="the output is another one">definitions/order.test.yaml:21:34: failed: the output is another one
        21 |     expect: { output: { shipped: t-2 } }
           |                                  ^^^
        - shipped: &quot;t-2&quot;
        + shipped: &quot;t-1&quot;

        what the run did (completed after 2m of virtual time):
          reserve   completed  1 attempt   at 0ms           gave {&quot;reservationId&quot;:&quot;r-1&quot;}
          charge    completed  2 attempts  at 0ms  took 2m  gave {&quot;paymentId&quot;:&quot;p-1&quot;}
          approval  skipped                at 2m
          ship      completed  1 attempt   at 2m            gave &quot;t-1&quot;
      </failure>
          </testcase>
        </testsuite>
      </testsuites>
      "
    `);
  });

  it('tells what no test came to, and fails where that is too much', async () => {
    const passing = tests.slice(0, tests.indexOf('  - name: all that'));
    const files = { 'definitions/order.yaml': order, 'definitions/order.test.yaml': passing };
    const { code, out, err } = await new Project(files).runsheet(['test', '--coverage-min', '80']);
    expect(code).toBe(1);
    expect(err).toBe('1 test, all passed\nerror: 50% of order is covered, and --coverage-min asks for 80%\n');
    expect(out.slice(out.indexOf('\norder (') + 1)).toMatchInlineSnapshot(`
      "order (definitions/order.yaml): 50% covered, 5 of 10 places
        line 7: no test came to the compensation of reserve
        line 11: no test came to approval
        line 14: no test came to the timeout of approval
        line 17: no test came to arm refused of branch@3
        line 19: no test came to fail@3.0.0
      "
    `);
  });

  it('shows the mistakes of a file instead of running it', async () => {
    const { code, out, err } = await new Project(broken).runsheet(['test']);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toMatchInlineSnapshot(`
      "definitions/bad.test.yaml:2:22: error RS6003: a test has no \`expext\`
        2 | tests: [{ name: one, expext: {} }]
          |                      ^^^^^^
        help: did you mean \`expect\`?
      0 tests, 1 file has mistakes and was not run
      "
    `);
  });

  it('fails a test with mistakes, and runs the others', async () => {
    const odd = '  - name: misspelt\n    expct: {}\n  - name: of nothing\n    expect: { ran: [nothing] }\n';
    const files = { 'definitions/order.yaml': order, 'definitions/order.test.yaml': `${tests}${odd}` };
    const human = await new Project(files).runsheet(['test']);
    expect(human.code).toBe(3);
    expect(human.err).toBe('5 tests, 4 failed\n');
    expect(human.out).toContain('  ok    a small order is shipped');
    expect(human.out).toContain('order.test.yaml:23:5: failed: RS6003: a test has no `expct`');
    const json = await new Project(files).runsheet(['test', '--json']);
    const report = JSON.parse(json.out) as { tests: { name: string; ok: boolean }[]; diagnostics: unknown[] };
    expect(report.tests.map(({ name, ok }) => `${name}: ${ok}`)).toEqual([
      'a small order is shipped: true',
      'all that is wrong with a large one: false',
      'the exact output: false',
      'misspelt: false',
      'of nothing: false',
    ]);
    expect(report.diagnostics).toHaveLength(2);
    const junit = await new Project(files).runsheet(['test', '--format', 'junit']);
    expect(junit.out).toContain('tests="5" failures="4" errors="0"');
    const unreadable = await new Project(broken).runsheet(['test', '--json']);
    expect(JSON.parse(unreadable.out)).toMatchObject({ tests: [{ name: 'the file has no mistakes', ok: false }] });
  });

  it('takes a flow for its tests', async () => {
    const { code, out } = await project().runsheet(['test', 'definitions/order.yaml', '--filter', 'small']);
    expect({ code, out: timeless(out) }).toEqual({
      code: 0,
      out: 'definitions/order.test.yaml\n  ok    a small order is shipped (<time>)\n',
    });
  });

  it('takes the name of a workflow for the tests of its flows, whatever they are called', async () => {
    const folder = project();
    folder.write('definitions/order-2.yaml', order.replace('workflow: order', 'workflow: order\nrevision: 2'));
    folder.write('definitions/by-name.test.yaml', tests.replace('./order.yaml', 'order'));
    folder.write('definitions/of-the-second.test.yaml', tests.replace('./order.yaml', './order-2.yaml'));
    folder.write('definitions/other.yaml', 'workflow: other\nsteps: [{ sleep: 1h }]\n');
    folder.write('definitions/other.test.yaml', 'workflow: ./other.yaml\ntests: [{ name: one }]\n');
    const files = async (...args: string[]): Promise<string[]> => {
      const { code, out } = await folder.runsheet(['test', ...args, '--filter', 'small']);
      expect(code).toBe(0);
      return out.split('\n').filter((line) => line.endsWith('.test.yaml'));
    };
    const ofOrder = ['by-name', 'of-the-second', 'order'].map((name) => `definitions/${name}.test.yaml`);
    expect(await files('order')).toEqual(ofOrder);
    expect(await files('definitions/order-2.yaml')).toEqual(ofOrder.slice(0, 2));
    expect((await folder.runsheet(['test', 'other'])).code).toBe(0);
  });

  it.each([
    [['test', 'oder'], 'there is no workflow oder in definitions; did you mean order?'],
    [
      ['test', 'untested'],
      'there are no tests of the workflow untested beside it; they would be in definitions/un.test.yaml',
    ],
    [['test', 'none.test.yaml'], 'there is no none.test.yaml; give the path of a test file'],
    [['test', 'empty'], 'there are no flow tests (*.test.yaml) in the folder empty'],
    [['test', 'empty/flow.yaml'], 'there are no tests of empty/flow.yaml beside it'],
    [['test', '--filter', 'nothing'], 'no test has a name that holds "nothing"'],
  ])('%j finds nothing', async (args, message) => {
    const folder = project();
    folder.write('empty/flow.yaml', 'workflow: flow\nsteps: []\n');
    folder.write('definitions/un.yaml', 'workflow: untested\nsteps: []\n');
    const { code, err } = await folder.runsheet(args);
    expect(code).toBe(4);
    expect(err).toContain(message);
  });
});

const broken = { 'definitions/bad.test.yaml': 'workflow: ./none.yaml\ntests: [{ name: one, expext: {} }]\n' };
