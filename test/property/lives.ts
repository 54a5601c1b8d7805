import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  type Engine,
  type Handler,
  type HandlerContext,
  type JsonValue,
  MemoryStorage,
  NoEffectError,
  NonRetryableError,
  RunsheetError,
  SqliteStorage,
  type Storage,
  createEngine,
  defineHandler,
} from 'runsheet';
import { type Death, VirtualClock, mortal } from 'runsheet/testing';
import type { Timer } from '../../src/common/index.js';
import { type Definition, readWorkflow, sealDefinition } from '../../src/definition/index.js';
import type { InboxMessage, JournalRow, RunRecord } from '../../src/storage/index.js';
import { Source } from '../../src/syntax/index.js';
import { type Conduct, type Family, type Written, childNames, write } from './flow-arbitrary.js';
import { ProcessClock } from '../../src/testing/process-clock.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

/** What somebody outside does to the runs, at a time after the start. */
export interface Act {
  readonly atMs: number;
  readonly what: 'signal' | 'cancel' | 'cancel-without-compensation';
  /** Chooses the run, the signal and its payload. */
  readonly choice: number;
}

export interface Course {
  readonly family: Family;
  /** Makes the draws of handlers and operators. */
  readonly luck: number;
  readonly acts: readonly Act[];
  /** Of each of the processes that live side by side, one after the other. */
  readonly deaths: readonly (readonly Death[])[];
  readonly storage: 'memory' | 'sqlite';
  readonly concurrency: number;
  /** The storage answers up to so much later: what it has written others see before its writer knows. */
  readonly lagMs: number;
}

export interface Call {
  readonly run: string;
  readonly key: string;
  readonly attempt: number;
  readonly input: JsonValue;
}

export interface Told {
  readonly record: RunRecord;
  readonly definition: Definition;
  readonly journal: readonly JournalRow[];
  readonly inbox: readonly InboxMessage[];
}

export interface Lived {
  readonly runs: readonly Told[];
  readonly calls: readonly Call[];
  /** How many runs went on with failed ones. */
  readonly resumed: number;
  /** What was seen to go wrong while it happened. */
  readonly wrong: readonly string[];
}

/** Drives a family of flows through its deaths to the end of all its runs. */
export async function live(course: Course): Promise<Lived> {
  return new World(course).live();
}

const minute = 60_000;
/** From then on everything that is still open is cancelled. */
const patienceMs = 4 * minute;
/** By then everything must have ended. */
const horizonMs = 60 * minute;
/** In real time: no course takes a fraction of it. */
const longestMs = 240_000;
const mostResumed = 3;

class World {
  readonly #course: Course;
  readonly #storage: Storage;
  readonly #clock = new VirtualClock();
  readonly #startedAt = this.#clock.now();
  readonly #definitions: readonly Definition[];
  readonly #written = new Map<string, Written>();
  readonly #calls: Call[] = [];
  readonly #wrong: string[] = [];
  readonly #ids = new Map<number, string>();
  /** Calls whose handlers have not come to their end. */
  readonly #underWay = new Set<Call & { readonly alive: () => boolean; isRecorded: boolean }>();
  readonly #completed = new Set<string>();
  readonly #accepted = new Map<string, number>();
  /** For people: no engine of their own ever drives. */
  readonly #outside: Engine;
  readonly #passes = new Map<string, number>();
  /** Failed runs that somebody has thought of going on with. */
  readonly #considered = new Set<string>();
  #resumed = 0;
  #lags = 0;

  constructor(course: Course) {
    this.#course = course;
    this.#storage =
      course.storage === 'memory'
        ? new MemoryStorage()
        : new SqliteStorage(join(temporaryFolder(), 'runs.db'), { durability: 'process' });
    const { parent, children, undoes } = course.family;
    const flows = [
      ['flow', parent] as const,
      ...children.map((flow, index) => [childNames[index] ?? '', flow] as const),
    ];
    this.#definitions = flows.map(([name, flow]) => {
      const written = write(name, flow, undoes);
      this.#written.set(name, written);
      const source = new Source(`${name}.yaml`, JSON.stringify(written.document));
      const { document, diagnostics } = readWorkflow(source);
      if (document === undefined) throw new Error(diagnostics.map(({ message }) => message).join('; '));
      return sealDefinition(document);
    });
    this.#outside = createEngine({
      storage: this.#storage,
      definitions: this.#definitions,
      handlers: this.#handlers(() => false),
      clock: this.#clock,
      randomBytes: this.#randomBytes('outside'),
    });
  }

  async live(): Promise<Lived> {
    await this.#storage.open();
    for (const act of this.#course.acts) this.#clock.setTimer(act.atMs, () => void this.#guard(this.#act(act)));
    const operator = (): void => {
      this.#clock.setTimer(9000, operator);
      void this.#guard(this.#operate());
    };
    operator();
    const cancelRest = (): void => {
      this.#clock.setTimer(minute, cancelRest);
      void this.#guard(this.#cancelRest());
    };
    this.#clock.setTimer(patienceMs, cancelRest);
    await this.#allLives();
    const runs: Told[] = [];
    for (const record of await this.#records()) {
      const definition = this.#definitions.find(({ hash }) => hash === record.definitionHash);
      if (definition === undefined) throw new Error(`no definition of ${record.id}`);
      const journal = await this.#storage.readJournal(record.run, 0, 1_000_000);
      const inbox = await this.#storage.readInbox(record.run, 0);
      const accepted = (this.#accepted.get(record.id) ?? 0) + (await this.#inherited(record));
      const stored = inbox.filter(({ kind }) => kind === 'signal').length;
      if (accepted !== stored) this.#wrong.push(`${record.id} accepted ${accepted} signals and has ${stored}`);
      runs.push({ record, definition, journal, inbox });
    }
    await this.#storage.close();
    return { runs, calls: this.#calls, resumed: this.#resumed, wrong: this.#wrong };
  }

  /** Processes side by side, each followed by another one when it dies, until everything has ended. */
  async #allLives(): Promise<void> {
    let ended = false;
    const finished = this.#allEnded().then(() => void (ended = true));
    let watchdog: NodeJS.Timeout | undefined;
    const hangs = new Promise<void>((resolve) => (watchdog = setTimeout(resolve, longestMs))).then(() => {
      if (!ended) this.#wrong.push(`hangs: nothing comes to rest at ${this.#clock.now() - this.#startedAt}`);
    });
    const over = Promise.race([finished, hangs]);
    const lane = async (deaths: readonly Death[], place: number): Promise<void> => {
      for (const [life, death] of [...deaths, { afterUnits: Number.POSITIVE_INFINITY }].entries()) {
        if (await this.#process(`process ${place}.${life}`, death, over)) break;
      }
    };
    await this.#clock.until(Promise.all(this.#course.deaths.map(lane)));
    clearTimeout(watchdog);
  }

  /** One process, until it dies (false) or everything is over (true). */
  async #process(name: string, death: Death, over: Promise<void>): Promise<boolean> {
    const { storage, died } = mortal(this.#watched(), death);
    const clock = new ProcessClock(this.#clock);
    let alive = true;
    void died.then(() => {
      alive = false;
      clock.stop();
    });
    const engine = createEngine({
      storage,
      definitions: this.#definitions,
      handlers: this.#handlers(() => alive),
      clock,
      concurrency: this.#course.concurrency,
      randomBytes: this.#randomBytes(name),
    });
    engine.onFault((error, id) => {
      if (alive)
        this.#wrong.push(`fault at ${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    });
    await engine.start();
    // Once it has looked around, an engine begins a run with its first unit; before, it is claimed like any other.
    if (draw(`${this.#course.luck}:rest`) < 50) await this.#clock.rest();
    // Who dies meanwhile is answered nothing.
    void engine.enqueue('flow', {}, { key: 'the one' });
    const ended = await Promise.race([over.then(() => true), died.then(() => false)]);
    alive = false;
    // It may still die of what it is about to write, and then never answers.
    if (ended) await Promise.race([engine.stop(), died]);
    return ended;
  }

  /** Names of engines and runs, on which back-offs and formulas hang: a course goes the same way again. */
  #randomBytes(of: string): () => Uint8Array {
    let drawn = 0;
    return () => digest(`${this.#course.luck}:${of}:${(drawn += 1)}`).subarray(0, 16);
  }

  async #allEnded(): Promise<void> {
    for (;;) {
      const records = await this.#records();
      const isQuiet = records.length > 0 && records.every(({ endedAt }) => endedAt !== null);
      if (isQuiet && !(await this.#resumeSome(records))) return;
      if (this.#clock.now() > this.#startedAt + horizonMs) {
        const open = records.filter(({ endedAt }) => endedAt === null);
        for (const { id, workflow, status, dueAt } of open) {
          this.#wrong.push(`${id} (${workflow}) has not ended: ${status}, due ${dueAt}`);
        }
        return;
      }
      await new Promise<void>((resolve) => void this.#clock.setTimer(5000, resolve));
    }
  }

  async #records(): Promise<RunRecord[]> {
    const { runs } = await this.#storage.listRuns({ limit: 1000 });
    return runs.reverse();
  }

  async #act({ what, choice }: Act): Promise<void> {
    const all = await this.#records();
    const open = all.filter(({ endedAt }) => endedAt === null);
    // Now and then also one that has ended, and is to refuse.
    const runs = open.length === 0 || choice % 10 === 0 ? all : open;
    const run = runs[choice % Math.max(1, runs.length)];
    if (run === undefined) return;
    if (what === 'signal') {
      const signals = this.#written.get(run.workflow)?.signals ?? [];
      const name = signals[(choice >> 3) % Math.max(1, signals.length)];
      if (name === undefined) return;
      await this.#outside.signal(run.id, name, { value: (choice >> 6) % 10, choice });
      this.#accepted.set(run.id, (this.#accepted.get(run.id) ?? 0) + 1);
    } else {
      await this.#outside.cancel(run.id, { compensate: what === 'cancel' });
    }
  }

  /** Lets a stuck unwind be, goes on with it or gives it up, at the latest after a few times. */
  async #operate(): Promise<void> {
    for (const { id, status } of await this.#records()) {
      if (status !== 'compensation-stuck') continue;
      const pass = (this.#passes.get(id) ?? 0) + 1;
      this.#passes.set(id, pass);
      const luck = draw(`${this.#course.luck}:operator:${pass}`);
      if (luck < 30) continue;
      await this.#guard(
        pass > 4 || luck > 85 ? this.#outside.abandonCompensation(id) : this.#outside.resumeCompensation(id),
      );
    }
  }

  /** Goes on with some of the runs that have failed, twice at once. Answers whether there is one more run now. */
  async #resumeSome(records: readonly RunRecord[]): Promise<boolean> {
    const before = this.#resumed;
    for (const { id, status, workflow, parentId } of records) {
      if (status !== 'failed' || this.#considered.has(id) || this.#resumed >= mostResumed) continue;
      this.#considered.add(id);
      const isOwn = parentId === null;
      if (draw(`${this.#course.luck}:resume:${workflow}:${this.#considered.size}`) >= (isOwn ? 70 : 20)) continue;
      const tries = await Promise.allSettled([this.#outside.resume(id), this.#outside.resume(id)]);
      const done = tries.filter(({ status }) => status === 'fulfilled').length;
      if (done > 1) this.#wrong.push(`${id} is resumed twice`);
      this.#resumed += done;
      for (const one of tries) if (one.status === 'rejected') await this.#guard(Promise.reject(one.reason as Error));
    }
    return this.#resumed > before;
  }

  /** Signals that a resumed run was handed on, since nobody had taken them. */
  async #inherited({ resumedFrom }: RunRecord): Promise<number> {
    const old = resumedFrom === null ? undefined : await this.#storage.getRun(resumedFrom);
    if (old === undefined) return 0;
    const journal = await this.#storage.readJournal(old.run, 0, 1_000_000);
    const taken = journal.filter(
      ({ kind, payload }) => kind === 'signal-consumed' && payload?.includes('"inboxSeq"') === true,
    );
    return (this.#accepted.get(old.id) ?? 0) + (await this.#inherited(old)) - taken.length;
  }

  async #cancelRest(): Promise<void> {
    for (const { id, endedAt } of await this.#records()) {
      if (endedAt === null) await this.#guard(this.#outside.cancel(id));
    }
  }

  /** What the engine refuses by name is part of the game. */
  async #guard(promise: Promise<unknown>): Promise<void> {
    try {
      await promise;
    } catch (error) {
      if (error instanceof RunsheetError && /^RS_(RUN|SIGNAL)_/.test(error.code)) return;
      this.#wrong.push(`outside: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  #handlers(alive: () => boolean): Handler[] {
    const run = (direction: 'forward' | 'compensate') => (context: HandlerContext<unknown>) =>
      this.#called(context, direction, alive);
    return [
      defineHandler({ name: 'work', run: run('forward') }),
      defineHandler({ name: 'undo', run: run('compensate') }),
    ];
  }

  async #called(context: HandlerContext<unknown>, direction: string, alive: () => boolean): Promise<JsonValue> {
    const { idempotencyKey: key, attempt } = context;
    if (!key.endsWith(`:${direction}`)) this.#wrong.push(`${key} is called ${direction}`);
    // Killed between the commit that begins it and its call.
    if (!alive()) return new Promise<never>(() => {});
    const call = { run: context.run.id, key, attempt, input: context.input as JsonValue };
    this.#requireAlone(call);
    const underWay = { ...call, alive, isRecorded: false };
    this.#underWay.add(underWay);
    this.#record(call);
    try {
      return await this.#behave(context, direction);
    } finally {
      this.#underWay.delete(underWay);
    }
  }

  /**
   * Of one key one call at a time is under way, whatever its run, attempt and process.
   *
   * A handler that goes on does not count any longer when the end of its call is recorded (it took too long, or was
   * awaited in vain after its scope was aborted): what it still does may overlap the next attempt, or the first one of a
   * run that goes on with this run and keeps its keys. Nor does it count when its process is dead. A lease that ran out
   * would be no excuse: living processes renew theirs in time.
   */
  #requireAlone({ run, key, attempt }: Call): void {
    for (const other of this.#underWay) {
      if (other.key !== key || other.isRecorded || !other.alive()) continue;
      this.#wrong.push(`${key}, attempt ${attempt} of ${run}, begins beside attempt ${other.attempt} of ${other.run}`);
    }
  }

  async #behave(context: HandlerContext<unknown>, direction: string): Promise<JsonValue> {
    const { idempotencyKey: key, attempt, step } = context;
    const { workflow } = context.run;
    const conduct = this.#written
      .get(workflow)
      ?.conducts.get(direction === 'forward' ? step.key : `${step.key}:compensate`);
    if (conduct === undefined) throw new Error(`nobody knows how ${step.key} of ${workflow} behaves`);
    if (conduct.takesMs > 0) await this.#take(conduct, context.signal);
    const occurrence = key.slice(key.indexOf(':'));
    // Whoever goes on with a run has mended some of what was broken.
    const mended = this.#resumed;
    const luck = draw(`${this.#course.luck}:${workflow}${occurrence}:${attempt}${mended > 0 ? `:${mended}` : ''}`);
    if (luck < conduct.fails / (1 + mended)) fail(conduct, direction);
    return { by: key, attempt };
  }

  async #take({ takesMs, listens }: Conduct, signal: AbortSignal): Promise<void> {
    let timer: Timer | undefined;
    const time = new Promise<void>((resolve) => (timer = this.#clock.setTimer(takesMs, resolve)));
    if (!listens) return time;
    const told = new Promise<never>((_, reject) => {
      const stop = (): void => reject(Object.assign(new Error('told to end'), { name: 'Broken' }));
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop);
    });
    await Promise.race([time, told]).finally(() => timer?.cancel());
  }

  #record(call: Call): void {
    if (this.#completed.has(call.key)) this.#wrong.push(`${call.key} is called again after it had succeeded`);
    const earlier = this.#calls.find(({ key }) => key === call.key);
    if (earlier !== undefined && !isDeepStrictEqual(earlier.input, call.input)) {
      this.#wrong.push(`${call.key} is repeated with another input`);
    }
    const again = this.#calls.some(
      ({ run, key, attempt }) => run === call.run && key === call.key && attempt === call.attempt,
    );
    if (again && this.#course.deaths.flat().length === 0)
      this.#wrong.push(`${call.key} makes attempt ${call.attempt} twice`);
    this.#calls.push(call);
  }

  async #lag(): Promise<void> {
    const { lagMs, luck } = this.#course;
    if (lagMs === 0) return;
    const ms = draw(`${luck}:lag:${(this.#lags += 1)}`) % (lagMs + 1);
    await new Promise<void>((resolve) => void this.#clock.setTimer(ms, resolve));
  }

  #watched(): Storage {
    const storage: Storage = this.#storage;
    const commitUnits: Storage['commitUnits'] = async (units, options) => {
      const results = await storage.commitUnits(units, options);
      for (const [index, { run, entries }] of units.entries()) {
        if (results[index] !== 'committed') continue;
        for (const { kind, step, occurrence } of entries) {
          const [, what, how] = /^(step|compensation)-(completed|failed)$/.exec(kind) ?? [];
          if (what === undefined) continue;
          const end = `:${step}#${occurrence}:${what === 'step' ? 'forward' : 'compensate'}`;
          const isIts = ({ run: id, key }: Call): boolean => id === this.#ids.get(run) && key.endsWith(end);
          for (const call of this.#underWay) if (isIts(call)) call.isRecorded = true;
          const call = this.#calls.findLast(isIts);
          if (how === 'completed' && call !== undefined) this.#completed.add(call.key);
        }
      }
      await this.#lag();
      return results;
    };
    const claimRuns: Storage['claimRuns'] = async (claim) => {
      // Who comes first is not always the same one.
      await this.#lag();
      const claimed = await storage.claimRuns(claim);
      for (const { run, id } of claimed) this.#ids.set(run, id);
      return claimed;
    };
    const startRun: Storage['startRun'] = async (...args) => {
      const started = await storage.startRun(...args);
      const { claimed } = started;
      if (claimed !== undefined) this.#ids.set(claimed.run, claimed.id);
      await this.#lag();
      return started;
    };
    const readInbox: Storage['readInbox'] = async (...args) => {
      const messages = await storage.readInbox(...args);
      await this.#lag();
      return messages;
    };
    const getRun: Storage['getRun'] = async (...args) => {
      await this.#lag();
      const record = await storage.getRun(...args);
      await this.#lag();
      return record;
    };
    const changed: Partial<Storage> = { commitUnits, claimRuns, startRun, readInbox, getRun };
    return new Proxy<Storage>(storage, {
      get(target, property) {
        if (property in changed) return changed[property as keyof Storage];
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }
}

/** From 0 to 99, by the text alone. */
function draw(text: string): number {
  return digest(text).readUInt32LE(0) % 100;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function fail({ how }: Conduct, direction: string): never {
  const message = `${direction} goes wrong`;
  switch (how) {
    case 'plain':
      throw Object.assign(new Error(message), { name: 'Broken' });
    case 'excepted':
      throw Object.assign(new Error(message), { name: 'Excepted' });
    case 'final':
      throw new NonRetryableError(message);
    case 'no-effect':
      throw new NoEffectError(message);
  }
}
