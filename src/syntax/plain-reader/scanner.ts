import { giveUp } from './not-plain.js';

/** A place in a text that moves on. Knows of the text only spaces, line breaks and comments; tabs are not plain. */
export class Scanner {
  at = 0;
  /** Where the line begins that was entered last. */
  lineStart = 0;

  constructor(readonly text: string) {}

  /** Undefined at the end of the text. */
  get character(): string | undefined {
    return this.text[this.at];
  }

  /** 0-based. */
  get column(): number {
    return this.at - this.lineStart;
  }

  skipSpaces(): void {
    while (this.text[this.at] === ' ') this.at += 1;
  }

  /** Nothing stands here but, perhaps, a comment. */
  isAtLineEnd(): boolean {
    const { character } = this;
    return character === undefined || character === '\n' || this.isAtComment();
  }

  isAtComment(): boolean {
    return this.character === '#' && isBlank(this.text[this.at - 1]);
  }

  /** Goes on to the next line. Returns whether there was a comment. */
  skipLineEnd(): boolean {
    const isComment = this.isAtComment();
    if (isComment) {
      // Behind an unquoted formula this is a mistake.
      if (this.text[this.at + 1] === '$') giveUp();
      const end = this.text.indexOf('\n', this.at);
      this.at = end < 0 ? this.text.length : end;
    }
    if (this.character === '\n') this.at += 1;
    else if (this.character !== undefined) giveUp();
    this.lineStart = this.at;
    return isComment;
  }

  /** An indicator such as `:` or `-` stands here, which words do not go on from. */
  isAtIndicator(indicator: string): boolean {
    return this.character === indicator && isBlank(this.text[this.at + 1]);
  }
}

/** Also the end and the beginning of a text. */
export function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\n' || character === undefined;
}
