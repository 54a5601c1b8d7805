import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One call of `desk.call`, which waits for its answer. */
export interface DeskCall {
  readonly label: string;
  readonly key: string;
  readonly attempt: number;
  /** Name of the process that calls. */
  readonly worker: string;
  /** Lets the step complete. */
  answer(value?: unknown): void;
  /** Has the step fail by this name. */
  fail(name: string): void;
}

/**
 * Where the handlers of all processes call in (`desk.call`): the test sees who calls for what, in order,
 * and decides when a call is over and how.
 */
export class CallDesk {
  readonly calls: DeskCall[] = [];
  readonly address: string;
  readonly #server: Server;
  readonly #onCall: (call: DeskCall) => unknown;
  readonly #unseen: DeskCall[] = [];
  readonly #waiting: ((call: DeskCall) => void)[] = [];

  private constructor(server: Server, onCall: (call: DeskCall) => unknown) {
    this.#server = server;
    this.#onCall = onCall;
    this.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** @param onCall is told of every call as it comes in */
  static async open(onCall: (call: DeskCall) => unknown = () => {}): Promise<CallDesk> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const desk = new CallDesk(server, onCall);
    server.on('request', (request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      request.on('end', () => desk.#take(JSON.parse(text) as DeskCall, response));
    });
    onTestFinished(() => desk.close());
    return desk;
  }

  get labels(): string[] {
    return this.calls.map(({ label }) => label);
  }

  /** The next call that nobody has asked for yet. */
  next(): Promise<DeskCall> {
    const call = this.#unseen.shift();
    return call === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(call);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(said: Pick<DeskCall, 'label' | 'key' | 'attempt' | 'worker'>, response: ServerResponse): void {
    const send = (answer: unknown): void => void response.end(JSON.stringify(answer));
    const call: DeskCall = {
      ...said,
      answer: (value = null) => send({ value }),
      fail: (name) => send({ error: name }),
    };
    this.calls.push(call);
    this.#onCall(call);
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#unseen.push(call);
    else waiting(call);
  }
}
