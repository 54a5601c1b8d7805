import type { CST, YAMLError } from 'yaml';
import { type Place, findPlace } from './cst-walk.js';
import type { Diagnostic } from './diagnostic.js';
import type { DiagnosticCode } from './diagnostic-codes.js';
import type { Range } from './source.js';

interface Explanation {
  readonly code?: DiagnosticCode;
  readonly message: string;
  readonly range: Range;
  readonly help: string;
}

/** What the YAML library stumbled over, in the words of someone who edits the file. */
export function explainLibraryError(error: YAMLError, tokens: readonly CST.Token[], text: string): Diagnostic {
  const { code = 'RS1001', ...rest } = explanationOf(error, tokens, text);
  return { code, severity: 'error', ...rest };
}

function explanationOf(error: YAMLError, tokens: readonly CST.Token[], text: string): Explanation {
  const start = skipBlanks(text, error.pos[0]);
  const range = { start, end: Math.max(error.pos[1], start + 1) };
  const here = { range: { start, end: start + 1 } };
  const line = { range: { start, end: endOfLine(text, start) } };
  switch (error.code) {
    case 'TAB_AS_INDENT': {
      const tabs = /^[ \t]*/.exec(text.slice(error.pos[0]))?.[0].length ?? 1;
      return {
        code: 'RS1017',
        message: 'a tab is used as indentation, and YAML allows only spaces there',
        range: { start: error.pos[0], end: error.pos[0] + tabs },
        help: 'indent with spaces, two for each level',
      };
    }
    case 'MISSING_CHAR':
      return missing(error, tokens, text, range);
    case 'BLOCK_AS_IMPLICIT_KEY':
      if (text[start] === '-') return strayListItem(here.range);
      return deeperThanItsValue(error, tokens, text);
    case 'MULTILINE_IMPLICIT_KEY':
      return noEntry(text, start);
    case 'BAD_INDENT':
      return badIndent(error, tokens, text, start);
    case 'BAD_SCALAR_START':
      return {
        message: `unquoted text cannot begin with \`${text[start] ?? ''}\``,
        range: line.range,
        help: 'put it in quotes',
      };
    case 'BAD_DQ_ESCAPE': {
      const escape = text.slice(error.pos[0], error.pos[0] + 2);
      return {
        message: `\`${escape}\` means nothing inside double quotes`,
        range: { start: error.pos[0], end: error.pos[0] + 2 },
        help: `write \\${escape} for a backslash, or use single quotes, where it stands for itself`,
      };
    }
    case 'BAD_ALIAS':
      if (text[start] === '*') {
        return { code: 'RS1015', message: '`*` alone is an alias without a name', ...here, help: 'quote it: "*"' };
      }
      return { code: 'RS1015', message: lowerFirst(error.message), range, help: 'put it in quotes if text is meant' };
    case 'BLOCK_IN_FLOW':
      return {
        message: 'inside `{ … }` and `[ … ]` entries are separated by commas, and one is missing here',
        range: { start, end: Math.min(range.end, endOfLine(text, start)) },
        help: 'put a comma between the entries, or write them one a line without the brackets',
      };
    case 'NON_STRING_KEY':
      return { code: 'RS1011', message: 'a key must be text', ...here, help: 'write the key out as text' };
    case 'KEY_OVER_1024_CHARS':
      return { message: 'a key is longer than 1024 characters', ...here, help: 'shorten it' };
    case 'RESOURCE_EXHAUSTION':
      return {
        code: 'RS1005',
        message: 'values are nested too deep to be read',
        ...here,
        help: 'move the inner part into a workflow of its own',
      };
    case 'UNEXPECTED_TOKEN':
      return unexpected(error, text, start, line.range);
    default:
      return { message: lowerFirst(error.message), range, help: plainer };
  }
}

/** For what is too rare to have a remedy of its own. */
const plainer = 'write it in a plainer way: maps as `key: value`, lists with `- `, and text in quotes';

function missing(error: YAMLError, tokens: readonly CST.Token[], text: string, range: Range): Explanation {
  if (error.message.startsWith('Missing closing')) {
    const open = findPlace(
      tokens,
      ({ token }) => isQuoted(token) && token.offset + token.source.length === error.pos[0],
    );
    const start = open?.token.offset ?? error.pos[0];
    return {
      message: 'the quote that opens here is never closed',
      range: { start, end: start + 1 },
      help: `close it with ${text[start] ?? 'a quote'}`,
    };
  }
  const unclosed = /must end with a (.)$/.exec(error.message);
  if (unclosed !== null) return neverClosed(tokens, text, unclosed[1] ?? '', range);
  if (error.message.startsWith('Comments must')) {
    return {
      message: 'a comment needs a space before its `#`',
      range: { start: range.start, end: range.start + 1 },
      help: 'put a space before it; if it is part of a text, put the whole text in quotes',
    };
  }
  if (error.message.startsWith('Sequence item without -')) {
    return {
      message: 'this line stands among the items of a list, and begins with no `- `',
      range: wordAt(text, range.start),
      help: 'indent it like the other keys of its item, two spaces deeper than the `-`',
    };
  }
  if (error.message.startsWith('Missing , ')) {
    return {
      message: 'a comma is missing before this',
      range,
      help: 'put a comma before it, or quotes around a text of several words',
    };
  }
  return { message: lowerFirst(error.message), range, help: plainer };
}

function neverClosed(tokens: readonly CST.Token[], text: string, close: string, range: Range): Explanation {
  const open: Place[] = [];
  findPlace(tokens, (place) => {
    const { token } = place;
    const isOpen =
      token.type === 'flow-collection' && token.end[0]?.source !== (token.start.source === '{' ? '}' : ']');
    if (isOpen) open.push(place);
    return false;
  });
  const start = open.at(-1)?.token.offset ?? range.start;
  return {
    message: `the \`${text[start] ?? ''}\` that opens here is never closed`,
    range: { start, end: start + 1 },
    help: `close it with ${close}`,
  };
}

function badIndent(error: YAMLError, tokens: readonly CST.Token[], text: string, start: number): Explanation {
  const unclosed = /end with a (.)$/.exec(error.message);
  if (unclosed !== null) {
    return neverClosed(tokens, text, unclosed[1] ?? '', { start: error.pos[0], end: error.pos[1] });
  }
  return {
    message: error.message.startsWith('All')
      ? 'this line is indented unlike the entries that it stands among'
      : 'this line of a block of text is indented less than its first line',
    range: wordAt(text, start),
    help: 'give all entries of one map or list the same indentation',
  };
}

/** `a: 1` followed by a deeper `b: 2`: the value goes on into the next line. */
function deeperThanItsValue(error: YAMLError, tokens: readonly CST.Token[], text: string): Explanation {
  const found = findPlace(tokens, ({ token }) => token.type === 'block-map' && token.offset === error.pos[0]);
  const key = found?.token.type === 'block-map' ? found.token.items[0]?.key : undefined;
  const end = key === undefined || key === null || !('source' in key) ? error.pos[1] : key.offset + key.source.length;
  const lineStart = text.lastIndexOf('\n', end - 1) + 1;
  const start = skipBlanks(text, Math.max(lineStart, error.pos[0]));
  return {
    message: 'this line is indented deeper than the entry above, which has its value already',
    range: { start, end: Math.max(end, start + 1) },
    help: 'indent it like the entry above; or, if it belongs inside, leave that entry without a value of its own',
  };
}

function noEntry(text: string, start: number): Explanation {
  if (text[start] === '-') return strayListItem({ start, end: start + 1 });
  const range = { start, end: endOfLine(text, start) };
  const words = text.slice(range.start, range.end);
  const glued = /^([^\s:]+):\S/.exec(words);
  if (glued !== null) {
    const colon = start + (glued[1] ?? '').length;
    return {
      message: 'a space is missing after this colon',
      range: { start: colon, end: colon + 1 },
      help: `write \`${glued[1] ?? ''}: ${words.slice((glued[1] ?? '').length + 1)}\``,
    };
  }
  return {
    message: `\`${words}\` is no entry of a map: there is no \`: \` after a key`,
    range,
    help: 'write `key: value`; text that goes on over lines must be indented deeper than its key',
  };
}

function strayListItem(range: Range): Explanation {
  return {
    message: 'a list item stands among the entries of a map',
    range,
    help: 'give all items of a list the same indentation, and each `-` a space after it',
  };
}

function unexpected(error: YAMLError, text: string, start: number, line: Range): Explanation {
  const here = { start, end: start + 1 };
  const before = text.slice(0, start).trimEnd().at(-1) ?? '';
  const startsLine = text.slice(text.lastIndexOf('\n', start - 1) + 1, start).trim() === '';
  if (text[start] === '-' && error.message.includes('block-seq-ind')) {
    if (startsLine) return strayListItem(here);
    return { message: 'a list begins on the line after its key', range: here, help: 'move `-` to a line of its own' };
  }
  if (text[start] === ',') return { message: 'nothing stands before this comma', range: here, help: 'remove it' };
  if (/[\]}]/.test(text[start] ?? '')) {
    return { message: `this \`${text[start] ?? ''}\` closes nothing`, range: here, help: 'remove it' };
  }
  if (error.message.includes('header includes extra characters')) {
    return {
      message: 'the text of a block begins on the line after `|` or `>`',
      range: here,
      help: 'move it to the next line, indented; a text that begins with `|` or `>` stands in quotes',
    };
  }
  if (startsLine) {
    return {
      message: 'this line does not continue what stands above it',
      range: line,
      help: 'entries of a map are `key: value`, items of a list `- value`, all of one kind at one indentation',
    };
  }
  if (/["']/.test(before)) {
    return {
      message: 'text follows a closing quote',
      range: line,
      help: 'put the whole value in quotes; a formula begins with `=`: `="a" & "b"`',
    };
  }
  if (/[\]}]/.test(before)) {
    const help = 'put the whole value in quotes, or remove what follows';
    return { message: `text follows the closing \`${before}\``, range: line, help };
  }
  return { message: lowerFirst(error.message), range: here, help: plainer };
}

function isQuoted(token: CST.Token): token is CST.FlowScalar {
  return token.type === 'single-quoted-scalar' || token.type === 'double-quoted-scalar';
}

function skipBlanks(text: string, offset: number): number {
  let at = offset;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

function wordAt(text: string, start: number): Range {
  const length = /^[^\s:,]*/.exec(text.slice(start, start + 200))?.[0].length ?? 0;
  return { start, end: start + Math.max(1, length) };
}

/** Of the line's text, without blanks and line break. */
function endOfLine(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  const line = text.slice(offset, newline < 0 ? text.length : newline);
  return offset + Math.max(1, line.trimEnd().length);
}

function lowerFirst(message: string): string {
  return message.slice(0, 1).toLowerCase() + message.slice(1);
}
