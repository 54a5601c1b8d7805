import type { RunEvent } from '../engine/index.js';
import { type Io, wantsColor } from './io.js';
import { durationText, oneLine, placeText, timeText } from './text.js';
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
      this.#line(event.at, 'turns', 2, this.#run === undefined ? `${at}  ${run}` : at, text);
    }
    if (isFolded) return;
    const [what, color, detail] = this.#describe(event, startedAt);
    const about = this.#run === undefined && detail !== event.run ? `${place}  ${event.run}` : place;
    this.#line(event.at, what, color, about, detail);
  }

  #line(at: number, what: string, color: number, about: string, detail: string): void {
    const time = new Date(at).toISOString().slice(11, 23);
    const word = what.padEnd(9);
    const rest = detail === '' ? '' : `  ${oneLine(detail)}`;
    const line = hanging(`${time}  ${word}  ${about}${rest}`, columnsOf(this.#io, 'err'), 14);
    this.#io.err(`${this.#color ? line.replace(word, `\u001b[${color}m${word}\u001b[0m`) : line}\n`);
  }

  /** Something about what was just told. */
  note(text: string): void {
    this.#io.err(`${hanging(`${' '.repeat(14)}${text}`, columnsOf(this.#io, 'err'), 14)}\n`);
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

  #describe(event: RunEvent, startedAt: number | undefined): [what: string, color: number, detail: string] {
    const { error, dueAt } = event;
    const reason = error === undefined ? '' : `${error.name}: ${error.message}`;
    switch (event.type) {
      case 'workflow:started':
        return ['started', 1, event.run];
      case 'workflow:sleeping':
        return ['sleeping', 36, untilText(dueAt)];
      case 'workflow:waiting':
        return ['waiting', 36, untilText(dueAt)];
      case 'workflow:compensating':
        return ['undoing', 33, ''];
      case 'workflow:cancelled':
        return ['cancelled', 33, reason];
      case 'workflow:completed':
        return ['completed', 32, ''];
      case 'workflow:failed':
        return ['failed', 31, reason];
      case 'step:started':
        return ['started', 2, (event.attempt ?? 1) > 1 ? `attempt ${event.attempt}` : ''];
      case 'step:completed':
        return ['completed', 32, startedAt === undefined ? '' : durationText(event.at - startedAt)];
      case 'step:failed':
        return ['failed', 31, reason];
      case 'step:retry':
        return [
          'retrying',
          33,
          `${reason}${typeof dueAt === 'number' ? `; again in ${durationText(dueAt - event.at)}` : ''}`,
        ];
      case 'step:skipped':
        return ['skipped', 2, ''];
      case 'signal:received':
        return ['signal', 32, ''];
      case 'signal:timeout':
        return ['timed out', 33, ''];
      case 'compensation:started':
        return ['undoing', 33, (event.attempt ?? 1) > 1 ? `attempt ${event.attempt}` : ''];
      case 'compensation:completed':
        return ['undone', 33, ''];
      case 'compensation:failed':
        return ['stuck', 31, reason];
      case 'compensation:skipped':
        return ['kept', 33, ''];
    }
  }
}

function untilText(dueAt: number | null | undefined): string {
  return typeof dueAt === 'number' ? `until ${timeText(dueAt)}` : '';
}
