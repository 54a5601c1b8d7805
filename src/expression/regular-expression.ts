import { type LinearPattern, linearPattern } from '../common/index.js';
import { Fault } from './fault.js';

/**
 * Regular expressions in linear time. JSONata is given this class in place of `RegExp`; it uses `exec` and
 * `lastIndex` only. A backtracking engine would hang the process on `/(a+)+$/` and a few dozen letters.
 */
export class LinearRegExp {
  lastIndex = 0;
  readonly #pattern: LinearPattern;
  readonly #onMatch: () => void;

  constructor(literal: RegExp, onMatch: () => void) {
    this.#pattern = patternOf(literal);
    this.#onMatch = onMatch;
  }

  exec(text: string): (string | undefined)[] | null {
    this.#onMatch();
    if (!this.#pattern.canSearch(text.length - this.lastIndex)) {
      throw new Fault(
        'limit',
        `a text of ${text.length} characters is too long for so large a regular expression; shorten the text, or count less in the expression (\`{1000}\` is a thousand copies)`,
      );
    }
    const matcher = this.#pattern.compiled.matcher(text);
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
      this.lastIndex = 0;
      return null;
    }
    const found: (string | undefined)[] & { index?: number } = [];
    for (let group = 0; group <= matcher.groupCount(); group++) found.push(matcher.group(group) ?? undefined);
    found.index = matcher.start();
    this.lastIndex = matcher.end();
    return found;
  }
}

const compiled = new WeakMap<RegExp, LinearPattern>();

/** Throws a `Fault` where the expression uses what no linear engine can do. */
export function patternOf(literal: RegExp): LinearPattern {
  let pattern = compiled.get(literal);
  if (pattern === undefined) {
    pattern = compile(literal);
    compiled.set(literal, pattern);
  }
  return pattern;
}

function compile(literal: RegExp): LinearPattern {
  try {
    return linearPattern(literal.source, literal);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new Fault(
      'failed',
      `the regular expression /${literal.source}/ cannot be used: ${detail.replace(/^error parsing regexp: /, '')} ` +
        '(look-around and back-references do not exist here, because they can take for ever)',
    );
  }
}
