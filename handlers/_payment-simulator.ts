import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

/*
 * A payment provider in miniature, for trying out flows: it takes charges and refunds over HTTP,
 * honours idempotency keys as real ones do, keeps account of every effect, and fails as it is told.
 *
 *   POST /charges    { customer, amountCents, currency }   Idempotency-Key: …   → 201 { paymentId, … }
 *   POST /refunds    { paymentId }                         Idempotency-Key: …   → 201 { refundId, … }
 *   POST /cancellations { chargeKey }                      Idempotency-Key: …   → 201 { paymentId }
 *     from now on nothing is charged under that key (410); the payment that it was charged before, or null
 *     the same key and body again: the first answer, no second effect; another body: 409
 *   GET  /_simulator/effects    every answer given for good, with its key and how often it was asked for
 *   PUT  /_simulator/faults     a list of `Fault`: what to do to the next requests that fit
 */

const faultSchema = z.strictObject({
  /**
   * decline: the card is refused, for good (402); unavailable: 503, nothing happened; slow: the
   * answer comes after `delayMs`; hang: no answer, nothing happened; lose-answer: it happened, but
   * the connection breaks before the answer.
   */
  do: z.enum(['decline', 'unavailable', 'slow', 'hang', 'lose-answer']),
  /** Only requests to this path. */
  on: z.enum(['/charges', '/refunds', '/cancellations']).optional(),
  /** Only charges of this customer. */
  customer: z.string().optional(),
  /** How many requests it spoils. */
  times: z.int().min(1).default(1),
  delayMs: z.int().min(0).default(1_000),
});

export type Fault = z.input<typeof faultSchema>;

const requests = {
  '/charges': z.strictObject({ customer: z.string(), amountCents: z.int().positive(), currency: z.string().length(3) }),
  '/refunds': z.strictObject({ paymentId: z.string() }),
  '/cancellations': z.strictObject({ chargeKey: z.string() }),
} as const;

type RequestPath = keyof typeof requests;

const isRequestPath = (path: string): path is RequestPath => Object.hasOwn(requests, path);

/** Something that happened once and stays so, declined charges included. */
export interface Effect {
  readonly key: string;
  readonly path: RequestPath;
  /** The body, as it was sent. */
  readonly request: unknown;
  readonly status: number;
  readonly answer: unknown;
  /** How often it was asked for under its key. */
  calls: number;
}

interface Reply {
  readonly status: number;
  readonly answer: unknown;
}

export class PaymentSimulator {
  readonly #effects = new Map<string, Effect>();
  readonly #file: string | undefined;
  readonly #server: Server;
  #faults: z.output<typeof faultSchema>[] = [];

  /** `file`: keeps the effects there, a JSON text a line, and begins with those that it holds. */
  constructor({ file }: { file?: string } = {}) {
    this.#file = file;
    if (file !== undefined && existsSync(file)) {
      for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
        const effect = JSON.parse(line) as Effect;
        this.#effects.set(effect.key, effect);
      }
    }
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) =>
        send(response, { status: 500, answer: { error: String(error) } }),
      );
    });
  }

  /** Listens on loopback; port 0 takes any free one. Gives the address for flows. */
  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Replaces what is still to go wrong. */
  plan(faults: readonly Fault[]): void {
    this.#faults = z.array(faultSchema).parse(faults);
  }

  effects(): Effect[] {
    return [...this.#effects.values()].map((effect) => structuredClone(effect));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request);
    const path = request.url ?? '/';
    if (path === '/_simulator/effects' && request.method === 'GET')
      return send(response, { status: 200, answer: this.effects() });
    if (path === '/_simulator/faults' && request.method === 'PUT') {
      const faults = z.array(faultSchema).safeParse(body);
      if (!faults.success) return send(response, refusal(400, z.prettifyError(faults.error)));
      this.#faults = faults.data;
      return send(response, { status: 200, answer: faults.data });
    }
    if (request.method !== 'POST' || !isRequestPath(path))
      return send(response, refusal(404, `no ${request.method} ${path}`));

    const fault = this.#takeFault(path, body);
    switch (fault?.do) {
      case 'hang':
        return;
      case 'unavailable':
        return send(response, refusal(503, 'unavailable'));
      case 'slow':
        await delay(fault.delayMs, undefined, { ref: false });
        break;
    }
    const reply = this.#answer(path, request.headers['idempotency-key'], body, fault?.do === 'decline');
    if (fault?.do === 'lose-answer') response.destroy();
    else send(response, reply);
  }

  #takeFault(path: RequestPath, body: unknown): z.output<typeof faultSchema> | undefined {
    const customer = typeof body === 'object' && body !== null && 'customer' in body ? body.customer : undefined;
    const fault = this.#faults.find(
      (one) => one.times > 0 && (one.on ?? path) === path && (one.customer === undefined || one.customer === customer),
    );
    if (fault !== undefined) fault.times -= 1;
    return fault;
  }

  #answer(path: RequestPath, key: string | string[] | undefined, body: unknown, decline: boolean): Reply {
    if (typeof key !== 'string' || key === '') return refusal(400, 'an Idempotency-Key is required');
    const parsed = requests[path].safeParse(body);
    if (!parsed.success) return refusal(400, z.prettifyError(parsed.error));
    const earlier = this.#effects.get(key);
    if (earlier !== undefined) {
      if (earlier.path !== path || JSON.stringify(earlier.request) !== JSON.stringify(body)) {
        return refusal(409, `the key ${key} was used for another request`);
      }
      earlier.calls += 1;
      return earlier;
    }
    const reply = this.#serveAnew(key, parsed.data, decline);
    // Other refusals are no effects: the same key may come again with a better request.
    if (reply.status === 201 || reply.status === 402) this.#record({ key, path, request: body, ...reply, calls: 1 });
    return reply;
  }

  #serveAnew(key: string, request: z.output<(typeof requests)[RequestPath]>, decline: boolean): Reply {
    if ('paymentId' in request) return this.#refund(key, request.paymentId);
    if ('chargeKey' in request) return this.#cancel(request.chargeKey);
    const cancelled = [...this.#effects.values()].some(
      ({ path, request: earlier }) => path === '/cancellations' && (earlier as { chargeKey: string }).chargeKey === key,
    );
    return cancelled ? refusal(410, `the charge ${key} was cancelled`) : charge(key, request, decline);
  }

  #cancel(chargeKey: string): Reply {
    const charged = this.#effects.get(chargeKey);
    const taken = charged?.path === '/charges' && charged.status === 201;
    return { status: 201, answer: { paymentId: taken ? (charged.answer as { paymentId: string }).paymentId : null } };
  }

  #refund(key: string, paymentId: string): Reply {
    const effects = [...this.#effects.values()];
    const of = (path: RequestPath): boolean =>
      effects.some(
        (effect) =>
          effect.path === path &&
          effect.status === 201 &&
          (effect.answer as { paymentId: string }).paymentId === paymentId,
      );
    if (!of('/charges')) return refusal(404, `no payment ${paymentId}`);
    if (of('/refunds')) return refusal(422, `${paymentId} is refunded already`);
    return { status: 201, answer: { refundId: `re_${digest(key)}`, paymentId } };
  }

  #record(effect: Effect): void {
    this.#effects.set(effect.key, effect);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(effect)}\n`);
  }
}

function charge(
  key: string,
  { amountCents, currency }: z.output<(typeof requests)['/charges']>,
  decline: boolean,
): Reply {
  if (decline) return refusal(402, 'card_declined');
  return { status: 201, answer: { paymentId: `pay_${digest(key)}`, amountCents, currency } };
}

const refusal = (status: number, error: string): Reply => ({ status, answer: { error } });

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 20);

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    // As a body that fits nothing it is refused with 400 like any other.
    return text;
  }
}

function send(response: ServerResponse, { status, answer }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}
