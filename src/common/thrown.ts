/*
 * What foreign code throws may be anything: its properties may be getters that throw, it may be a revoked proxy. It is
 * described all the same, in bounded size.
 */

/** Characters of a message that are kept. */
const longestMessage = 8 * 1024;

/** Whether it is an error; false for what cannot even be asked. */
export function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false;
  }
}

/** A property of something foreign; undefined where there is none and where it cannot be read. */
export function propertyOf(thrown: unknown, name: string | symbol): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return undefined;
  try {
    return Reflect.get(thrown, name);
  } catch {
    return undefined;
  }
}

/** The message of an error, or the text of whatever else it is; never throws. */
export function messageOf(thrown: unknown): string {
  if (!isError(thrown)) return textOf(thrown);
  const message = propertyOf(thrown, 'message');
  return message === undefined ? 'an error whose message cannot be read' : textOf(message);
}

/** Anything as a text of bounded size; never throws. */
export function textOf(value: unknown): string {
  return shortened(ownText(value));
}

export function shortened(text: string, most = longestMessage): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… (${text.length - most} more characters)`;
}

/** Where `shortened` has cut a text; undefined where it is whole. */
export function cutAt(text: string): number | undefined {
  return /… \(\d+ more characters\)$/.exec(text)?.index;
}

function ownText(value: unknown): string {
  try {
    // The text of a list is that of all that is in it, which may be endless.
    return Array.isArray(value) ? 'a list' : String(value);
  } catch {
    return 'a value that cannot be read';
  }
}
