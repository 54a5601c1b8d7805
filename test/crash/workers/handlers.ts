import { defineHandler } from 'runsheet';
import { z } from 'zod';

/** Reports at the test's desk (call-desk.ts) and does what it is told there, when it is told. */
const call = defineHandler({
  name: 'desk.call',
  input: z.strictObject({ address: z.url(), label: z.string() }),
  output: z.unknown(),
  async run({ input: { address, label }, idempotencyKey: key, attempt, signal }) {
    const worker = process.env['WORKER_NAME'] ?? '';
    const body = JSON.stringify({ label, key, attempt, worker });
    const response = await fetch(address, { method: 'POST', body, signal });
    const answer = (await response.json()) as { value: unknown } | { error: string };
    if ('error' in answer) throw Object.assign(new Error(`${label} was told to fail`), { name: answer.error });
    return answer.value;
  },
});

/** Takes along whatever its process does beside it. */
const poison = defineHandler({
  name: 'process.kill',
  async run() {
    process.kill(process.pid, 'SIGKILL');
    return new Promise<never>(() => {});
  },
});

export default [call, poison];
