import { Fault } from './fault.js';

/** A part of a picture: `[Y0001]`, or what stands between two of those. */
export type PicturePart =
  | { readonly literal: string }
  | {
      readonly component: string;
      /** How it is written: `0001`, `Nn`, `w`; without the modifiers after it. */
      readonly presentation: string;
      readonly isOrdinal: boolean;
      readonly maxWidth: number | undefined;
      /** As it stands in the picture. */
      readonly text: string;
    };

/** Longer than any that a person writes; JSONata takes quadratic time for some. */
const longestPicture = 200;

const defaults: Readonly<Record<string, string>> = {
  ...{ Y: '1', M: '1', D: '1', d: '1', F: 'n', W: '1', w: '1', X: '1', x: '1', H: '1', h: '1' },
  ...{ P: 'n', m: '01', s: '01', f: '1', Z: '01:01', z: '01:01', C: 'n', E: 'n' },
};

export function refuseLong(what: string, text: string): void {
  if (text.length <= longestPicture) return;
  throw new Fault('limit', `${what} has ${text.length} characters, more than the ${longestPicture} that one may have`);
}

export function partsOf(picture: string): PicturePart[] {
  refuseLong('the picture of a time', picture);
  const parts: PicturePart[] = [];
  for (const [text] of picture.matchAll(/\[\[|\[[^\]]*\]|\[|[^[]+/g)) {
    if (text === '[[') parts.push({ literal: '[' });
    else if (text === '[') throw new Fault('failed', 'the picture has a `[` that no `]` closes');
    else if (!text.startsWith('[')) parts.push({ literal: text.replaceAll(']]', ']') });
    else parts.push(markerOf(text));
  }
  return parts;
}

function markerOf(text: string): PicturePart {
  const [, component = '', modifiers = '', width = ''] =
    /^([A-Za-z]?)(.*?)(?:,([^,]*))?$/.exec(text.slice(1, -1).replace(/\s/g, '')) ?? [];
  const usual = defaults[component];
  if (usual === undefined) {
    throw new Fault(
      'failed',
      `\`${text}\` in a picture names no part of a time; known are ${Object.keys(defaults).join(', ')}`,
    );
  }
  const modifier = modifiers.length > 1 ? (/[atco]$/.exec(modifiers)?.[0] ?? '') : '';
  const max = Number(/-(\d+)$/.exec(width)?.[1] ?? NaN);
  return {
    component,
    presentation: modifiers.slice(0, modifiers.length - modifier.length) || usual,
    isOrdinal: modifier === 'o',
    maxWidth: Number.isNaN(max) ? undefined : max,
    text,
  };
}
