import { RunsheetError } from '../common/index.js';
import type { Definition } from './definition.js';

/** The definitions that a program uses: of each revision of a workflow there is one content. */
export class Revisions {
  readonly #known = new Map<string, Definition>();

  /** @throws RunsheetError `RS_DEFINITION_CONFLICT` naming both contents */
  add(definition: Definition): void {
    this.check(definition);
    this.#known.set(keyOf(definition), definition);
  }

  /** @throws as `add` */
  check(definition: Definition): void {
    const known = this.#known.get(keyOf(definition));
    if (known === undefined || known.hash === definition.hash) return;
    const { name, revision } = definition;
    throw new RunsheetError(
      'RS_DEFINITION_CONFLICT',
      `there are two contents of ${name} revision ${revision}: ${described(known)} and ${described(definition)}; ` +
        'give one of them another revision, or the workflow another name',
    );
  }
}

function keyOf({ name, revision }: Definition): string {
  return `${name}@${revision}`;
}

function described({ hash, source }: Definition): string {
  return source === undefined ? hash : `${source.name} (${hash})`;
}
