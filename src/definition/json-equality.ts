import type { Ajv2020 } from 'ajv/dist/2020.js';
import { type JsonValue, isJsonObject } from '../common/index.js';

/**
 * `const`, `enum` and `uniqueItems` by the texts of the values. The comparison that `ajv` brings along calls methods that
 * a value may have as fields (`toString`), and holds each item of a list against each other.
 */
export function compareByText(ajv: Ajv2020): void {
  const replace = (keyword: string, compile: (schema: JsonValue) => (value: JsonValue) => boolean): void => {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({ keyword, compile });
  };
  replace('const', (constant) => {
    const text = equalityText(constant);
    return (value) => equalityText(value) === text;
  });
  replace('enum', (choices) => {
    const texts = new Set((Array.isArray(choices) ? choices : [choices]).map(equalityText));
    return (value) => texts.has(equalityText(value));
  });
  replace('uniqueItems', (wanted) => (value) => wanted !== true || !Array.isArray(value) || areUnique(value));
}

function areUnique(items: readonly JsonValue[]): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = equalityText(item);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

/** Equal values have equal texts, others have not; unlike `canonicalJson` it takes any text that a value may hold. */
function equalityText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(equalityText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${equalityText(value[name] ?? null)}`).join(',')}}`;
}
