import { type JsonValue, isJsonObject } from '../../common/index.js';
import type { Path } from '../../syntax/index.js';

/** One place where a value is not as expected. Undefined: nothing is there, or nothing was to be. */
export interface Difference {
  /** Inside the value. */
  readonly path: Path;
  readonly expected: JsonValue | undefined;
  readonly actual: JsonValue | undefined;
}

/** Where what is expected is not so; fields that are not mentioned may have any value, lists must be as long. */
export function subsetDifferences(expected: JsonValue, actual: JsonValue | undefined, path: Path = []): Difference[] {
  return differences(expected, actual, path, false);
}

/** Where two values are not the same, whatever the order of their fields. */
export function exactDifferences(expected: JsonValue, actual: JsonValue | undefined, path: Path = []): Difference[] {
  return differences(expected, actual, path, true);
}

function differences(expected: JsonValue, actual: JsonValue | undefined, path: Path, isExact: boolean): Difference[] {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    return Array.from({ length }, (_, index) => [...path, index]).flatMap((at, index) =>
      member(expected[index], actual[index], at, isExact),
    );
  }
  if (isJsonObject(expected) && isJsonObject(actual)) {
    const names = new Set([...Object.keys(expected), ...(isExact ? Object.keys(actual) : [])]);
    return [...names].flatMap((name) => member(expected[name], actual[name], [...path, name], isExact));
  }
  return expected === actual ? [] : [{ path, expected, actual }];
}

function member(
  expected: JsonValue | undefined,
  actual: JsonValue | undefined,
  path: Path,
  isExact: boolean,
): Difference[] {
  if (expected === undefined) return [{ path, expected, actual }];
  return differences(expected, actual, path, isExact);
}

/** A diff, two lines for each place: what was expected (`-`) and what is there (`+`). */
export function diffLines(found: readonly Difference[], most = 20): string[] {
  const lines = found.slice(0, most).flatMap(({ path, expected, actual }) => {
    const at = pathText(path);
    const line = (sign: string, value: JsonValue | undefined, none: string): string =>
      `${sign} ${at === '' ? '' : `${at}: `}${value === undefined ? none : valueText(value)}`;
    return [line('-', expected, '(nothing)'), line('+', actual, '(nothing)')];
  });
  return found.length > most ? [...lines, `  and ${found.length - most} more`] : lines;
}

/** `items[0].qty` */
export function pathText(path: Path): string {
  return path
    .map((segment, index) =>
      typeof segment === 'number'
        ? `[${segment}]`
        : /^[A-Za-z_$][\w$-]*$/.test(segment)
          ? `${index === 0 ? '' : '.'}${segment}`
          : `[${JSON.stringify(segment)}]`,
    )
    .join('');
}

function valueText(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
