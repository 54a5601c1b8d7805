import { RunsheetError } from '../common/index.js';
import { type Engine, type Run, type RunEvent, readHistory } from '../engine/index.js';
import type { RunRecord, Storage } from '../storage/index.js';
import { exitCodes } from './exit-codes.js';
import { familyOf } from './find-run.js';
import type { Io } from './io.js';
import { keepAlive } from './keep-alive.js';
import { type Given, answerCommands } from './next-commands.js';
import type { LiveDisplay } from './live/live-display.js';
import { Progress } from './progress.js';
import { waitsFor } from './show/waits-text.js';
import { columnsOf, hanging, say } from './terminal-text.js';
import { oneLine, shortHash, timeText } from './text.js';

/** Why a command stops driving a run. */
export type Ending = 'over' | 'suspended' | 'time-limit' | 'interrupted';

export interface DriveOptions {
  /** Let the run go after so long. */
  readonly timeoutMs: number | undefined;
  /** Drive it to its end; else let it go as soon as neither it nor what it owns can go on by itself. */
  readonly wait: boolean;
  /** Definitions that the engine can drive. */
  readonly hashes: ReadonlySet<string>;
  readonly given: Given;
}

/** With --no-wait, how often a run is looked at of which nothing is heard: others may be at it. */
const lookEveryMs = 1000;

/** Drives a run, and those that it owns, and tells what happens in them. */
export class RunDrive {
  readonly #engine: Engine;
  readonly #storage: Storage;
  readonly #id: string;
  readonly #options: DriveOptions;
  readonly #io: Io;
  readonly #progress: Progress;
  /** On a terminal, instead of lines. */
  #live: LiveDisplay | undefined;
  readonly #cleanUp: (() => void)[] = [];
  /** Reads for what is told one after the other, so that lines stand in the order of what they tell. */
  #telling: Promise<void> = Promise.resolve();
  /** By run: how often it has come to wait, and what was last said to move it on. */
  readonly #waits = new Map<string, number>();
  readonly #advised = new Map<string, string>();

  constructor(engine: Engine, storage: Storage, id: string, options: DriveOptions, io: Io) {
    this.#engine = engine;
    this.#storage = storage;
    this.#id = id;
    this.#options = options;
    this.#io = io;
    this.#progress = new Progress(io, id);
  }

  /** @throws whatever keeps the engine from driving it */
  async toEnding(): Promise<{ run: Run; ending: Ending }> {
    this.#live = await this.#newDisplay();
    const racers = [
      this.#over(),
      this.#faulted(),
      this.#interrupted(),
      ...(this.#options.wait ? [] : [this.#atRest()]),
    ];
    this.#cleanUp.push(
      keepAlive(this.#io.clock),
      this.#engine.subscribe((event) => this.#tell(event)),
    );
    // Lost races end with the engine; what they then say is of no interest any more.
    for (const racer of racers) racer.catch(() => {});
    try {
      await this.#engine.start({ only: this.#id });
      if ((await this.#engine.tick()) === 0) await this.#sayWhyNot();
      const ending = await Promise.race(racers);
      if (ending !== 'over') await this.#engine.stop();
      await this.#telling;
      await this.#live?.end();
      const run = await this.#engine.getRun(this.#id);
      return { run, ending: run.endedAt === null ? ending : 'over' };
    } finally {
      for (const end of this.#cleanUp) end();
      // Where something failed, that is what is to be seen.
      await this.#live?.end().catch(() => {});
    }
  }

  async #newDisplay(): Promise<LiveDisplay | undefined> {
    const { LiveDisplay: Display, canDrawLive } = await import('./live/live-display.js');
    const record = canDrawLive(this.#io) ? await this.#storage.getRun(this.#id) : undefined;
    if (record === undefined) return undefined;
    return new Display(this.#storage, record, this.#options.given, this.#io);
  }

  #say(text: string): void {
    if (this.#live === undefined) say(this.#io, text);
    else this.#live.say(`${hanging(oneLine(text), columnsOf(this.#io, 'err'), 2)}\n`);
  }

  async #over(): Promise<Ending> {
    const { timeoutMs } = this.#options;
    try {
      await this.#engine.result(this.#id, timeoutMs === undefined ? {} : { timeoutMs });
      return 'over';
    } catch (error) {
      if (error instanceof RunsheetError && error.code === 'RS_RESULT_TIMEOUT') return 'time-limit';
      throw error;
    }
  }

  #faulted(): Promise<never> {
    return new Promise((_resolve, reject) => {
      this.#cleanUp.push(this.#engine.onFault((error) => reject(error as Error)));
    });
  }

  #interrupted(): Promise<Ending> {
    return new Promise((resolve) => {
      let times = 0;
      const listener = (): void => {
        times += 1;
        if (times > 1) return this.#io.exit(exitCodes.interrupted);
        const stopping = 'stopping once the running steps have ended; Ctrl-C again stops at once';
        if (this.#live === undefined) say(this.#io, stopping);
        else this.#live.notify(stopping);
        resolve('interrupted');
      };
      this.#cleanUp.push(this.#io.onInterrupt(listener));
    });
  }

  /** Resolves once the run, and what it owns, waits for something that only time or others can bring. */
  async #atRest(): Promise<Ending> {
    let look = (): void => {};
    let ended = false;
    const { clock } = this.#io;
    this.#cleanUp.push(
      this.#engine.subscribe(({ type }) => type.startsWith('workflow:') && look()),
      this.#storage.onForeignChange(() => look()),
      () => {
        ended = true;
        look();
      },
    );
    for (;;) {
      const changed = new Promise<void>((resolve) => (look = resolve));
      if (ended || (await this.#isAtRest())) return 'suspended';
      const timer = clock.setTimer(lookEveryMs, () => look());
      await changed;
      timer.cancel();
    }
  }

  async #isAtRest(): Promise<boolean> {
    const record = await this.#storage.getRun(this.#id);
    if (record === undefined) return true;
    const now = this.#io.clock.now();
    return (await familyOf(this.#storage, record)).every(
      ({ endedAt, owner, dueAt, definitionHash }) =>
        endedAt !== null ||
        (owner === null && (dueAt === null || dueAt > now || !this.#options.hashes.has(definitionHash))),
    );
  }

  #tell(event: RunEvent): void {
    if (this.#live !== undefined) return this.#live.changed();
    const { type, run } = event;
    const waits = (this.#waits.get(run) ?? 0) + (type === 'workflow:waiting' ? 1 : 0);
    this.#waits.set(run, waits);
    this.#inOrder(async () => {
      this.#progress.tell(event);
      // One that waits for many children waits many times, and its journal is read only when there is time for it.
      // One that is let go says so in the end.
      if (this.#options.wait && type === 'workflow:waiting' && waits === this.#waits.get(run))
        await this.#sayAnswers(run);
    });
  }

  #inOrder(tell: () => Promise<void>): void {
    this.#telling = this.#telling.then(tell).catch((error: unknown) => {
      say(this.#io, `what happens cannot be reported: ${String(error)}`);
    });
  }

  /** What a run is doing that nobody drives; where its undoing is stuck, why. */
  async #stateText(record: RunRecord): Promise<string> {
    const state = `${record.id} is ${record.status}${untilText(record)}`;
    if (record.status !== 'compensation-stuck') return state;
    const waits = waitsFor(await readHistory(this.#storage, record), this.#io.clock.now());
    return `${state} and waits for ${waits.join('; ')}`;
  }

  async #sayAnswers(id: string): Promise<void> {
    const record = await this.#storage.getRun(id);
    if (record === undefined) return;
    const history = await readHistory(this.#storage, record);
    const commands = answerCommands(history, this.#options.given);
    const advice = commands.join('\n');
    if (advice !== this.#advised.get(id)) {
      if (commands.length > 0 && history.run.status === 'compensation-stuck') this.#progress.note(operatorNote);
      this.#progress.advise(commands);
    }
    this.#advised.set(id, advice);
  }

  /** Of a run of which nothing could be claimed: what it waits for. */
  async #sayWhyNot(): Promise<void> {
    const record = await this.#storage.getRun(this.#id);
    if (record === undefined || record.endedAt !== null) return;
    const family = await familyOf(this.#storage, record);
    for (const member of family) {
      if (member.endedAt !== null || isAskedFor(member, family)) continue;
      this.#inOrder(async () => {
        if (member.owner !== null) this.#say(`${member.id} is driven by another process; waiting for its end`);
        else if (!this.#options.hashes.has(member.definitionHash)) this.#say(otherContent(member));
        else if (this.#options.wait && this.#live === undefined) {
          say(this.#io, await this.#stateText(member));
          await this.#sayAnswers(member.id);
        }
      });
    }
    await this.#telling;
  }
}

/** Nobody but an operator moves such a run on, and that may be said in any other terminal. */
const operatorNote = 'it waits here until one of these commands decides, from anywhere; Ctrl-C lets it go';

/** A stuck child makes its parent stuck, and what the parent is told is passed on to it. */
function isAskedFor({ status, parentId }: RunRecord, family: readonly RunRecord[]): boolean {
  const stuck = 'compensation-stuck';
  return status === stuck && family.some((other) => other.id === parentId && other.status === stuck);
}

function untilText({ dueAt }: RunRecord): string {
  return dueAt === null ? '' : ` until ${timeText(dueAt)}`;
}

function otherContent({ id, workflow, revision, definitionHash }: RunRecord): string {
  return `${id} is of another content of ${workflow} (revision ${revision}, hash ${shortHash(definitionHash)}) and cannot be driven here`;
}
