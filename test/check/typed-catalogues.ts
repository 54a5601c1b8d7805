import { z } from 'zod';
import type { CheckOptions } from '../../src/check/index.js';
import type { WorkflowDocument } from '../../src/definition/index.js';
import { HandlerRegistry, defineHandler } from '../../src/handlers/index.js';

const currency = z.enum(['EUR', 'USD']);

/** Handlers that say what they take and give. */
export const typedHandlers = new HandlerRegistry([
  defineHandler({
    name: 'cards.charge',
    input: z.object({
      amount: z.number(),
      currency,
      card: z.strictObject({ number: z.string(), owner: z.string().optional() }).optional(),
      note: z.string().optional(),
    }),
    output: z.object({
      paymentId: z.string(),
      state: z.enum(['settled', 'pending']),
      fee: z.number().optional(),
      extra: z.looseObject({ color: z.string() }),
    }),
    run: () => ({ paymentId: 'p-1', state: 'settled' as const, extra: { color: 'red' } }),
  }),
  defineHandler({
    name: 'cards.refund',
    input: z.strictObject({ payment: z.string().nullable() }),
    run: () => undefined,
  }),
  defineHandler({
    name: 'stock.list',
    output: z.array(z.object({ sku: z.string(), qty: z.number(), tags: z.array(z.string()) })),
    run: () => [],
  }),
  defineHandler({ name: 'anything', run: (input: unknown) => input }),
]).catalogue();

const ship: WorkflowDocument = {
  workflow: 'ship',
  revision: 2,
  input: {
    orderId: { type: 'string' },
    parcels: { type: 'array', items: { type: 'integer' } },
    express: { type: 'boolean', default: false },
  },
  steps: [{ id: 'label', set: { number: '=$input.orderId & "-1"' } }],
  output: { tracking: '=$steps.label.number', parcels: '=$count($input.parcels)' },
};

export const typedCatalogues: CheckOptions = {
  handlers: typedHandlers,
  workflows: new Map([
    [
      'ship',
      [
        { name: 'ship', revision: 1, document: { ...ship, revision: 1, output: {} } },
        { name: 'ship', revision: 2, document: ship },
      ],
    ],
  ]),
};
