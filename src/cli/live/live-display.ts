import type { RunRecord, Storage } from '../../storage/index.js';
import { HistoryReader } from '../../engine/index.js';
import type { Io } from '../io.js';
import { type Given, answerCommands } from '../next-commands.js';
import { LiveReader } from './live-reader.js';
import { type LiveRun, renderLive } from './live-view.js';
import { Region } from './region.js';

/** Ten frames a second while something runs; else the times that are left are enough. */
const quickMs = 100;
const slowMs = 1000;
/** Reading may take so much of the time: a run of many turns is looked at less often. */
const shareOfTime = 0.1;
/** More commands than these would leave no room for the run. */
const mostAdvice = 4;

/** Whether stderr is a terminal on which lines can be drawn anew, and nobody has asked for plain ones. */
export function canDrawLive(io: Io): boolean {
  return io.errIsTerminal && io.env.TERM !== 'dumb' && (io.env.NO_COLOR ?? '') === '';
}

/** Shows a run on the terminal, drawn anew in place, until told to end. */
export class LiveDisplay {
  readonly #io: Io;
  readonly #given: Given;
  readonly #reader: LiveReader;
  readonly #region: Region;
  #run: LiveRun | undefined;
  #notice: string | undefined;
  #hasNews = true;
  #ended = false;
  #wake = (): void => {};
  readonly #deaf: () => void;
  readonly #shown: Promise<void>;

  constructor(storage: Storage, record: RunRecord, given: Given, io: Io) {
    this.#io = io;
    this.#given = given;
    this.#reader = new LiveReader(storage, record, (...about) => new HistoryReader(...about));
    this.#region = new Region(io);
    this.#deaf = storage.onForeignChange(() => this.changed());
    this.#shown = this.#show();
    this.#shown.catch(() => {});
  }

  /** Something has happened in the run, or may have. */
  changed(): void {
    this.#hasNews = true;
  }

  /** A line below the run, as long as it is shown. */
  notify(text: string): void {
    this.#notice = text;
    this.#wake();
  }

  /** Lines above the run, for good. */
  say(text: string): void {
    this.#region.above(text);
  }

  /** Draws the run as it is now, and leaves it there. @throws whatever reading it threw */
  async end(): Promise<void> {
    this.#ended = true;
    this.#notice = undefined;
    this.#wake();
    await this.#shown;
  }

  async #show(): Promise<void> {
    try {
      while (!this.#ended) {
        const tookMs = await this.#look();
        this.#draw();
        await this.#pause(Math.max(this.#isBusy() ? quickMs : slowMs, tookMs / shareOfTime));
      }
      this.#hasNews = true;
      await this.#look();
      this.#draw();
    } finally {
      this.#deaf();
      this.#region.end();
    }
  }

  /** @returns how long it took */
  async #look(): Promise<number> {
    if (!this.#hasNews && this.#run !== undefined) return 0;
    this.#hasNews = false;
    const { clock } = this.#io;
    const before = clock.monotonic();
    this.#run = await this.#reader.read();
    return clock.monotonic() - before;
  }

  #draw(): void {
    if (this.#run === undefined) return;
    const { columns, rows } = this.#io.terminalSize();
    const advice = this.#ended ? [] : adviceFor(this.#run, this.#given).slice(0, mostAdvice);
    const notice = this.#notice ?? (advice.length > 0 && isStuck(this.#run) ? operatorNotice : undefined);
    const view = { run: this.#run, advice, ...(notice !== undefined && { notice }) };
    // The cursor stands on a line of its own.
    this.#region.draw(renderLive(view, this.#io.clock.now(), { columns, rows: rows - 1, color: true }));
  }

  #isBusy(): boolean {
    return this.#hasNews || this.#run?.history.steps.some(({ state }) => state === 'running') === true;
  }

  async #pause(ms: number): Promise<void> {
    if (this.#ended) return;
    await new Promise<void>((resolve) => {
      const timer = this.#io.clock.setTimer(ms, resolve, { keepAlive: false });
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}

const operatorNotice = 'it waits until one of these commands decides, from anywhere';

function isStuck({ history, children }: LiveRun): boolean {
  return history.run.status === 'compensation-stuck' || [...children.values()].some(isStuck);
}

function adviceFor({ history, children }: LiveRun, given: Given): string[] {
  if (history.run.endedAt !== null) return [];
  return [...answerCommands(history, given), ...[...children.values()].flatMap((child) => adviceFor(child, given))];
}
