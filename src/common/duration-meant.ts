import { parseDuration, writeDuration } from './duration.js';

/** Our unit, and what people write for it, in lower case. */
const units: readonly (readonly [unit: string, words: string])[] = [
  ['d', 'd day days tag tage tagen jour jours dia dias 日 日間'],
  ['h', 'h hr hrs hour hours std stunde stunden heure heures hora horas 時間'],
  ['m', 'm min mins minute minutes minuten minuto minutos 分 分間'],
  ['s', 's sec secs second seconds sek sekunde sekunden seconde secondes 秒 秒間'],
  ['ms', 'ms msec msecs milli millis millisecond milliseconds millisekunde millisekunden'],
];
const weeks: ReadonlySet<string> = new Set('w wk week weeks woche wochen semaine semaines 週 週間'.split(' '));

const unitOf = new Map(
  units.flatMap(([unit, words]) => words.split(' ').map((word): [string, string] => [word, unit])),
);

/**
 * The duration that a text which is none most likely means: `5m` for `5 minutes`, `1h30m` for `1.5h`, `90s` for
 * `90 Sekunden`, `5m` for `00:05:00`. Undefined where that is anybody's guess, as for `1M`.
 */
export function durationMeant(text: string): string | undefined {
  const clock = /^(\d{1,2}):(\d{2}):(\d{2})$/.exec(text);
  if (clock !== null) return written(parts([clock[1], clock[2], clock[3]], ['h', 'm', 's']));
  const pieces = [...text.matchAll(/(\d+(?:[.,]\d+)?)\s*(\p{L}+)\.?(?:\s*(?:,|and|und)\s+|\s*)/gu)];
  if (pieces.length === 0 || pieces.map(([whole]) => whole).join('') !== text) return undefined;
  if (pieces.some(([, , word]) => word === 'M')) return undefined;
  const read = parts(
    pieces.map(([, count]) => count?.replace(',', '.')),
    pieces.map(([, , word = '']) => word.toLowerCase()),
  );
  const [only] = pieces;
  const unit = unitOf.get(only?.[2]?.toLowerCase() ?? '');
  // The author's own unit, where that says it: `90s`, not `1m30s`.
  const plain = pieces.length === 1 && /^\d+$/.test(only?.[1] ?? '') && unit !== undefined;
  return plain ? `${only?.[1] ?? ''}${unit}` : written(read);
}

/** Milliseconds in all; undefined where a unit is not known. */
function parts(counts: readonly (string | undefined)[], words: readonly string[]): number | undefined {
  let sum = 0;
  for (const [index, word] of words.entries()) {
    const unit = weeks.has(word) ? '7d' : unitOf.get(word);
    if (unit === undefined) return undefined;
    sum += Number(counts[index]) * parseDuration(/^\d/.test(unit) ? unit : `1${unit}`);
  }
  return sum;
}

function written(ms: number | undefined): string | undefined {
  return ms === undefined || !Number.isSafeInteger(ms) || ms === 0 ? undefined : writeDuration(ms);
}
