import type { Diagnostic } from './diagnostic.js';
import type { Range } from './source.js';

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** A mistake in a key's name; `plain` if it is not quoted. */
export function keyProblem(name: string, plain: boolean, range: Range): Diagnostic | undefined {
  if (plain && name === '<<') {
    return {
      code: 'RS1010',
      severity: 'error',
      message: 'merge keys (`<<`) are not part of the language',
      range,
      help: 'write the entries out; what several places need can stand in `constants`',
    };
  }
  const type = plain ? coreType(name) : 'text';
  if (type !== 'text') {
    return {
      code: 'RS1011',
      severity: 'error',
      message: name === '' ? 'a key is missing before the colon' : `a key must be text, and \`${name}\` is ${type}`,
      range,
      help: name === '' ? 'write `key: value`' : `quote it: "${name}"`,
    };
  }
  if (!forbiddenKeys.has(name)) return undefined;
  return {
    code: 'RS1012',
    severity: 'error',
    message: `\`${name}\` cannot be a key, since every JavaScript object has one of that name`,
    range,
    help: 'choose another name',
  };
}

/** `yes`, `No`, `ON` …: text in YAML 1.2, booleans to readers of YAML 1.1. */
export function booleanWordProblem(value: string, role: 'key' | 'value', range: Range): Diagnostic | undefined {
  if (!/^(on|off|yes|no)$/i.test(value)) return undefined;
  return {
    code: 'RS1030',
    severity: 'warning',
    message: `the unquoted word \`${value}\` is text here, but true or false to other readers of YAML`,
    range,
    help:
      role === 'key'
        ? `quote it: "${value}"`
        : `quote it: "${value}"; or write ${/^(on|yes)$/i.test(value) ? 'true' : 'false'}`,
  };
}

/** Numbers that cannot be kept, or are not printed as they were written. */
export function numberProblem(source: string, value: number, range: Range): Diagnostic | undefined {
  if (!Number.isFinite(value)) {
    const help = `JSON has no such number; quote it if text is meant: "${source}"`;
    return { code: 'RS1014', severity: 'error', message: `\`${source}\` is not a finite number`, range, help };
  }
  if (coreInteger.test(source) && !Number.isSafeInteger(value)) {
    return {
      code: 'RS1013',
      severity: 'error',
      message: `the integer ${source} is beyond ±2^53 and would be rounded to ${value}`,
      range,
      help: `quote it: "${source}"`,
    };
  }
  if (String(value) === source) return undefined;
  return {
    code: 'RS1031',
    severity: 'warning',
    message: `\`${source}\` is read as the number ${value}`,
    range,
    help: `quote it if it is text: "${source}"; else write ${value}`,
  };
}

/** Text that no UTF-8 file can hold, made by an escape such as `\uD800`. */
export function unicodeProblem(value: string, range: Range): Diagnostic | undefined {
  if (!/\p{Surrogate}/u.test(value)) return undefined;
  return {
    code: 'RS1006',
    severity: 'error',
    message: 'this text holds half of a surrogate pair, which is no character',
    range,
    help: 'write the character itself, or both halves',
  };
}

/** `=$orders #$i`: YAML takes the rest for a comment, JSONata for a position variable. */
export function cutOffProblem(range: Range): Diagnostic {
  return {
    code: 'RS1032',
    severity: 'warning',
    message: 'this is a comment to YAML, and the formula ends before it',
    range,
    help: 'if it belongs to the formula, quote the whole formula, or write no space before `#`',
  };
}

export function noValueProblem(key: string, range: Range): Diagnostic {
  const glued = /^([^:]+):(.+)$/.exec(key);
  return {
    code: 'RS1033',
    severity: 'warning',
    message: `\`${key}\` has no value here, so it becomes null`,
    range,
    help:
      glued === null
        ? `write \`${key}: …\`, or \`[ … ]\` for a list`
        : `put a space after the colon: \`${glued[1] ?? ''}: ${glued[2] ?? ''}\``,
  };
}

const coreInteger = /^([-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+)$/;

/** What the YAML 1.2 core schema makes of a plain scalar. */
export function coreValue(source: string): string | number | boolean | null {
  switch (coreType(source)) {
    case 'text':
      return source;
    case 'null':
      return null;
    case 'a boolean':
      return /^t/i.test(source);
    case 'a number':
      return Number(source);
  }
}

function coreType(source: string): 'text' | 'null' | 'a boolean' | 'a number' {
  // Most texts can be told by their first character.
  if (/^[^-+.0-9~nNtTfF]/.test(source)) return 'text';
  if (/^(~|null|Null|NULL|)$/.test(source)) return 'null';
  if (/^(true|True|TRUE|false|False|FALSE)$/.test(source)) return 'a boolean';
  if (coreInteger.test(source)) return 'a number';
  if (/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(source)) return 'a number';
  if (/^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/.test(source)) return 'a number';
  return 'text';
}
