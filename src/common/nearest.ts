/**
 * The candidate that `word` is most likely a misspelling of, for "did you mean …?": one that differs
 * only in case, else the one the fewest slips away. A slip is a wrong, missing or extra character or two
 * neighbours swapped; one is allowed for each three characters, at most three, at least one.
 * The first of equally near candidates wins.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const folded = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    if (candidate === word) continue;
    const other = candidate.toLowerCase();
    const shorter = Math.min(folded.length, other.length);
    const allowed = Math.min(3, Math.max(1, Math.floor(Math.max(folded.length, other.length) / 3)), shorter - 1);
    if (Math.abs(folded.length - other.length) > allowed && other !== folded) continue;
    const distance = other === folded ? 0 : slips(folded, other);
    if ((distance <= allowed || distance === 0) && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Optimal string alignment distance: Levenshtein's, with swapped neighbours counting one. */
function slips(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let distance = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) distance = Math.min(distance, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}
