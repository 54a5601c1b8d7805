import { type JsonValue, isJsonObject } from '../../common/index.js';
import type { SchemaProblem } from '../../definition/index.js';
import type { Path, Range, SyntaxNode } from '../../syntax/index.js';
import { headOf, rangeOf } from './test-check.js';

/** What to underline for a value that does not fit its schema; `path` leads to it from the root of the file. */
export function problemRange(root: SyntaxNode, path: Path, { isUnknownField }: SchemaProblem): Range {
  return isUnknownField === true ? headOf(root, path) : rangeOf(root, path);
}

/** The place of a problem as a path into the value, as far as there is one: a field that is missing has none. */
export function pathIn(value: JsonValue, pointer: string): Path {
  const path: (string | number)[] = [];
  let here: JsonValue | undefined = value;
  for (const raw of pointer.split('/').slice(1)) {
    const segment = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(here)) path.push(Number(segment));
    else if (isJsonObject(here) && Object.hasOwn(here, segment)) path.push(segment);
    else break;
    here = Array.isArray(here) ? here[Number(segment)] : here[segment];
  }
  return path;
}
