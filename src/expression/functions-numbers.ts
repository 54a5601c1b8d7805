import { type Focus, type FunctionDefinition, type Implementation, builtIn, define } from './built-ins.js';
import { Fault } from './fault.js';
import { refuseLong } from './time-picture.js';

/**
 * Numbers as texts and back, where JSONata gives a wrong text or number without a word: what it cannot do right is an
 * error here. Oracles of tests hold them to that.
 */
export const numberFunctions: Readonly<Record<string, () => FunctionDefinition>> = {
  number: () =>
    withCheck('number', ([given], result) => {
      if (typeof result !== 'number' || typeof given !== 'string') return;
      if (!Number.isFinite(result)) throw new Fault('failed', `${shown(given)} is not a number`);
      refuseRounded(result, given);
    }),

  formatBase: () => withCheck('formatBase', ([value]) => refuseInexact('$formatBase', value)),

  formatNumber() {
    const original = builtIn('formatNumber');
    return define(function (this: Focus, value?: number, picture = '', options?: Record<string, unknown>) {
      refuseLong('the picture of a number', picture);
      for (const [key, option] of Object.entries(options ?? {})) {
        if (typeof option !== 'string' || option === '')
          throw new Fault('type', `the option \`${key}\` of \`$formatNumber\` must be text`);
        refuseLong(`the option \`${key}\` of \`$formatNumber\``, option);
      }
      const result = original.implementation.apply(this, [value, picture, options] as never[]);
      if (value !== undefined) refuseNumberPicture(value, picture, options as Record<string, string> | undefined);
      return result;
    }, original);
  },

  formatInteger() {
    const original = builtIn('formatInteger');
    return define(function (this: Focus, value?: number, picture = '') {
      refuseLong('the picture of a number', picture);
      if (value === undefined) return undefined;
      refuseInexact('$formatInteger', value);
      refuseIntegerPicture(Math.floor(value), picture);
      return original.implementation.apply(this, [value, picture] as never[]);
    }, original);
  },

  parseInteger: () =>
    define(function (this: Focus, text?: string, picture = '') {
      refuseLong('the picture of a number', picture);
      if (text === undefined) return undefined;
      refuseLong('a number written by a picture', text);
      return parseByPicture(text, picture);
    }, builtIn('parseInteger')),
};

/** JSONata's own function, whose arguments and result are looked at. */
function withCheck(
  name: 'number' | 'formatBase',
  check: (args: readonly unknown[], result: unknown) => void,
): FunctionDefinition {
  const original = builtIn(name);
  const checked: Implementation = function (this: Focus, ...args: never[]) {
    const result = original.implementation.apply(this, args);
    check(args, result);
    return result;
  };
  return define(checked, original);
}

/** Digits that a number cannot hold: `$number("9007199254740993")`. */
function refuseRounded(value: number, text: string): void {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new Fault('failed', `${shown(text)} is beyond ±2^53, and would be rounded; keep it as text`);
  }
}

function refuseInexact(name: string, value: unknown): void {
  if (typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return;
  throw new Fault('failed', `\`${name}\` cannot write numbers beyond ±2^53 exactly`);
}

function refuseNumberPicture(value: number, picture: string, options: Record<string, string> = {}): void {
  const sign = { decimal: '.', grouping: ',', digit: '#', zero: '0', exponent: 'e', pattern: ';' };
  for (const key of ['decimal', 'grouping', 'exponent', 'pattern'] as const) {
    sign[key] = options[`${key}-separator`] ?? sign[key];
  }
  sign.digit = options['digit'] ?? sign.digit;
  sign.zero = options['zero-digit'] ?? sign.zero;
  if (Object.values(sign).some((each) => each.length !== 1)) {
    throw new Fault('failed', 'an option of `$formatNumber` that is a sign of its picture is one character');
  }
  for (const part of picture.split(sign.pattern)) {
    const zero = sign.zero.charCodeAt(0);
    const isDigit = (each: string): boolean =>
      each === sign.digit || (each.charCodeAt(0) >= zero && each.charCodeAt(0) < zero + 10);
    const isActive = (each: string): boolean => isDigit(each) || each === sign.decimal || each === sign.grouping;
    const signs = part.split('');
    const active = signs.slice(signs.findIndex(isActive), signs.findLastIndex(isActive) + 1).join('');
    if (active.includes(sign.exponent))
      throw unavailable('exponents in the picture of `$formatNumber` are not available');
    const [whole = '', fraction = ''] = active.split(sign.decimal);
    if (fraction.includes(sign.grouping) || !isRegular(whole.split(sign.grouping).map((group) => group.length))) {
      throw unavailable('the picture of `$formatNumber` must separate groups of one size before the decimal point');
    }
    refuseMoreDigits(value, fraction.length);
  }
}

/** A number has about 15 digits; the ones after those are of the binary fraction that stands for it. */
function refuseMoreDigits(value: number, fraction: number): void {
  const whole = Math.abs(value) < 1 ? 0 : Math.floor(Math.log10(Math.abs(value))) + 1;
  if (Number.isSafeInteger(value) ? fraction <= 100 : whole + fraction <= 15) return;
  throw unavailable(
    `\`$formatNumber\` cannot write ${String(value)} exactly with ${fraction} digits after the decimal point`,
  );
}

/** JSONata puts separators that stand at other places in front of a number that is too short for them. */
function isRegular([first = 0, ...groups]: readonly number[]): boolean {
  return (
    groups.every((group) => group === groups[0]) &&
    (groups.length === 0 || (first <= (groups[0] ?? 0) && groups[0] !== 0))
  );
}

function refuseIntegerPicture(value: number, picture: string): void {
  const primary = picture.replace(/;[^;]*$/, '');
  if (/^[Ii]$/.test(primary) && (value === 0 || Math.abs(value) > 3999)) {
    throw unavailable('Roman numerals go from 1 to 3999');
  }
  if (/^[Aa]$/.test(primary) && value === 0) throw unavailable('0 cannot be written by letters');
  const groups = primary.split(/[^\p{Nd}#]/u).map((group) => [...group].length);
  const separators = new Set(primary.match(/[^\p{Nd}#]/gu) ?? []);
  if (/\p{Nd}/u.test(primary) && (separators.size > 1 || !isRegular(groups))) {
    throw unavailable('the picture of `$formatInteger` must separate groups of one size by one character');
  }
  if (/;o/.test(picture) && /[^\x00-\x7f]/.test(primary)) throw unavailable('ordinals are written by ASCII digits');
}

/** JSONata takes what it can read from the front, and makes NaN or a wrong number of the rest. */
function parseByPicture(text: string, picture: string): number {
  const original = builtIn('parseInteger').implementation as (text: string, picture: string) => number;
  const primary = picture.replace(/;[^;]*$/, '');
  const wrong = (): Fault => new Fault('failed', `${shown(text)} is not a number by the picture ${shown(picture)}`);
  if (/[0-9]/.test(primary)) {
    const separators = new Set(primary.match(/[^0-9#]/g) ?? []);
    const digits = [...text.replace(/;o/.test(picture) ? /(?:st|nd|rd|th)$/ : /$^/, '')]
      .filter((each) => !separators.has(each))
      .join('');
    if (!/^-?[0-9]+$/.test(digits)) throw wrong();
    refuseRounded(Number(digits), text);
    return Number(digits) || 0;
  }
  const value = original(text, picture);
  if (!Number.isSafeInteger(value)) throw wrong();
  // What it has read must be what it would write.
  const write = builtIn('formatInteger').implementation as (value: number, picture: string) => string;
  const written = write(value, picture);
  const isSame = /^w/i.test(primary) ? written.toLowerCase() === text.toLowerCase() : written === text;
  if (!isSame) throw wrong();
  return value;
}

const unavailable = (message: string): Fault => new Fault('failed', message);

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}
