/**
 * Pairs the elements of two lists without crossing, so that the likenesses of the pairs have the greatest sum.
 *
 * @param likeness 0 for elements that must not be paired
 */
export function align<T>(
  before: readonly T[],
  after: readonly T[],
  likeness: (older: T, newer: T) => number,
): [older: T, newer: T][] {
  // best[i][j]: of what follows the i-th and the j-th; likenesses are asked for once.
  const likenesses = before.map((older) => after.map((newer) => likeness(older, newer)));
  const best: number[][] = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0));
  const at = (table: readonly (readonly number[])[], row: number, column: number): number => table[row]?.[column] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1) {
    const row = best[i] ?? [];
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const like = at(likenesses, i, j);
      const paired = like > 0 ? like + at(best, i + 1, j + 1) : 0;
      row[j] = Math.max(paired, at(best, i + 1, j), at(best, i, j + 1));
    }
  }
  const pairs: [T, T][] = [];
  for (let i = 0, j = 0; i < before.length && j < after.length;) {
    const [older, newer] = [before[i] as T, after[j] as T];
    const like = at(likenesses, i, j);
    if (like > 0 && at(best, i, j) === like + at(best, i + 1, j + 1)) {
      pairs.push([older, newer]);
      i += 1;
      j += 1;
    } else if (at(best, i, j) === at(best, i + 1, j)) i += 1;
    else j += 1;
  }
  return pairs;
}
