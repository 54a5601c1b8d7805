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

      definitions/order.test.yaml:19:16: failed: at least 3d were to go by, but it was 2d
        19 |       elapsed: 3d
           |                ^^
        - 3d
        + 2d

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
});
