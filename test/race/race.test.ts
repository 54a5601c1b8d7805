import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/*
 * Two processes on one SQLite file: one drives runs, the other wants something of each of them at the moment at which it
 * becomes too late. Exactly one of the two wins, and both agree who. They run what `npm run build` has made.
 */

const times = 1000;
/** So often each of the two has to have won. */
const enough = times / 20;

interface End {
  readonly id: string;
  readonly status: string;
  readonly output: unknown;
  /** How often its step was called, and its reversal. */
  readonly done: number;
  readonly undone: number;
}

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'runsheet-race-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Told = End & { readonly told: string | undefined };

/** Races until both have won often enough: only then they have met. */
async function race(flow: string, what: 'signal' | 'cancel'): Promise<Told[]> {
  const ends: Told[] = [];
  for (let round = 1; ; round += 1) {
    ends.push(...(await raceOnce(join(folder, `${round}.db`), flow, what)));
    expect(ends).toHaveLength(round * times);
    const accepted = ends.filter(({ told }) => told === 'accepted').length;
    if (Math.min(accepted, ends.length - accepted) >= enough) return ends;
  }
}

async function raceOnce(database: string, flow: string, what: 'signal' | 'cancel'): Promise<Told[]> {
  const driver = start('drive.js', { database, flow, count: times, leadMs: 700 });
  const rival = start('rival.js', { database, what });
  const answer = text(rival.stdout);
  let ends: End[] = [];
  for await (const line of createInterface({ input: driver.stdout })) {
    if (line.startsWith('[')) ends = JSON.parse(line) as End[];
    else rival.stdin.write(`${line}\n`);
  }
  rival.stdin.end();
  const told = JSON.parse(await answer) as Record<string, string>;
  return ends.map((end) => ({ ...end, told: told[end.id] }));
}

function start(script: string, order: object): ChildProcessByStdio<Writable, Readable, null> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  return spawn(process.execPath, [path, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'inherit'] });
}

describe('two processes race', { timeout: 30 * 60_000 }, () => {
  it('a signal against its time-out: the sender is told what the run makes of it', async () => {
    const ends = await race(
      `
workflow: gate
input: { at: { type: number } }
steps:
  - waitFor: go
    timeout: { until: =$input.at }
    onTimeout: { by: timeout }
`,
      'signal',
    );
    const wrong = ends.filter(
      ({ status, output, told }) =>
        status !== 'completed' ||
        (output as { by: string }).by !== (told === 'accepted' ? 'signal' : 'timeout') ||
        !['accepted', 'RS_SIGNAL_TOO_LATE', 'RS_RUN_ENDED'].includes(told ?? ''),
    );
    expect(wrong).toEqual([]);
  });

  it('a cancellation against completion: who is accepted has cancelled it, and what was done is undone once', async () => {
    const ends = await race(
      `
workflow: work
input: { at: { type: number } }
steps:
  - step: work
    with: { at: =$input.at }
    compensate: { step: undo }
finally:
  - step: tidy
`,
      'cancel',
    );
    const wrong = ends.filter(({ status, done, undone, told }) =>
      told === 'accepted'
        ? status !== 'cancelled' || done > 1 || undone !== done
        : status !== 'completed' ||
          done !== 1 ||
          undone !== 0 ||
          !['RS_RUN_ENDING', 'RS_RUN_ENDED'].includes(told ?? ''),
    );
    expect(wrong).toEqual([]);
  });
});
