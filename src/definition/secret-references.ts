import { type JsonValue, isJsonObject } from '../common/index.js';
import type { WorkflowDocument } from './document.generated.js';
import { callsOf, walkItems } from './walk-items.js';

/** A `{ $secret: NAME }` that is written in the `with` of a call. */
export interface SecretReference {
  readonly name: string;
  /** Where it stands in that `with`, and so in every value that its formulas give. */
  readonly path: readonly (string | number)[];
}

export const secretName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The references of a `with` as it is written. Only these are ever resolved: a `$secret` in what a formula gives comes
 * from whoever supplied the data.
 */
export function secretReferences(written: JsonValue | undefined): SecretReference[] {
  const found: SecretReference[] = [];
  collect(written, [], found);
  return found;
}

function collect(value: JsonValue | undefined, path: readonly (string | number)[], found: SecretReference[]): void {
  if (Array.isArray(value)) {
    value.forEach((member, index) => collect(member, [...path, index], found));
  } else if (isJsonObject(value)) {
    const name = referredSecret(value);
    if (name !== undefined) found.push({ name, path });
    else for (const [key, member] of Object.entries(value)) collect(member, [...path, key], found);
  }
}

/** The name in a `{ $secret: NAME }`; undefined for any other value. */
export function referredSecret(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return undefined;
  const name = value.$secret;
  return typeof name === 'string' && secretName.test(name) ? name : undefined;
}

/** Which secrets a flow gives to which handlers: forwards, backwards, to remind. */
export function secretsGiven(document: WorkflowDocument): { readonly handler: string; readonly name: string }[] {
  const given: { handler: string; name: string }[] = [];
  walkItems(document, ({ item }) => {
    for (const call of callsOf(item)) {
      for (const { name } of secretReferences(call.with)) given.push({ handler: call.step, name });
    }
  });
  return given;
}
