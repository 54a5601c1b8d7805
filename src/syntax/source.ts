/** A half-open span `[start, end)` of UTF-16 offsets into a source text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** 1-based line and column; columns count UTF-16 units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A text with a name, able to turn offsets into lines and columns. */
export class Source {
  readonly #lineStarts: number[];

  constructor(
    /** What messages call it: a path, or `<stdin>`. */
    readonly name: string,
    readonly text: string,
  ) {
    this.#lineStarts = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1);
  }

  position(offset: number): Position {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lineStart(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#lineStart(low) + 1 };
  }

  /** The text of a 1-based line, without its line break. */
  line(line: number): string {
    const start = this.#lineStart(line - 1);
    const end = line < this.#lineStarts.length ? this.#lineStart(line) - 1 : this.text.length;
    return this.text.slice(start, end).replace(/\r$/, '');
  }

  #lineStart(index: number): number {
    return this.#lineStarts[index] ?? this.text.length;
  }
}
