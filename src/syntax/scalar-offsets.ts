/** A scalar as it stands in the source, at `offset`. */
export type WrittenScalar =
  | { readonly style: 'plain' | 'single' | 'double'; readonly source: string; readonly offset: number }
  | {
      readonly style: 'literal' | 'folded';
      /** `|`, `>-`, `|2+` … */
      readonly header: string;
      /** The lines below the header, the line break of the last one included. */
      readonly source: string;
      readonly offset: number;
      /** Of the collection around it. */
      readonly indent: number;
    };

type WrittenBlock = Extract<WrittenScalar, { readonly indent: number }>;

/**
 * Where each character of a scalar's value stands in the source: `offsets[i]` for character `i`,
 * and one more for the end.
 */
export interface Replay {
  readonly text: string;
  readonly offsets: readonly number[];
}

/** Collects a value together with the place of each of its UTF-16 units. */
class Tape {
  readonly offsets: number[] = [];
  text = '';

  /** Text that came from one place as a whole: an escape, a fold. */
  put(text: string, offset: number): void {
    this.text += text;
    for (let index = 0; index < text.length; index += 1) this.offsets.push(offset);
  }

  /** Text that stands in the source as it is. */
  copy(text: string, offset: number): void {
    this.text += text;
    for (let index = 0; index < text.length; index += 1) this.offsets.push(offset + index);
  }

  ended(offset: number): Replay {
    this.offsets.push(offset);
    return this;
  }
}

/**
 * Reads a scalar's source once more, as the YAML library does, remembering where each character
 * came from. Who has the library's value compares `text` with it and trusts the offsets only if they agree.
 */
export function replayScalar(written: WrittenScalar): Replay {
  switch (written.style) {
    case 'plain':
      return replayPlain(written.source, written.offset);
    case 'single':
      return replaySingleQuoted(written.source, written.offset);
    case 'double':
      return replayDoubleQuoted(written.source, written.offset);
    case 'literal':
    case 'folded':
      return replayBlock(written);
  }
}

interface Line {
  readonly text: string;
  /** Of its first character, in the source. */
  readonly offset: number;
  /** Of the line break that ends it. */
  readonly breakAt: number;
}

function linesOf(source: string, offset: number): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (;;) {
    const newline = source.indexOf('\n', start);
    const last = newline < 0 ? source.length : newline;
    // A file may end in the middle of a CRLF: the library takes the half for a whole.
    const end = last > start && source[last - 1] === '\r' ? last - 1 : last;
    lines.push({ text: source.slice(start, end), offset: offset + start, breakAt: offset + end });
    if (newline < 0) return lines;
    start = newline + 1;
  }
}

function replayPlain(source: string, offset: number): Replay {
  const tape = new Tape();
  unfold(source, offset, (text, at) => tape.copy(text, at), tape);
  return tape.ended(offset + source.length);
}

function replaySingleQuoted(source: string, offset: number): Replay {
  const tape = new Tape();
  unfold(
    source.slice(1, -1),
    offset + 1,
    (text, at) => {
      for (let index = 0; index < text.length; index += 1) {
        tape.copy(text[index] ?? '', at + index);
        if (text.startsWith("''", index)) index += 1;
      }
    },
    tape,
  );
  return tape.ended(offset + source.length - 1);
}

/**
 * Line folding of plain and single-quoted scalars: a break becomes a space, `n` breaks become
 * `n - 1` line feeds, and blanks around breaks vanish.
 */
function unfold(source: string, offset: number, copy: (text: string, at: number) => void, tape: Tape): void {
  const lines = linesOf(source, offset);
  const last = lines.length - 1;
  let fold: { text: string; offset: number } | undefined;
  lines.forEach((line, number) => {
    let start = 0;
    let end = line.text.length;
    if (number > 0) while (start < end && isBlank(line.text[start])) start += 1;
    if (number < last) while (end > start && isBlank(line.text[end - 1])) end -= 1;
    const text = line.text.slice(start, end);
    if (number === 0) {
      copy(text, line.offset + start);
      fold = { text: ' ', offset: line.breakAt };
      return;
    }
    if (fold !== undefined && text === '' && number < last) {
      if (fold.text === '\n') tape.put('\n', fold.offset);
      fold = { text: '\n', offset: line.breakAt };
      return;
    }
    if (fold !== undefined) tape.put(fold.text, fold.offset);
    copy(text, line.offset + start);
    fold = { text: ' ', offset: line.breakAt };
  });
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  N: '\u0085',
  _: '\u00a0',
  L: '\u2028',
  P: '\u2029',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  '\t': '\t',
};

const codeLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

function replayDoubleQuoted(source: string, offset: number): Replay {
  const tape = new Tape();
  const end = source.length - 1;
  let at = 1;
  while (at < end) {
    const rest = /^[ \t]*(\r?\n)/.exec(source.slice(at, end));
    if (rest !== null) {
      at = foldBreaks(source, at, offset, tape);
      continue;
    }
    const character = source[at] ?? '';
    if (character !== '\\') {
      tape.copy(character, offset + at);
      at += 1;
      continue;
    }
    const continuation = /^\\\r?\n[ \t]*/.exec(source.slice(at, end));
    if (continuation !== null) {
      at += continuation[0].length;
      continue;
    }
    const letter = source[at + 1] ?? '';
    const length = codeLengths[letter];
    if (length === undefined) {
      tape.put(escapes[letter] ?? `\\${letter}`, offset + at);
      at += 2;
    } else {
      const code = Number.parseInt(source.slice(at + 2, at + 2 + length), 16);
      tape.put(code <= 0x10ffff ? String.fromCodePoint(code) : '', offset + at);
      at += 2 + length;
    }
  }
  return tape.ended(offset + end);
}

/** `at` is at blanks before a line break. Returns where the next line's text begins. */
function foldBreaks(source: string, at: number, offset: number, tape: Tape): number {
  const [blanks = ''] = /^[ \t\r\n]*/.exec(source.slice(at, -1)) ?? [];
  const breaks = [...blanks.matchAll(/\r?\n/g)].map((found) => offset + at + found.index);
  const [first = offset + at, ...further] = breaks;
  if (further.length === 0) tape.put(' ', first);
  for (const breakAt of further) tape.put('\n', breakAt);
  return at + blanks.length;
}

function replayBlock({ style, header, source, offset, indent: parentIndent }: WrittenBlock): Replay {
  const tape = new Tape();
  const explicitIndent = Number(/[1-9]/.exec(header)?.[0] ?? 0);
  const folded = style === 'folded';
  const lines = linesOf(source, offset).map((line) => {
    const indent = /^ */.exec(line.text)?.[0].length ?? 0;
    return { ...line, indent, content: line.text.slice(indent) };
  });
  const end = offset + source.length;

  let chompAt = lines.length;
  while (chompAt > 0 && lines[chompAt - 1]?.content === '') chompAt -= 1;
  if (chompAt === 0) {
    if (header.includes('+') && source !== '') {
      for (const line of lines.slice(0, Math.max(1, lines.length - 1))) tape.put('\n', line.breakAt);
    }
    return tape.ended(end);
  }

  let contentAt = lines.findIndex((line) => line.content !== '');
  if (contentAt < 0) contentAt = 0;
  const trim = explicitIndent > 0 ? parentIndent + explicitIndent : (lines[contentAt]?.indent ?? 0);
  for (let number = lines.length - 1; number >= chompAt; number -= 1) {
    if ((lines[number]?.indent ?? 0) > trim) chompAt = number + 1;
  }

  for (const line of lines.slice(0, contentAt)) {
    tape.copy(line.text.slice(trim), line.offset + trim);
    tape.put('\n', line.breakAt);
  }

  let separator: { text: string; offset: number } | undefined;
  let previousMoreIndented = false;
  for (const line of lines.slice(contentAt, chompAt)) {
    const text = line.text.slice(Math.min(trim, line.indent));
    const textAt = line.offset + Math.min(trim, line.indent);
    const moreIndented = line.indent > trim || line.content.startsWith('\t');
    if (!folded || moreIndented) {
      if (folded && separator !== undefined) {
        if (separator.text === ' ') separator = { ...separator, text: '\n' };
        else if (!previousMoreIndented) separator = { ...separator, text: '\n\n' };
      }
      if (separator !== undefined) tape.put(separator.text, separator.offset);
      tape.copy(text, textAt);
      separator = { text: '\n', offset: line.breakAt };
      previousMoreIndented = folded;
    } else if (line.content === '') {
      if (separator?.text === '\n') tape.put('\n', separator.offset);
      separator = { text: '\n', offset: line.breakAt };
    } else {
      if (separator !== undefined) tape.put(separator.text, separator.offset);
      tape.copy(text, textAt);
      separator = { text: ' ', offset: line.breakAt };
      previousMoreIndented = false;
    }
  }

  if (header.includes('+')) {
    let breakAt = separator?.offset ?? end;
    for (const line of lines.slice(chompAt)) {
      tape.put('\n', breakAt);
      tape.copy(line.text.slice(trim), line.offset + trim);
      breakAt = line.breakAt;
    }
    if (!tape.text.endsWith('\n')) tape.put('\n', breakAt);
  } else if (!header.includes('-')) {
    tape.put('\n', separator?.offset ?? end);
  } else {
    return tape.ended(separator?.offset ?? end);
  }
  return tape.ended(end);
}
