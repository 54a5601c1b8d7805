import { defineHandler } from 'runsheet';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runTests } from './flow-test.js';

/*
 * A wrong expectation shows what a person needs to mend it without opening the code. Word for word.
 */

const flow = `
input: { total: { type: number } }
steps:
  - id: reserve
    step: stock.reserve
    with: { total: =$input.total, items: [a, b] }
    compensate: { step: stock.release, with: { reservation: =$result.id } }
  - id: lines
    forEach: [x, y]
    do: [{ id: pick, step: stock.pick, with: { sku: =$item } }]
  - id: approval
    when: =$input.total > 100
    waitFor: approve
    timeout: never
  - id: charge
    step: payments.charge
output: { payment: =$steps.charge.id, lines: =$steps.lines }
`;

const defaults = `
defaults:
  input: { total: 10 }
  handlers:
    stock.reserve: { returns: { id: r-1 } }
    stock.release: {}
    stock.pick: { returns: 1 }
    payments.charge: { returns: { id: p-1 } }
tests:
`;

async function report(test: string): Promise<string> {
  const { text } = await runTests(flow, `${defaults}${test}`);
  return text;
}

describe('what is shown of', () => {
  it('a run that fails unexpectedly', async () => {
    expect(
      await report(`
  - name: card
    handlers: { payments.charge: { throws: { name: CardDeclined, message: no money } } }
    expect: { ran: [charge] }`),
    ).toMatchInlineSnapshot(`
      "flow.test.yaml:14:13: failed: the run was to be completed, but it has failed: CardDeclined in charge: no money
        14 |     expect: { ran: [charge] }
           |             ^^^^^^^^^^^^^^^^^
        - completed
        + failed

        what the run did (failed after 2.88s of virtual time):
          reserve       completed  1 attempt   at 0ms                gave {"id":"r-1"}
          pick          completed  1 attempt   at 0ms                gave 1
          pick#1        completed  1 attempt   at 0ms                gave 1
          approval      skipped                at 0ms
          charge        failed     3 attempts  at 0ms    took 2.88s  CardDeclined: no money
          undo reserve  undone     1 attempt   at 2.88s
      "
    `);
  });

  it('an order that is another one, an item that did not run, one that did', async () => {
    expect(
      await report(`
  - name: order
    expect: { ran: [reserve, charge, pick], notRan: [lines, approval] }
  - name: too often
    expect: { ran: [pick, pick, pick] }
  - name: all of it
    expect: { exactly: [reserve, lines, pick, charge] }`),
    ).toMatchInlineSnapshot(`
      "flow.test.yaml:13:38: failed: pick began before charge, not after it
        13 |     expect: { ran: [reserve, charge, pick], notRan: [lines, approval] }
           |                                      ^^^^
        - reserve, charge, pick
        + reserve, lines, pick, pick, charge

      flow.test.yaml:13:54: failed: lines was not to run, but it did
        13 |     expect: { ran: [reserve, charge, pick], notRan: [lines, approval] }
           |                                                      ^^^^^

        what the run did (completed after 0ms of virtual time):
          reserve   completed  1 attempt  at 0ms    gave {"id":"r-1"}
          pick      completed  1 attempt  at 0ms    gave 1
          pick#1    completed  1 attempt  at 0ms    gave 1
          approval  skipped               at 0ms
          charge    completed  1 attempt  at 0ms    gave {"id":"p-1"}
      flow.test.yaml:15:33: failed: pick ran 2 times only
        15 |     expect: { ran: [pick, pick, pick] }
           |                                 ^^^^
        - pick, pick, pick
        + reserve, lines, pick, pick, charge

        what the run did (completed after 0ms of virtual time):
          reserve   completed  1 attempt  at 0ms    gave {"id":"r-1"}
          pick      completed  1 attempt  at 0ms    gave 1
          pick#1    completed  1 attempt  at 0ms    gave 1
          approval  skipped               at 0ms
          charge    completed  1 attempt  at 0ms    gave {"id":"p-1"}
      flow.test.yaml:17:47: failed: the items began in another order: pick#1 comes where charge was expected
        17 |     expect: { exactly: [reserve, lines, pick, charge] }
           |                                               ^^^^^^
        - reserve, lines, pick, charge
        + reserve, lines, pick, pick, charge

        what the run did (completed after 0ms of virtual time):
          reserve   completed  1 attempt  at 0ms    gave {"id":"r-1"}
          pick      completed  1 attempt  at 0ms    gave 1
          pick#1    completed  1 attempt  at 0ms    gave 1
          approval  skipped               at 0ms
          charge    completed  1 attempt  at 0ms    gave {"id":"p-1"}
      "
    `);
  });

  it('inputs: a field, a turn, one that is missing', async () => {
    expect(
      await report(`
  - name: inputs
    expect:
      inputs:
        reserve: { total: 11, items: [a] }
        pick: [{ sku: x }, { sku: z }]
        "pick#1": { sku: z }
        "reserve:compensate": { reservation: r-1 }`),
    ).toMatchInlineSnapshot(`
      "flow.test.yaml:15:27: failed: reserve got another input
        15 |         reserve: { total: 11, items: [a] }
           |                           ^^
        - total: 11
        + total: 10
        - items[1]: (nothing)
        + items[1]: "b"

      flow.test.yaml:16:35: failed: pick got another input
        16 |         pick: [{ sku: x }, { sku: z }]
           |                                   ^
        - [1].sku: "z"
        + [1].sku: "y"

      flow.test.yaml:17:26: failed: pick#1 got another input
        17 |         "pick#1": { sku: z }
           |                          ^
        - sku: "z"
        + sku: "y"

      flow.test.yaml:18:31: failed: what undoes reserve was not called, so it got no input
        18 |         "reserve:compensate": { reservation: r-1 }
           |                               ^^^^^^^^^^^^^^^^^^^^

        what the run did (completed after 0ms of virtual time):
          reserve   completed  1 attempt  at 0ms    gave {"id":"r-1"}
          pick      completed  1 attempt  at 0ms    gave 1
          pick#1    completed  1 attempt  at 0ms    gave 1
          approval  skipped               at 0ms
          charge    completed  1 attempt  at 0ms    gave {"id":"p-1"}
      "
    `);
  });

  it('an output, by value and by formula', async () => {
    expect(
      await report(`
  - name: exact
    expect: { output: { payment: p-2, lines: [1, 1], more: true } }
  - name: formula
    expect: { outputMatches: =$output.payment = "p-2" }
  - name: formula that fails
    expect: { outputMatches: =$output.paymnt = "p-1" }`),
    ).toMatchInlineSnapshot(`
      "flow.test.yaml:13:34: failed: the output is another one
        13 |     expect: { output: { payment: p-2, lines: [1, 1], more: true } }
           |                                  ^^^
        - payment: "p-2"
        + payment: "p-1"
        - more: true
        + more: (nothing)

        what the run did (completed after 0ms of virtual time):
          reserve   completed  1 attempt  at 0ms    gave {"id":"r-1"}
          pick      completed  1 attempt  at 0ms    gave 1
          pick#1    completed  1 attempt  at 0ms    gave 1
          approval  skipped               at 0ms
          charge    completed  1 attempt  at 0ms    gave {"id":"p-1"}
      flow.test.yaml:15:30: failed: this does not hold for the output
        15 |     expect: { outputMatches: =$output.payment = "p-2" }
           |                              ^^^^^^^^^^^^^^^^^^^^^^^^
        help: the output is {"lines":[1,1],"payment":"p-1"}

        what the run did (completed after 0ms of virtual time):
          reserve   completed  1 attempt  at 0ms    gave {"id":"r-1"}
          pick      completed  1 attempt  at 0ms    gave 1
          pick#1    completed  1 attempt  at 0ms    gave 1
          approval  skipped               at 0ms
          charge    completed  1 attempt  at 0ms    gave {"id":"p-1"}
      flow.test.yaml:17:30: failed: this fails for the output: \`$output.paymnt\` is absent, but the left side of \`=\` must have a value; ask \`$exists($output.paymnt)\` first, or give a default: \`$output.paymnt ?? …\`, in the formula \`$output.paymnt = "p-1"\`
        17 |     expect: { outputMatches: =$output.paymnt = "p-1" }
           |                              ^^^^^^^^^^^^^^^^^^^^^^^
        help: the output is {"lines":[1,1],"payment":"p-1"}

        what the run did (completed after 0ms of virtual time):
          reserve   completed  1 attempt  at 0ms    gave {"id":"r-1"}
          pick      completed  1 attempt  at 0ms    gave 1
          pick#1    completed  1 attempt  at 0ms    gave 1
          approval  skipped               at 0ms
          charge    completed  1 attempt  at 0ms    gave {"id":"p-1"}
      "
    `);
  });

  it('a signal that nobody sends', async () => {
    expect(
      await report(`
  - name: waits
    input: { total: 500 }`),
    ).toMatchInlineSnapshot(`
      "flow.test.yaml:12:11: failed: the run was to be completed, but it is waiting, and nothing will move it on
        12 |   - name: waits
           |           ^^^^^
        - completed
        + waiting

        what the run did (waiting after 0ms of virtual time):
          reserve   completed  1 attempt  at 0ms    gave {"id":"r-1"}
          pick      completed  1 attempt  at 0ms    gave 1
          pick#1    completed  1 attempt  at 0ms    gave 1
          approval  waiting               at 0ms    signal approve
        it waits for the signal approve (approval), since 0ms, without a limit
      "
    `);
  });

  it('an undoing that is another one', async () => {
    expect(
      await report(`
  - name: undone
    handlers: { payments.charge: { throws: { name: CardDeclined } } }
    expect: { status: failed, error: { name: CardDeclined, message: no money }, compensated: [], rollback: not-applicable }`),
    ).toMatchInlineSnapshot(`
      "flow.test.yaml:14:69: failed: the error is another one
        14 |     expect: { status: failed, error: { name: CardDeclined, message: no money }, compensated: [], rollback: not-applicable }
           |                                                                     ^^^^^^^^
        - message: "no money"
        + message: "CardDeclined"

      flow.test.yaml:14:94: failed: the items were undone in this order, but reserve came as well
        14 |     expect: { status: failed, error: { name: CardDeclined, message: no money }, compensated: [], rollback: not-applicable }
           |                                                                                              ^^
        - (nothing)
        + reserve

      flow.test.yaml:14:108: failed: the undoing is completed, not not-applicable
        14 |     expect: { status: failed, error: { name: CardDeclined, message: no money }, compensated: [], rollback: not-applicable }
           |                                                                                                            ^^^^^^^^^^^^^^
        - not-applicable
        + completed

        what the run did (failed after 2.88s of virtual time):
          reserve       completed  1 attempt   at 0ms                gave {"id":"r-1"}
          pick          completed  1 attempt   at 0ms                gave 1
          pick#1        completed  1 attempt   at 0ms                gave 1
          approval      skipped                at 0ms
          charge        failed     3 attempts  at 0ms    took 2.88s  CardDeclined: CardDeclined
          undo reserve  undone     1 attempt   at 2.88s
      "
    `);
  });

  it('a handler that nobody has scripted', async () => {
    const noCharge = defaults.replace('    payments.charge: { returns: { id: p-1 } }\n', '');
    const { text } = await runTests(
      flow
        .replace('=$steps.charge.id', '=$steps.charge.id ?? null')
        .replace(
          '- id: charge\n',
          '- id: charge\n    when: =$input.total < 1000\n    with: { amount: =$input.total }\n',
        ),
      `${noCharge}  - name: charges\n    handlers: { stock.release: {} }\n`,
    );
    expect(text).toMatchInlineSnapshot(`
      "flow.test.yaml:10:11: failed: charge calls the handler payments.charge, which is not scripted, with {"amount":10}
        10 |   - name: charges
           |           ^^^^^^^
        help: say under \`handlers\` how it answers:
                payments.charge: { returns: { … } }
              or let all that are not scripted run by \`handlers: real\`

        what the run did (failed after 0ms of virtual time):
          reserve       completed  1 attempt  at 0ms    gave {"id":"r-1"}
          pick          completed  1 attempt  at 0ms    gave 1
          pick#1        completed  1 attempt  at 0ms    gave 1
          approval      skipped               at 0ms
          charge        failed     1 attempt  at 0ms    TestMistake: payments.charge is not scripted
          undo reserve  undone     1 attempt  at 0ms
      "
    `);
  });

  it('an answer that its handler could never give', async () => {
    const even = z.number().refine((value) => value % 2 === 0, 'must be even');
    const { text } = await runTests(
      'steps: [{ step: pick }]',
      'tests:\n  - name: odd\n    handlers: { pick: [{ returns: 2, when: false }, { returns: 3 }] }\n',
      { handlers: [defineHandler({ name: 'pick', output: even, run: () => 2 })] },
    );
    expect(text).toMatchInlineSnapshot(`
      "flow.test.yaml:4:64: failed: the handler pick could not give this: must be even
        4 |     handlers: { pick: [{ returns: 2, when: false }, { returns: 3 }] }
          |                                                                ^
        help: the registered handler has a schema of its output; answer with a value that fits it

        what the run did (failed after 0ms of virtual time):
          pick@0  failed  1 attempt  at 0ms    TestMistake: the handler pick could not give this: must be even
      "
    `);
  });

  it('a run that ends otherwise where a process dies', async () => {
    let called = 0;
    const { text } = await runTests(
      'steps: [{ id: first, step: count }, { id: second, step: count }]\noutput: [=$steps.first, =$steps.second]',
      'tests:\n  - name: counts\n    handlers: real\n    crash: every\n    expect: { outputMatches: =$count($output) = 2 }\n',
      { handlers: [defineHandler({ name: 'count', run: () => (called += 1) })] },
    );
    expect(text).toMatchInlineSnapshot(`
      "flow.test.yaml:5:12: failed: the run ends otherwise where the process dies before \`step-started\` of first was written (crash 1 of 3)
        5 |     crash: every
          |            ^^^^^
        - output[0]: 1
        + output[0]: 3
        - output[1]: 2
        + output[1]: 4

        what the run did (completed after 0ms of virtual time):
          first   completed  1 attempt  at 0ms    gave 3
          second  completed  1 attempt  at 0ms    gave 4
      "
    `);
  });
});
