import { join } from 'node:path';
import fc from 'fast-check';
import type { JsonObject } from 'runsheet';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../handlers/_database.js';
import letters from '../../handlers/letters.js';
import travel from '../../handlers/travel.js';
import { loadFlow } from '../flows-support/load-flow.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';
import { definitionOf, scripted } from '../support/flow.js';
import { type Act, type Scenario, type Survived, everyDeath, survive } from '../support/lives.js';
import { failing } from '../support/world.js';

/*
 * Processes are killed while a saga goes forward and while it is undone: at each commit in turn, just before
 * and just after it is written. What must hold whatever the saga (nothing done or undone twice, repeated calls
 * under their own key and input, the same order of operations) is held by `survive`; here, that it comes
 * to the same end, in the books of those whom it called too.
 */

interface Ending {
  readonly status: string;
  readonly rollbackStatus: string | null;
  readonly error: string | null;
  /** What was done and undone, in this order. */
  readonly done: readonly string[];
}

const endingOf = ({ run: { status, rollbackStatus, error }, done }: Survived): Ending => ({
  status,
  rollbackStatus,
  error: error?.name ?? null,
  done,
});

const forward = (...steps: string[]): string[] => steps.map((step) => `${step}#0:forward`);
const reverse = (...steps: string[]): string[] => steps.map((step) => `${step}#0:compensate`);

describe('a trip', () => {
  const definition = loadFlow('definitions/travel-booking.yaml');

  function trip(
    folder: string,
    { acts, ...changes }: { acts?: readonly Act[]; faults?: JsonObject[]; nights?: number },
  ): Scenario {
    return {
      definitions: [definition],
      handlers: () => [...travel, ...letters],
      input: {
        traveller: { name: 'Ana', email: 'ana@example.test' },
        from: 'Hamburg',
        to: 'Lisbon',
        leave: '2030-05-02',
        nights: 3,
        folder,
        ...changes,
      },
      ...(acts && { acts }),
    };
  }

  /** What the agencies have in their books for a run: one entry a booking. */
  function bookings(folder: string, { run }: Survived): string[] {
    const rows = openDatabase(join(folder, 'travel.db'), '')
      .prepare('SELECT kind, state FROM booking WHERE trip = ? ORDER BY rowid')
      .all(run.id) as { kind: string; state: string }[];
    return rows.map(({ kind, state }) => `${kind} ${state}`);
  }

  const soldOut = { call: 'cars.book', do: 'sold-out' };
  const taken = ['flight cancelled', 'hotel cancelled'];

  const cases: readonly [
    string,
    Parameters<typeof trip>[1],
    Omit<Ending, 'done'>,
    done: readonly string[],
    books: readonly string[],
  ][] = [
    [
      'that is booked',
      {},
      { status: 'completed', rollbackStatus: null, error: null },
      forward('flight', 'hotel', 'car', 'tell', 'statement'),
      ['flight booked', 'hotel booked', 'car booked'],
    ],
    [
      'that finds no car',
      { faults: [soldOut] },
      { status: 'failed', rollbackStatus: 'completed', error: 'SoldOut' },
      [...forward('flight', 'hotel'), ...reverse('hotel', 'flight'), ...forward('regret', 'statement')],
      taken,
    ],
    [
      'whose car may or may not be booked',
      { faults: [{ call: 'cars.book', do: 'lose-answer', times: 20 }] },
      { status: 'failed', rollbackStatus: 'completed', error: 'ProviderUnavailable' },
      [...forward('flight', 'hotel'), ...reverse('car', 'hotel', 'flight'), ...forward('regret', 'statement')],
      [...taken, 'car cancelled'],
    ],
    [
      'whose hotel is hard to cancel',
      { faults: [soldOut, { call: 'hotels.cancel', do: 'lose-answer', times: 2 }] },
      { status: 'failed', rollbackStatus: 'completed', error: 'SoldOut' },
      [...forward('flight', 'hotel'), ...reverse('hotel', 'flight'), ...forward('regret', 'statement')],
      taken,
    ],
    [
      'whose unwind is stuck until an operator goes on',
      {
        faults: [soldOut, { call: 'hotels.cancel', do: 'unavailable', times: 7 }],
        acts: [{ after: { kind: 'compensation-stuck' }, act: (engine, id) => engine.resumeCompensation(id) }],
      },
      { status: 'failed', rollbackStatus: 'completed', error: 'SoldOut' },
      [...forward('flight', 'hotel'), ...reverse('hotel', 'flight'), ...forward('regret', 'statement')],
      taken,
    ],
    [
      'that is cancelled while its car is being tried',
      {
        faults: [{ call: 'cars.book', do: 'unavailable', times: 20 }],
        acts: [{ after: { kind: 'step-retrying', step: 'car' }, act: (engine, id) => engine.cancel(id) }],
      },
      { status: 'cancelled', rollbackStatus: 'completed', error: 'Cancelled' },
      [...forward('flight', 'hotel'), ...reverse('car', 'hotel', 'flight'), ...forward('statement')],
      taken,
    ],
    [
      'that its traveller does not want',
      {
        nights: 10,
        acts: [
          {
            after: { kind: 'step-completed', step: 'hotel' },
            act: (engine, id) => engine.signal(id, 'confirm', { confirmed: false }),
          },
        ],
      },
      { status: 'failed', rollbackStatus: 'completed', error: 'NotConfirmed' },
      [
        ...forward('flight', 'hotel', 'car', 'ask'),
        ...reverse('car', 'hotel', 'flight'),
        ...forward('regret', 'statement'),
      ],
      [...taken, 'car cancelled'],
    ],
  ];

  test.each(cases)(
    '%s comes to the same end, whichever commit its process dies at',
    async (...[, how, end, done, books]) => {
      const folder = temporaryFolder();
      const expectTheEnd = (survived: Survived): void => {
        expect(endingOf(survived)).toEqual({ ...end, done });
        expect(bookings(folder, survived)).toEqual(books);
      };
      const undisturbed = await survive(trip(folder, how), []);
      expectTheEnd(undisturbed);
      for (const death of everyDeath(undisturbed.units)) expectTheEnd(await survive(trip(folder, how), [death]));
    },
  );

  test('comes to the same end, however often its processes die', async () => {
    const folder = temporaryFolder();
    const death = fc.record({ afterUnits: fc.integer({ min: 1, max: 8 }), lastIsWritten: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...cases),
        fc.array(death, { minLength: 2, maxLength: 8 }),
        async ([, how, end, done, books], deaths) => {
          const survived = await survive(trip(folder, how), deaths);
          expect(endingOf(survived)).toEqual({ ...end, done });
          expect(bookings(folder, survived)).toEqual(books);
        },
      ),
      { numRuns: 40, seed: 20_261_129 },
    );
  });
});

describe('an order', () => {
  const definitions = [
    loadFlow('definitions/order-fulfilment.yaml'),
    loadFlow('definitions/book-shipment.yaml'),
  ] as const;

  const scripts = {
    'stock.receive': () => ({ articles: 2 }),
    'stock.reserve': () => ({ reservationId: 'res-1' }),
    'stock.release': () => ({ articles: 2 }),
    'stock.pick': (line: unknown) => ({ sku: (line as { sku: string }).sku }),
    'payments.charge': () => ({ paymentId: 'pay-1' }),
    'payments.refund': () => ({ refundId: 're-1' }),
    'mail.send': () => null,
    'invoices.create': () => ({ number: 1 }),
    'shipping.book': () => ({ trackingNumber: 'trk-1' }),
    'shipping.cancel': () => ({ cancelled: true }),
    'shipping.label': () => ({ file: 'label' }),
    'shipping.pick-up': () => ({ van: 'van-1' }),
    'shipping.status': (_: unknown, { step }: { step: { occurrence: string } }) => {
      const scans = Number(step.occurrence) + 1;
      return { state: scans === 3 ? 'delivered' : 'in-transit', scans };
    },
  };

  type Scripts = Parameters<typeof scripted>[0];

  function order({
    acts,
    changes,
    ...input
  }: {
    acts?: readonly Act[];
    changes?: Scripts;
    totalCents?: number;
  }): Scenario {
    return {
      definitions,
      handlers: () => scripted({ ...(scripts as Scripts), ...changes }),
      input: {
        orderId: 'o-1',
        customer: { id: 'c-1', email: 'ana@example.test' },
        items: [
          { sku: 'lamp', qty: 2 },
          { sku: 'bulb', qty: 6 },
        ],
        totalCents: 12_980,
        ...input,
      },
      ...(acts && { acts }),
    };
  }

  /** Once the manager has been asked. */
  const asked = { kind: 'decision', step: 'decision' } as const;
  const large = { totalCents: 100_001 };
  const undone = { status: 'failed', rollbackStatus: 'completed' };

  const cases: readonly [string, Parameters<typeof order>[0], Omit<Ending, 'done'>, undone: readonly string[]][] = [
    ['that is delivered', {}, { status: 'completed', rollbackStatus: null, error: null }, []],
    [
      'that its manager approves before she is asked',
      {
        ...large,
        acts: [
          {
            after: { kind: 'step-completed', step: 'reserve' },
            act: (engine, id) => engine.signal(id, 'manager-approval', { approved: true, by: 'mia' }),
          },
        ],
      },
      { status: 'completed', rollbackStatus: null, error: null },
      [],
    ],
    [
      'that its manager rejects',
      {
        ...large,
        acts: [
          { after: asked, act: (engine, id) => engine.signal(id, 'manager-approval', { approved: false, by: 'mia' }) },
        ],
      },
      { ...undone, error: 'OrderRejected' },
      reverse('charge', 'reserve'),
    ],
    ['about which nobody decides', large, { ...undone, error: 'OrderRejected' }, reverse('charge', 'reserve')],
    [
      'that is cancelled while it waits',
      { ...large, acts: [{ after: asked, act: (engine, id) => engine.cancel(id) }] },
      { status: 'cancelled', rollbackStatus: 'completed', error: 'Cancelled' },
      reverse('charge', 'reserve'),
    ],
    [
      'that nobody can be charged for',
      { changes: { 'payments.charge': failing('GatewayUnavailable') } },
      { ...undone, error: 'GatewayUnavailable' },
      reverse('charge', 'reserve'),
    ],
    [
      'whose invoice cannot be written',
      { changes: { 'invoices.create': failing('NoPaper') } },
      { ...undone, error: 'NoPaper' },
      reverse('charge', 'reserve'),
    ],
    [
      'whose shipment fails past the pivot, and undoes itself alone',
      { changes: { 'shipping.pick-up': failing('NoVan') } },
      { status: 'failed', rollbackStatus: 'not-applicable', error: 'ChildFailed' },
      reverse('booking'),
    ],
    [
      'that is cancelled while its shipment is being booked',
      {
        changes: { 'shipping.pick-up': failing('NoVan') },
        acts: [
          {
            // An entry of the child's journal.
            after: { kind: 'step-retrying', step: 'van' },
            act: (engine) => engine.cancel({ workflow: 'order-fulfilment', key: 'the one' }),
          },
        ],
      },
      { status: 'cancelled', rollbackStatus: 'not-applicable', error: 'Cancelled' },
      reverse('booking'),
    ],
  ];

  let expected: Map<string, Survived>;
  beforeAll(async () => {
    expected = new Map();
    for (const [name, how] of cases) expected.set(name, await survive(order(how), []));
  });

  test.each(cases)(
    '%s comes to the same end, whichever commit its process dies at',
    async (name, how, end, reversals) => {
      const undisturbed = expected.get(name);
      if (undisturbed === undefined) throw new Error(`${name} was not run`);
      expect(endingOf(undisturbed)).toMatchObject(end);
      // Branches end in any order; what is undone has one.
      const undoneIn = ({ done }: Survived): string[] => done.filter((line) => line.endsWith(':compensate'));
      const doneIn = ({ done }: Survived): string[] => [...done].sort();
      expect(undoneIn(undisturbed)).toEqual(reversals);
      for (const death of everyDeath(undisturbed.units)) {
        const survived = await survive(order(how), [death]);
        const where = `${death.afterUnits} ${death.lastIsWritten ? 'written' : 'lost'}`;
        expect(endingOf(survived), where).toMatchObject(end);
        expect(survived.run.output, where).toEqual(undisturbed.run.output);
        expect(undoneIn(survived), where).toEqual(reversals);
        expect(doneIn(survived), where).toEqual(doneIn(undisturbed));
      }
    },
  );
});

describe('a run that owns others', () => {
  const child = definitionOf(`
workflow: child
input: { name: { type: string } }
steps:
  - id: x
    step: work
    with: { name: =$input.name }
    compensate: { step: undo, with: { name: =$input.name }, retry: { attempts: 3, delay: 1m } }
  - when: $input.name = "slow"
    sleep: 1d
finally: [{ id: note, step: work, with: { name: =$input.name } }]
`);

  const parent = (steps: string): Scenario['definitions'] => [
    definitionOf(`steps:\n  - id: a\n    step: work\n    compensate: { step: undo }\n${steps}`),
    child,
  ];

  const handlers = () =>
    scripted({
      work: () => 'done',
      undo: (_, { attempt, step }) => {
        if (step.key === 'x' && attempt < 3) throw new Error('not yet');
      },
    });

  test.each([
    [
      'that have completed',
      `
  - { id: one, subWorkflow: child, with: { name: one } }
  - { id: two, subWorkflow: child, with: { name: two } }
  - fail: Stop`,
      [...forward('a', 'x', 'note', 'x', 'note'), ...reverse('x', 'x', 'a')],
    ],
    [
      'of which one still runs',
      `
  - { id: one, subWorkflow: child, with: { name: one } }
  - parallel:
      slow: [{ id: two, subWorkflow: child, with: { name: slow } }]
      wrong: [{ sleep: 1h }, { fail: Stop }]`,
      [...forward('a', 'x', 'note', 'x'), ...reverse('x'), ...forward('note'), ...reverse('x', 'a')],
    ],
  ])('%s undoes them in their turn, whichever commit its process dies at', async (_, steps, done) => {
    const scenario: Scenario = { definitions: parent(steps), handlers, input: {} };
    const end = { status: 'failed', rollbackStatus: 'completed', error: 'Stop', done };
    const undisturbed = await survive(scenario, []);
    expect(endingOf(undisturbed)).toEqual(end);
    for (const death of everyDeath(undisturbed.units)) {
      expect(endingOf(await survive(scenario, [death])), JSON.stringify(death)).toEqual(end);
    }
  });
});
