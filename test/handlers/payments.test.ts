import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Fault, PaymentSimulator } from '../../handlers/_payment-simulator.js';
import payments from '../../handlers/payments.js';
import { isNonRetryable } from '../../src/handlers/index.js';
import { callerOf } from '../flows-support/call-handler.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const call = callerOf(payments);

async function provider(faults: readonly Fault[] = [], options: { file?: string } = {}) {
  const simulator = new PaymentSimulator(options);
  onTestFinished(() => simulator.close());
  simulator.plan(faults);
  const address = await simulator.listen();
  const charge = (
    key: string,
    { signal, ...changes }: { signal?: AbortSignal; amountCents?: number; customer?: string } = {},
  ) =>
    call(
      'payments.charge',
      { address, customer: 'c-1', amountCents: 1_000, currency: 'EUR', ...changes },
      { key, ...(signal && { signal }) },
    );
  const effects = () => simulator.effects().map(({ key, status, calls }) => ({ key, status, calls }));
  return { simulator, address, charge, effects };
}

describe('a charge', () => {
  test('under the same key happens once; another body under it is refused', async () => {
    const { charge, effects } = await provider();
    const first = await charge('k');
    expect(first).toEqual({
      paymentId: expect.stringMatching(/^pay_[0-9a-f]{20}$/),
      amountCents: 1_000,
      currency: 'EUR',
    });
    expect(await charge('k')).toEqual(first);
    await expect(charge('k', { amountCents: 2_000 })).rejects.toMatchObject({ name: 'IdempotencyMismatch' });
    expect(await charge('other')).not.toEqual(first);
    expect(effects()).toEqual([
      { key: 'k', status: 201, calls: 2 },
      { key: 'other', status: 201, calls: 1 },
    ]);
  });

  test('declined is declined for good under its key, and not worth another attempt', async () => {
    const { charge, effects } = await provider([{ do: 'decline', customer: 'c-1' }]);
    const declined = { name: 'CardDeclined', details: { status: 402, reason: 'card_declined' } };
    const error: unknown = await charge('k').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(declined);
    expect(isNonRetryable(error)).toBe(true);
    await expect(charge('k')).rejects.toMatchObject(declined);
    expect(effects()).toEqual([{ key: 'k', status: 402, calls: 2 }]);
  });

  test('is worth another attempt where the provider cannot serve, and then happens once', async () => {
    const { charge, effects } = await provider([{ do: 'unavailable', times: 2 }]);
    for (const _ of [1, 2]) {
      const error: unknown = await charge('k').catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'GatewayUnavailable' });
      expect(isNonRetryable(error)).toBe(false);
    }
    await charge('k');
    expect(effects()).toEqual([{ key: 'k', status: 201, calls: 1 }]);
  });

  test('whose answer is lost has happened; asking again under the key does not repeat it', async () => {
    const { charge, effects } = await provider([{ do: 'lose-answer' }]);
    await expect(charge('k')).rejects.toMatchObject({ name: 'GatewayUnavailable' });
    await charge('k');
    expect(effects()).toEqual([{ key: 'k', status: 201, calls: 2 }]);
  });

  test('that hangs ends when its signal says so', async () => {
    const { charge, effects } = await provider([{ do: 'hang' }]);
    const controller = new AbortController();
    const charging = charge('k', { signal: controller.signal });
    controller.abort(new Error('out of time'));
    await expect(charging).rejects.toThrow('out of time');
    expect(effects()).toEqual([]);
  });

  test('that is slow comes in the end', async () => {
    const { charge } = await provider([{ do: 'slow', delayMs: 20 }]);
    expect(await charge('k')).toMatchObject({ amountCents: 1_000 });
  });

  test('goes to this machine and nowhere else', async () => {
    const input = { address: 'http://payments.example.test', customer: 'c', amountCents: 1, currency: 'EUR' };
    await expect(call('payments.charge', input)).rejects.toMatchObject({ name: 'AddressRefused' });
    await expect(call('payments.charge', { ...input, address: 'http://127.0.0.1:1' })).rejects.toMatchObject({
      name: 'GatewayUnavailable',
      message: 'the payment provider at http://127.0.0.1:1 gives no answer; is it running?',
    });
  });
});

test('a refund gives back a payment once', async () => {
  const { address, charge } = await provider();
  const { paymentId: payment } = (await charge('k')) as { paymentId: string };
  const refund = await call('payments.refund', { address, payment }, { key: 'r' });
  expect(await call('payments.refund', { address, payment }, { key: 'r' })).toEqual(refund);
  await expect(call('payments.refund', { address, payment }, { key: 'r2' })).rejects.toMatchObject({
    name: 'AlreadyRefunded',
  });
  await expect(call('payments.refund', { address, payment: 'pay_none' }, { key: 'r3' })).rejects.toMatchObject({
    name: 'NoSuchPayment',
  });
});

describe('a refund of a charge whose answer nobody has seen', () => {
  const undo = (address: string) => call('payments.refund', { address, payment: null }, { key: 'r', undoes: 'k' });

  test('gives back what was taken', async () => {
    const { address, charge, simulator } = await provider([{ do: 'lose-answer', on: '/charges' }]);
    await expect(charge('k')).rejects.toThrow();
    const refund = await undo(address);
    expect(refund).toMatchObject({ paymentId: expect.stringMatching(/^pay_/) });
    expect(await undo(address)).toEqual(refund);
    expect(simulator.effects().map(({ path, status }) => `${path} ${status}`)).toEqual([
      '/charges 201',
      '/cancellations 201',
      '/refunds 201',
    ]);
  });

  test('that never arrived gives nothing back, and keeps it from arriving later', async () => {
    const { address, charge } = await provider();
    expect(await undo(address)).toEqual({ refundId: null, paymentId: null });
    await expect(charge('k')).rejects.toMatchObject({ name: 'ChargeCancelled' });
    expect(await undo(address)).toEqual({ refundId: null, paymentId: null });
  });

  test('that was declined gives nothing back', async () => {
    const { address, charge } = await provider([{ do: 'decline' }]);
    await expect(charge('k')).rejects.toMatchObject({ name: 'CardDeclined' });
    expect(await undo(address)).toEqual({ refundId: null, paymentId: null });
  });

  test('as a step of its own is refused: it would be a refund of nothing', async () => {
    const { address } = await provider();
    await expect(call('payments.refund', { address, payment: null })).rejects.toMatchObject({
      name: 'NothingToRefund',
    });
  });
});

test('the simulator remembers its payments when it is started again', async () => {
  const file = join(temporaryFolder(), 'payments.jsonl');
  const before = await provider([], { file });
  const first = await before.charge('k');
  const after = await provider([], { file });
  expect(await after.charge('k')).toEqual(first);
  await expect(after.charge('k', { amountCents: 1 })).rejects.toMatchObject({ name: 'IdempotencyMismatch' });
});

test('started as a command, it says where it is, and fails as it is told over HTTP', async () => {
  const child = spawn(process.execPath, ['scripts/payment-simulator.js', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const address = /http:\S+\d/.exec(line.toString())?.[0] ?? '';
  const put = (faults: unknown) =>
    fetch(`${address}/_simulator/faults`, { method: 'PUT', body: JSON.stringify(faults) }).then(({ status }) => status);
  expect(await put([{ do: 'explode' }])).toBe(400);
  expect(await put([{ do: 'decline', customer: 'c-2' } satisfies Fault])).toBe(200);
  const input = { address, amountCents: 1, currency: 'EUR' };
  await call('payments.charge', { ...input, customer: 'c-1' }, { key: 'a' });
  await expect(call('payments.charge', { ...input, customer: 'c-2' }, { key: 'b' })).rejects.toMatchObject({
    name: 'CardDeclined',
  });
  expect(await fetch(`${address}/_simulator/effects`).then((response) => response.json())).toMatchObject([
    { key: 'a', path: '/charges', status: 201, request: { customer: 'c-1' } },
    { key: 'b', status: 402 },
  ]);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
