import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { EngineOptions, Recovery, Run } from 'runsheet';
import { expect, onTestFinished } from 'vitest';
import { loadFlow } from '../../flows-support/load-flow.js';
import type { Release } from './watched-database.js';
import { workerProgram } from './worker-program.js';

/** What a process is told to be. */
export interface WorkerOrder {
  readonly name: string;
  readonly database: string;
  /** Files of definitions. */
  readonly flows: readonly string[];
  readonly engine?: Pick<
    EngineOptions,
    'concurrency' | 'runLeaseDurationMs' | 'stopGraceMs' | 'abortGraceMs' | 'adoptStoredDefinitions'
  >;
  readonly storage?: {
    readonly trustSchema?: boolean;
    durability: 'power' | 'process';
    busyTimeoutMs?: number;
    checkpoints?: { passiveFrames?: number; restartFrames?: number };
  };
  /** Where it writes down each unit that it committed, or could not. */
  readonly commits?: string;
  /** Its time stands still from here until it is told to `advance`, or waits with `until`. */
  readonly startAt?: number;
  /** Its time runs faster; see faster-clock.js. */
  readonly faster?: { since: number; factor: number };
}

interface Asks {
  recover(): Recovery;
  enqueue(workflow: string, input?: object, options?: { key?: string }): Run;
  result(run: string, options?: { timeoutMs: number }): Run;
  getRun(run: string): Run;
  listRuns(): { runs: Run[] };
  signal(run: string, name: string, payload?: unknown): null;
  start(): null;
  tick(): number;
  stop(options?: { graceMs: number }): null;
  close(): null;
  /** @param canonical text of a definition, see `canonicalOf` */
  register(canonical: string): null;
  /** What it has taken from dead engines so far, whether or not it was asked to `recover`. */
  released(): Release[];
  advance(ms: number): null;
  /** Moves virtual time until the run has ended. */
  until(run: string): Run;
}

interface Answer {
  readonly id: number;
  readonly result: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Of the flow in a file, as a process takes it: to read YAML would take a third of its beginning. */
export function canonicalOf(flow: string): string {
  return loadFlow(flow).canonical;
}

/** An engine in a process of its own, which a test steers, freezes and kills. */
export class WorkerProcess {
  readonly name: string;
  readonly faults: string[] = [];
  readonly #child: ChildProcess;
  /** Resolves, with the signal or the exit code, when the process has ended. */
  readonly exited: Promise<NodeJS.Signals | number | null>;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #asked = 0;
  #owner = '';

  private constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve(signal ?? code);
        for (const { reject } of this.#waiting.values()) reject(new Error(`${name} has ended: ${signal ?? code}`));
      });
    });
  }

  /** Resolves when the process has loaded everything; its storage is not open yet. */
  static async begin(order: WorkerOrder): Promise<WorkerProcess> {
    const { flows, ...rest } = order;
    const program = await workerProgram(dirname(order.database));
    const orders = JSON.stringify({ ...rest, definitions: flows.map(canonicalOf) });
    const child = spawn(process.execPath, [join(program, 'worker.js'), orders], { stdio: ['pipe', 'pipe', 'inherit'] });
    const worker = new WorkerProcess(order.name, child);
    onTestFinished(() => void child.kill('SIGKILL'));
    // What is asked of one that was killed a moment ago goes nowhere.
    child.stdin.on('error', () => {});
    const owner = new Promise<string>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const message = JSON.parse(line) as { owner: string } | { fault: string } | Answer;
        if ('owner' in message) resolve(message.owner);
        else if ('fault' in message) worker.faults.push(message.fault);
        else worker.#answered(message);
      });
    });
    const died = worker.exited.then((end) => Promise.reject(new Error(`${order.name} did not begin: ${end}`)));
    worker.#owner = await Promise.race([owner, died]);
    died.catch(() => {});
    return worker;
  }

  /** The name of its engine in the database. */
  get owner(): string {
    return this.#owner;
  }

  /** @throws what the engine has thrown, with its `code` */
  ask<Name extends keyof Asks>(name: Name, ...args: Parameters<Asks[Name]>): Promise<ReturnType<Asks[Name]>> {
    const id = (this.#asked += 1);
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#child.stdin?.write(`${JSON.stringify({ id, ask: name, args })}\n`);
    return answer as Promise<ReturnType<Asks[Name]>>;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    expect(await this.exited).toBe('SIGKILL');
  }

  /** Returns when no thread of it runs any more. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
    while (!isStopped(this.#child.pid ?? 0)) {
      // The signal takes its way within microseconds.
    }
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Closes the engine; nothing must keep the process alive after that but its standard input. */
  async end(): Promise<void> {
    await this.ask('close');
    this.#child.stdin?.end();
    expect(await this.exited, `${this.name} ends well`).toBe(0);
  }

  #answered({ id, result, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(Object.assign(new Error(error.message), { code: error.code }));
  }
}

/** As the kernel says (Linux): every thread has the state T. Elsewhere a moment has to do. */
function isStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    return true;
  }
  return readdirSync(tasks).every((task) =>
    / [TtZX] /.test(readFileSync(join(tasks, task, 'stat'), 'utf8').replace(/^.*\)/, '')),
  );
}
