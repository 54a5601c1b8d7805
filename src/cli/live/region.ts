import { widthOf } from '../../common/index.js';
import type { Io } from '../io.js';

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const eraseLine = '\u001b[K';
const eraseBelow = '\u001b[J';

/** The last lines of a terminal, which are drawn anew in place. What else is written goes above them. */
export class Region {
  readonly #io: Io;
  #lines: readonly string[] = [];
  /** What others have written of a line that is not complete. */
  #rest = '';
  #endings: (() => void)[] | undefined;

  constructor(io: Io) {
    this.#io = io;
  }

  draw(lines: readonly string[]): void {
    const isSame = lines.length === this.#lines.length && lines.every((line, at) => line === this.#lines[at]);
    if (this.#endings === undefined || !isSame) this.#write('', lines);
  }

  /** Writes above the region, for good; what does not end in a line break waits for it. */
  above(text: string): void {
    const whole = `${this.#rest}${text}`;
    const end = whole.lastIndexOf('\n') + 1;
    this.#rest = whole.slice(end);
    if (end > 0) this.#write(whole.slice(0, end).replace(/\r?\n/g, `${eraseLine}\n`), this.#lines);
  }

  /** Leaves the lines where they are and the cursor below them. */
  end(): void {
    if (this.#endings === undefined) return;
    for (const end of this.#endings) end();
    this.#endings = undefined;
    this.#lines = [];
    this.#io.draw(`${showCursor}${this.#rest}`);
    this.#rest = '';
  }

  /** In one piece, so that nobody sees half of it. The cursor stays at the beginning of the line below the region. */
  #write(before: string, lines: readonly string[]): void {
    const opening = this.#endings === undefined ? hideCursor : '';
    // However the process ends, the terminal gets its cursor back.
    this.#endings ??= [this.#io.onExit(() => this.end()), this.#io.divertOutput((text) => this.above(text))];
    const height = this.#height();
    const up = height === 0 ? '' : `\u001b[${height}A`;
    this.#io.draw(`${opening}${up}\r${before}${lines.map((line) => `${line}${eraseLine}\n`).join('')}${eraseBelow}`);
    this.#lines = lines;
  }

  /** Lines on the screen: where it has become narrower since they were drawn, they are broken by now. */
  #height(): number {
    const { columns } = this.#io.terminalSize();
    return this.#lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(visibleWidth(line) / columns)), 0);
  }
}

function visibleWidth(line: string): number {
  return widthOf(line.replace(/\u001b\[[\d;]*m/g, ''));
}
