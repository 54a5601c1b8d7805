import { expect, test } from 'vitest';
import { z } from 'zod';
import { MemoryStorage, createEngine, defineHandler, type Handler } from '../../src/index.js';
import { definitionOf } from '../definition/flows.js';

const flow = definitionOf(`
workflow: pay
input: { amount: {}, lines: { default: [] } }
steps:
  - id: paid
    step: charge
    with: { amount: =$input.amount, lines: =$input.lines }
    retry: { attempts: 1 }
`);

async function messageOf(handler: Handler, input: object): Promise<string | undefined> {
  const engine = createEngine({ storage: new MemoryStorage(), definitions: [flow], handlers: [handler] });
  await engine.start();
  const { id } = await engine.enqueue('pay', input as never);
  const { error } = await engine.result(id, { timeoutMs: 20_000 });
  await engine.close();
  return error?.message;
}

const charge = defineHandler({
  name: 'charge',
  input: z.object({ amount: z.number(), lines: z.array(z.object({ qty: z.union([z.number(), z.null()]) })) }),
  run: () => ({ paid: 1 }),
});

test("an error of a handler's schema names the field", async () => {
  expect(await messageOf(charge, { amount: 'ten' })).toContain(
    'the input of charge is not valid: amount: Invalid input: expected number, received string',
  );
  expect(await messageOf(charge, { amount: 1, lines: [{ qty: 1 }, { qty: 'x' }] })).toContain(
    'is not valid: lines[1].qty: Invalid input',
  );
});

test('so does one of its output, each field with its own words', async () => {
  const wrong = defineHandler({
    name: 'charge',
    output: z.object({ id: z.string(), 'sent at': z.iso.date() }),
    run: () => ({ id: 7, 'sent at': 'never' }) as never,
  }) as Handler;
  const message = await messageOf(wrong, { amount: 1 });
  expect(message).toContain('what charge returned is not valid: id: Invalid input: expected string, received number');
  expect(message).toContain('["sent at"]: Invalid ISO date');
});

test('one of the whole value has no field to name', async () => {
  const wrong = defineHandler({ name: 'charge', output: z.string(), run: () => 7 as never }) as Handler;
  expect(await messageOf(wrong, { amount: 1 })).toContain('is not valid: Invalid input: expected string');
});
