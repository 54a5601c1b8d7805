import type { RE2JS } from 're2js';

import { Fault } from './fault.js';
import { loadRe2 } from './libraries.js';

/**
 * Regular expressions in linear time. JSONata is given this class in place of `RegExp`; it uses `exec` and
 * `lastIndex` only. A backtracking engine would hang the process on `/(a+)+$/` and a few dozen letters.
 */
export class LinearRegExp {
  lastIndex = 0;
  readonly #pattern: RE2JS;
  readonly #onMatch: () => void;

  constructor(literal: RegExp, onMatch: () => void) {
    this.#pattern = linearPattern(literal);
    this.#onMatch = onMatch;
  }

  exec(text: string): (string | undefined)[] | null {
    this.#onMatch();
    const matcher = this.#pattern.matcher(text);
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

const compiled = new WeakMap<RegExp, RE2JS>();

/** Throws a `Fault` where the expression uses what no linear engine can do. */
export function linearPattern(literal: RegExp): RE2JS {
  let pattern = compiled.get(literal);
  if (pattern === undefined) {
    pattern = compile(literal);
    compiled.set(literal, pattern);
  }
  return pattern;
}

function compile(literal: RegExp): RE2JS {
  const re2 = loadRe2();
  let flags = 0;
  if (literal.ignoreCase) flags |= re2.CASE_INSENSITIVE;
  if (literal.multiline) flags |= re2.MULTILINE;
  try {
    return re2.compile(re2.translateRegExp(literal.source), flags);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new Fault(
      'failed',
      `the regular expression /${literal.source}/ cannot be used: ${detail.replace(/^error parsing regexp: /, '')} ` +
        '(look-around and back-references do not exist here, because they can take for ever)',
    );
  }
}
