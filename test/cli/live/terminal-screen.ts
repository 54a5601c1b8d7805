import { cellsOf } from '../../../src/common/index.js';

/** As much of a terminal as is needed to see what is on it in the end: lines, the cursor, erasing. */
export class TerminalScreen {
  readonly columns: number;
  #lines: string[][] = [[]];
  #line = 0;
  #column = 0;
  isCursorShown = true;
  written = 0;

  constructor(columns: number) {
    this.columns = columns;
  }

  get text(): string {
    return this.#lines.map((line) => line.join('').trimEnd()).join('\n');
  }

  write(text: string): void {
    this.written += text.length;

    for (const [piece = ''] of text.matchAll(/\u001b\[[?\d;]*[A-Za-z]|\r|\n|[^\u001b\r\n]+/g)) this.#take(piece);
  }

  #take(piece: string): void {
    const escape = piece.startsWith('\u001b') ? piece.slice(2) : undefined;
    if (piece === '\r') this.#column = 0;
    else if (piece === '\n') this.#down();
    else if (escape === undefined) for (const { text, width } of cellsOf(piece)) this.#put(text, width);
    else if (/^\d*A$/.test(escape)) this.#line = Math.max(0, this.#line - Number(escape.slice(0, -1) || 1));
    else if (escape === 'K') this.#current().splice(this.#column);
    else if (escape === 'J') {
      this.#current().splice(this.#column);
      this.#lines.splice(this.#line + 1);
    } else if (escape === '?25l') this.isCursorShown = false;
    else if (escape === '?25h') this.isCursorShown = true;
    else if (!/^[\d;]*m$/.test(escape)) throw new Error(`a terminal may not know ${JSON.stringify(piece)}`);
  }

  #put(character: string, width: number): void {
    if (this.#column + width > this.columns) this.#down();
    const line = this.#current();
    while (line.length < this.#column) line.push(' ');
    line.splice(this.#column, width, character, ...Array.from({ length: width - 1 }, () => ''));
    this.#column += width;
  }

  #down(): void {
    this.#line += 1;
    this.#column = 0;
    if (this.#lines[this.#line] === undefined) this.#lines.push([]);
  }

  #current(): string[] {
    return this.#lines[this.#line] ?? [];
  }
}
