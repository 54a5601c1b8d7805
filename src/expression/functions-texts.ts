import { type Focus, type FunctionDefinition, builtIn, define } from './built-ins.js';
import { Fault } from './fault.js';

/** Texts of all characters, where JSONata takes them for Latin-1, or cuts a character in two. */
export const textFunctions: Readonly<Record<string, () => FunctionDefinition>> = {
  /** Of the text in UTF-8; JSONata drops half of each character beyond Latin-1. */
  base64encode: () =>
    define(function (this: Focus, text?: string) {
      if (text === undefined) return undefined;
      if (/\p{Surrogate}/u.test(text))
        throw new Fault('failed', 'the text of `$base64encode` holds half of a character');
      return Buffer.from(text, 'utf8').toString('base64');
    }, builtIn('base64encode')),

  base64decode: () =>
    define(function (this: Focus, text?: string) {
      if (text === undefined) return undefined;
      const compact = text.replace(/[\r\n\t ]/g, '');
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.replace(/=+$/, '').length % 4 === 1) {
        throw new Fault('failed', 'the text of `$base64decode` is not base64');
      }
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(compact, 'base64'));
      } catch {
        throw new Fault('failed', 'what `$base64decode` was given is no text in UTF-8; let a handler read other data');
      }
    }, builtIn('base64decode')),

  split() {
    const original = builtIn('split');
    return define(function (this: Focus, text?: string, separator?: unknown, limit?: number) {
      const isInCharacters = text !== undefined && separator === '' && (limit === undefined || limit >= 0);
      if (isInCharacters) return [...text].slice(0, limit === undefined ? undefined : Math.floor(limit));
      return original.implementation.apply(this, [text, separator, limit] as never[]);
    }, original);
  },
};
