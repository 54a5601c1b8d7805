import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, Run } from 'runsheet';
import { expect } from 'vitest';
import type { Fault } from '../../../handlers/_payment-simulator.js';
import { makeOrders } from '../../../scripts/make-orders.js';

/** Where runs find what they work on. */
export interface Site {
  readonly folder: string;
  readonly payments: string;
  readonly desk: string;
}

/** A run to be started, what has to be said to it, and how it has to end. */
export interface Work {
  readonly kind: string;
  readonly workflow: string;
  readonly key: string;
  readonly input: JsonObject;
  /** Said once: at once, or when the run is seen to wait for it. */
  readonly signal?: { readonly name: string; readonly payload: JsonObject; readonly early: boolean };
  readonly end: Partial<Run>;
  /** What the payment provider has done for good, in this order. */
  readonly payments: readonly string[];
  /** The states in which its bookings are left, by kind of booking. */
  readonly bookings: Readonly<Record<string, string>>;
}

type Kind = (index: number, site: Site) => Omit<Work, 'kind' | 'key'>;

const completed = (output: unknown): Partial<Run> => ({
  status: 'completed',
  error: null,
  output: expect.objectContaining(output as object),
});

const failed = (name: string): Partial<Run> => ({
  status: 'failed',
  rollbackStatus: 'completed',
  error: expect.objectContaining({ name }),
});

const shipped = { state: 'delivered', scans: 3 };

function order(index: number, { folder, payments }: Site, changes: JsonObject = {}): JsonObject {
  const items = [
    { sku: 'lamp', qty: 2 },
    { sku: 'bulb', qty: 1 + (index % 6) },
  ];
  return {
    orderId: `o-${index}`,
    customer: { id: `c-${index}`, email: 'ana@example.test' },
    items,
    totalCents: 12_980,
    delivery: items,
    payments,
    folder: join(folder, 'shop'),
    trackEveryMs: 1000,
    ...changes,
  };
}

function trip({ folder }: Site, changes: JsonObject = {}): JsonObject {
  return {
    traveller: { name: 'Ana', email: 'ana@example.test' },
    from: 'Hamburg',
    to: 'Lisbon',
    leave: '2030-05-02',
    nights: 3,
    folder: join(folder, 'travel'),
    ...changes,
  };
}

const none = { payments: [], bookings: {} };
const approval = (approved: boolean, early: boolean) => ({
  name: 'manager-approval',
  payload: { approved, by: 'mia' },
  early,
});
const booked = { flight: 'booked', hotel: 'booked', car: 'booked' };
const cancelled = { flight: 'cancelled', hotel: 'cancelled', car: 'cancelled' };
/** Dear enough to be asked for. */
const long = { nights: 10 };

const declined = 'declined';
const notAnswered = 'not-answered-';

/** How the payment provider has to fail for these runs. */
export function paymentFaults(works: readonly Work[]): Fault[] {
  const customers = works.map(({ input }) => (input['customer'] as { id: string } | undefined)?.id ?? '');
  return [
    { do: 'decline', customer: declined, times: 1_000_000 },
    ...customers
      .filter((customer) => customer.startsWith(notAnswered))
      .map((customer): Fault => ({ do: 'lose-answer', on: '/charges', customer })),
  ];
}

const kinds = {
  order: (index, site) => ({
    workflow: 'order-fulfilment',
    input: order(index, site),
    end: completed({ ...shipped, approvedBy: 'not needed' }),
    ...none,
    payments: ['/charges 201'],
  }),
  'order that is approved': (index, site) => ({
    workflow: 'order-fulfilment',
    input: order(index, site, { totalCents: 100_001 }),
    signal: approval(true, index % 2 === 0),
    end: completed({ ...shipped, approvedBy: 'mia' }),
    ...none,
    payments: ['/charges 201'],
  }),
  'order that is rejected': (index, site) => ({
    workflow: 'order-fulfilment',
    input: order(index, site, { totalCents: 100_001 }),
    signal: approval(false, false),
    end: failed('OrderRejected'),
    ...none,
    payments: ['/charges 201', '/refunds 201'],
  }),
  'order of a customer without credit': (index, site) => ({
    workflow: 'order-fulfilment',
    input: order(index, site, { customer: { id: declined, email: 'ana@example.test' } }),
    end: failed('CardDeclined'),
    ...none,
    payments: ['/charges 402'],
  }),
  'order whose payment is not answered': (index, site) => ({
    workflow: 'order-fulfilment',
    input: order(index, site, { customer: { id: `${notAnswered}${index}`, email: 'ana@example.test' } }),
    end: completed(shipped),
    ...none,
    payments: ['/charges 201'],
  }),
  trip: (_, site) => ({
    workflow: 'travel-booking',
    input: trip(site),
    end: completed({ priceCents: 62_500 }),
    ...none,
    bookings: booked,
  }),
  'trip without a car': (_, site) => ({
    workflow: 'travel-booking',
    input: trip(site, { faults: [{ call: 'cars.book', do: 'sold-out' }] }),
    end: failed('SoldOut'),
    ...none,
    bookings: { flight: 'cancelled', hotel: 'cancelled' },
  }),
  'trip with agencies that fall over': (_, site) => ({
    workflow: 'travel-booking',
    input: trip(site, {
      faults: [
        { call: 'flights.book', do: 'unavailable' },
        { call: 'cars.book', do: 'lose-answer' },
      ],
    }),
    end: completed({ priceCents: 62_500 }),
    ...none,
    bookings: booked,
  }),
  'trip that is confirmed': (index, site) => ({
    workflow: 'travel-booking',
    input: trip(site, long),
    signal: { name: 'confirm', payload: { confirmed: true }, early: index % 2 === 1 },
    end: completed({ priceCents: 157_000 }),
    ...none,
    bookings: booked,
  }),
  'trip that is not confirmed': (_, site) => ({
    workflow: 'travel-booking',
    input: trip(site, long),
    signal: { name: 'confirm', payload: { confirmed: false }, early: false },
    end: failed('NotConfirmed'),
    ...none,
    bookings: cancelled,
  }),
  import: (index, { folder }) => {
    const { csv, good, bad } = makeOrders({ count: 20, badCount: 3, seed: index });
    const file = join(folder, `orders-${index}.csv`);
    writeFileSync(file, csv);
    return {
      workflow: 'import-orders',
      input: { file, folder: join(folder, `import-${index}`) },
      end: completed({ rows: 20, imported: good.length, rejected: bad.length }),
      ...none,
    };
  },
  limited: (_, { desk }) => ({
    workflow: 'limited',
    input: { address: desk, turns: 3 },
    end: { status: 'completed', error: null },
    ...none,
  }),
} satisfies Record<string, Kind>;

/** So many runs, of all kinds in turn; of the kind that has a limit enough to be in each other's way. */
export function workFor(site: Site, count: number): Work[] {
  const { limited, ...others } = kinds;
  const all = Object.entries(others);
  return Array.from({ length: count }, (_, index) => {
    const other = all[(index - Math.floor(index / 3)) % all.length];
    const [kind, make] = index % 3 === 2 || other === undefined ? ['limited', limited] : other;
    return { kind, key: `${kind} ${index}`, ...make(index, site) };
  });
}
