/**
 * The candidate that `word` is most likely a misspelling of, for "did you mean …?": one that differs
 * only in case, else the one the fewest slips away. A slip is a wrong, missing or extra character or two
 * neighbours swapped; one is allowed for each three characters, at most three, at least one.
 * The first of equally near candidates wins.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > longestWord) return undefined;
  const folded = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Infinity;
  let left = mostCandidates;
  for (const candidate of candidates) {
    left -= 1;
    if (left < 0) break;
    if (candidate === word || candidate.length > longestWord) continue;
    const other = candidate.toLowerCase();
    const shorter = Math.min(folded.length, other.length);
    const allowed = Math.min(3, Math.max(1, Math.floor(Math.max(folded.length, other.length) / 3)), shorter - 1);
    if (Math.abs(folded.length - other.length) > allowed && other !== folded) continue;
    const distance = other === folded ? 0 : slips(folded, other, allowed);
    if ((distance <= allowed || distance === 0) && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Longer ones are no names that somebody typed. */
const longestWord = 200;

/** Of more than these a slip is not looked for. */
const mostCandidates = 2000;

/**
 * Optimal string alignment distance: Levenshtein's, with swapped neighbours counting one. Only the columns within
 * `most` of the diagonal can matter; more than `most` is Infinity.
 */
function slips(from: string, to: string, most: number): number {
  let beforePrevious: number[] = [];
  let leastBefore = 0;
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const first = Math.max(1, row - most);
    const last = Math.min(to.length, row + most);
    const current = new Array<number>(to.length + 1).fill(Infinity);
    if (first === 1) current[0] = row;
    let least = current[0] ?? Infinity;
    for (let column = first; column <= last; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let distance = Math.min(
        (previous[column] ?? Infinity) + 1,
        (current[column - 1] ?? Infinity) + 1,
        (previous[column - 1] ?? Infinity) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) distance = Math.min(distance, (beforePrevious[column - 2] ?? Infinity) + 1);
      current[column] = distance;
      least = Math.min(least, distance);
    }
    // Swapped neighbours reach back two rows.
    if (least > most && leastBefore > most) return Infinity;
    leastBefore = least;
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? Infinity;
}
