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
  /**
   * Reads bytes as UTF-8, without a byte order mark. Bytes that are no UTF-8 become U+FFFD and the
   * first such place is kept in `undecodableAt`, which `parseDocument` reports.
   */
  static fromBytes(name: string, bytes: Uint8Array): Source {
    const text = new TextDecoder('utf-8').decode(bytes);
    return new Source(name, text, firstUndecodable(text, bytes));
  }

  /** A file that cannot be read, and why; `parseDocument` reports it. */
  static unreadable(name: string, reason: string): Source {
    return new Source(name, '', undefined, reason);
  }

  readonly #lineStarts: number[];

  constructor(
    /** What messages call it: a path, or `<stdin>`. */
    readonly name: string,
    readonly text: string,
    /** Offset of the first character that stands for bytes which are no UTF-8. */
    readonly undecodableAt?: number,
    /** Why the file could not be read. */
    readonly unreadable?: string,
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

/** A U+FFFD of the text is genuine only if the bytes hold its encoding at that place. */
function firstUndecodable(text: string, bytes: Uint8Array): number | undefined {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let offset = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code === 0xfffd && !(bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd)) return offset;
    at += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    offset += character.length;
  }
  return undefined;
}
