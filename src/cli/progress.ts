import { type Color, errorText, instantText, paint } from '../common/index.js';
import type { RunEvent } from '../engine/index.js';
import { type Io, wantsColor } from './io.js';
import { durationText, oneLine, placeText, shortId, timeText } from './text.js';
import { columnsOf, commandLines, hanging } from './terminal-text.js';
import { TurnFolder } from './turn-folder.js';

/** A line on stderr for each thing that happens in runs, as it happens; of long loops the first turns, then counts. */
export class Progress {
  readonly #io: Io;
  readonly #color: boolean;
  readonly #run: string | undefined;
  readonly #startedAt = new Map<string, number>();
  readonly #folder = new TurnFolder();

  /** @param run id of the one whose items need no more than their name; without it, each line names its run */
  constructor(io: Io, run?: string) {
    this.#io = io;
    this.#run = run;
    this.#color = wantsColor(io, io.errIsTerminal);
  }

  tell(event: RunEvent): void {
    const place = this.#placeOf(event);
    const started = `${event.run} ${place}`;
    const startedAt = this.#startedAt.get(started);
    if (event.type === 'step:started') this.#startedAt.set(started, event.at);
    else this.#startedAt.delete(started);
    const isFolded = this.#folder.folds(event);
    for (const { run, workflow, step, text } of this.#folder.news(event.at, !isFolded)) {
      const at = this.#placeOf({ ...event, run, workflow, step, occurrence: null });
      this.#line(event.at, 'turns', 'faint', `${at}${this.#runOf(run)}`, text);
    }
    if (isFolded) return;
    const [what, color, detail] = this.#describe(event, startedAt);
    const about = detail === event.run ? place : `${place}${this.#runOf(event.run)}`;
    this.#line(event.at, what, color, about, detail);
  }

  /** Of the run that the command is about, nothing; of its children as much of the id as tells them apart. */
  #runOf(run: string): string {
    if (this.#run === undefined) return `  ${run}`;
    return run === this.#run ? '' : `  ${shortId(run)}`;
  }

  #line(at: number, what: string, color: Color, about: string, detail: string): void {
    const time = instantText(at).slice(11, 23);
    const word = what.padEnd(9);
    const rest = detail === '' ? '' : `  ${detail}`;
    const line = hanging(oneLine(`${time}  ${word}  ${about}${rest}`), columnsOf(this.#io, 'err'), 14);
    this.#io.err(`${this.#color ? line.replace(word, paint(word, color)) : line}\n`);
  }

  /** Something about what was just told. */
  note(text: string): void {
    this.#io.err(`${hanging(`${' '.repeat(14)}${oneLine(text)}`, columnsOf(this.#io, 'err'), 14)}\n`);
  }

  /** Commands that would move on what was just told. */
  advise(commands: readonly string[]): void {
    const columns = columnsOf(this.#io, 'err');
    for (const line of commands.flatMap((command) => commandLines(command, columns, 14))) this.#io.err(`${line}\n`);
  }

  /** `book-shipment/label` in a run that this one owns. */
  #placeOf({ run, workflow, step, occurrence }: RunEvent): string {
    if (step === null) return workflow;
    const place = placeText(step, occurrence);
    return run === this.#run ? place : `${workflow}/${place}`;
  }

  #describe(event: RunEvent, startedAt: number | undefined): [what: string, color: Color, detail: string] {
    const { error, dueAt } = event;
    const reason = error === undefined ? '' : errorText(error);
    switch (event.type) {
      case 'workflow:started':
        return ['started', 'bold', event.run];
      case 'workflow:sleeping':
        return ['sleeping', 'cyan', untilText(dueAt)];
      case 'workflow:waiting':
        return ['waiting', 'cyan', untilText(dueAt)];
      case 'workflow:compensating':
        return ['undoing', 'yellow', ''];
      case 'workflow:cancelled':
        return ['cancelled', 'yellow', reason];
      case 'workflow:completed':
        return ['completed', 'green', ''];
      case 'workflow:failed':
        return ['failed', 'red', reason];
      case 'step:started':
        return ['started', 'faint', (event.attempt ?? 1) > 1 ? `attempt ${event.attempt}` : ''];
      case 'step:completed':
        return ['completed', 'green', startedAt === undefined ? '' : durationText(event.at - startedAt)];
      case 'step:failed':
        return ['failed', 'red', reason];
      case 'step:retry':
        return [
          'retrying',
          'yellow',
          `${reason}${typeof dueAt === 'number' ? `; again in ${durationText(dueAt - event.at)}` : ''}`,
        ];
      case 'step:skipped':
        return ['skipped', 'faint', ''];
      case 'signal:received':
        return ['signal', 'green', ''];
      case 'signal:timeout':
        return ['timed out', 'yellow', ''];
      case 'compensation:started':
        return ['undoing', 'yellow', (event.attempt ?? 1) > 1 ? `attempt ${event.attempt}` : ''];
      case 'compensation:completed':
        return ['undone', 'yellow', ''];
      case 'compensation:failed':
        return ['stuck', 'red', reason];
      case 'compensation:skipped':
        return ['kept', 'yellow', ''];
    }
  }
}

function untilText(dueAt: number | null | undefined): string {
  return typeof dueAt === 'number' ? `until ${timeText(dueAt)}` : '';
}
