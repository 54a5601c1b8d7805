/** Ends a reading: what stands here is no plain YAML, or no YAML at all. */
export class NotPlain extends Error {}

export function giveUp(): never {
  throw new NotPlain();
}
