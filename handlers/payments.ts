import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';

/** Names of the errors by the provider's answer; others of the 4xx kind are this program's own mistakes. */
const refusals: Readonly<Record<number, string>> = {
  402: 'CardDeclined',
  404: 'NoSuchPayment',
  409: 'IdempotencyMismatch',
  410: 'ChargeCancelled',
  422: 'AlreadyRefunded',
};

class GatewayUnavailable extends Error {
  override readonly name = 'GatewayUnavailable';
}

interface GatewayCall {
  readonly address: string;
  readonly path: string;
  readonly body: unknown;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/**
 * @throws GatewayUnavailable where the provider cannot be reached, breaks off or answers 5xx: whether
 *   it has done what was asked is not known, and asking again under the same key is safe
 * @throws NonRetryableError where it refuses
 */
async function callGateway({ address, path, body, idempotencyKey, signal }: GatewayCall): Promise<unknown> {
  const url = new URL(path, address);
  // These handlers speak to the simulator of this repository; a slip in an input must not reach further.
  if (!['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)) {
    throw new NonRetryableError(`${address} is not on this machine`, { name: 'AddressRefused' });
  }
  let status: number;
  let answer: unknown;
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(body),
      signal,
    });
    status = response.status;
    answer = await response.json();
  } catch (error) {
    signal.throwIfAborted();
    throw new GatewayUnavailable(`the payment provider at ${url.origin} gives no answer; is it running?`, {
      cause: error,
    });
  }
  if (status === 200 || status === 201) return answer;
  const reason =
    typeof answer === 'object' && answer !== null && 'error' in answer ? String(answer.error) : `status ${status}`;
  if (status >= 500) throw new GatewayUnavailable(`the payment provider cannot serve: ${reason}`);
  throw new NonRetryableError(`the payment provider refuses: ${reason}`, {
    name: refusals[status] ?? 'GatewayRefusal',
    details: { status, reason },
  });
}

const charge = defineHandler({
  name: 'payments.charge',
  description: 'Takes money from a customer; once, however often it is called under its key.',
  input: z.strictObject({
    address: z.url(),
    customer: z.string(),
    amountCents: z.int().positive(),
    currency: z.string().length(3),
  }),
  output: z.object({ paymentId: z.string(), amountCents: z.int(), currency: z.string() }),
  errors: [
    'CardDeclined',
    'GatewayUnavailable',
    'GatewayRefusal',
    'IdempotencyMismatch',
    'ChargeCancelled',
    'AddressRefused',
  ],
  async run({ input: { address, ...body }, idempotencyKey, signal }) {
    const answer = await callGateway({ address, path: '/charges', body, idempotencyKey, signal });
    return answer as { paymentId: string; amountCents: number; currency: string };
  },
});

const refund = defineHandler({
  name: 'payments.refund',
  description: 'Gives back what a charge has taken; in a reversal also where nobody knows whether it has.',
  input: z.strictObject({
    address: z.url(),
    payment: z.string().nullable().describe('null in a reversal that does not know of any'),
  }),
  output: z.object({
    refundId: z.string().nullable().describe('null: nothing had been charged'),
    paymentId: z.string().nullable(),
  }),
  errors: [
    'NoSuchPayment',
    'AlreadyRefunded',
    'NothingToRefund',
    'GatewayUnavailable',
    'GatewayRefusal',
    'IdempotencyMismatch',
    'AddressRefused',
  ],
  async run({ input: { address, payment }, idempotencyKey, forwardIdempotencyKey, signal }) {
    const gateway = { address, signal };
    const paymentId = payment ?? (await cancelCharge(gateway, forwardIdempotencyKey, idempotencyKey));
    if (paymentId === null) return { refundId: null, paymentId: null };
    const answer = await callGateway({ ...gateway, path: '/refunds', body: { paymentId }, idempotencyKey });
    return answer as { refundId: string; paymentId: string };
  },
});

/**
 * What became of a charge whose answer was never seen. Asking alone would not do: the charge may be
 * under way still, so that nothing is found now and money taken later. The provider is told to let
 * nothing more happen under its key.
 */
async function cancelCharge(
  gateway: Pick<GatewayCall, 'address' | 'signal'>,
  chargeKey: string | undefined,
  idempotencyKey: string,
): Promise<string | null> {
  if (chargeKey === undefined) {
    throw new NonRetryableError('a refund that undoes no charge has to name its payment', { name: 'NothingToRefund' });
  }
  const answer = await callGateway({
    ...gateway,
    path: '/cancellations',
    body: { chargeKey },
    idempotencyKey: `${idempotencyKey}:cancellation`,
  });
  return (answer as { paymentId: string | null }).paymentId;
}

export default [charge, refund];
