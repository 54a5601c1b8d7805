import type { JsonValue } from '../common/index.js';

/** What an item gave. Containers build theirs from those of their items when somebody looks. */
export class Output {
  #value: JsonValue | undefined;
  readonly #compute: () => JsonValue;

  constructor(
    /** Key and occurrence of the item it came from (`charge#0`). */
    readonly from: string,
    compute: () => JsonValue,
  ) {
    this.#compute = compute;
  }

  get value(): JsonValue {
    this.#value ??= this.#compute();
    return this.#value;
  }
}

/**
 * `$steps` as one body sees it. Branches and turns get a `fork`: they read what was there before
 * them, and never see one another's.
 */
export class StepOutputs {
  readonly #parent: StepOutputs | undefined;
  /** Undefined hides what a parent has. */
  readonly #own = new Map<string, Output | undefined>();

  constructor(parent?: StepOutputs) {
    this.#parent = parent;
  }

  get(name: string): Output | undefined {
    return this.#own.has(name) ? this.#own.get(name) : this.#parent?.get(name);
  }

  set(name: string, output: Output): void {
    this.#own.set(name, output);
  }

  clear(names: readonly string[]): void {
    for (const name of names) this.#own.set(name, undefined);
  }

  fork(): StepOutputs {
    return new StepOutputs(this);
  }

  /** All that is visible now, which later changes do not reach. */
  snapshot(): StepOutputs {
    const copy = new StepOutputs();
    for (const name of this.names()) copy.#own.set(name, this.get(name));
    return copy;
  }

  /** Takes over what a branch has set, once it is over. */
  merge(branch: StepOutputs): void {
    for (const [name, output] of branch.#own) this.#own.set(name, output);
  }

  *names(): Generator<string> {
    for (const [name, output] of this.#own) if (output !== undefined) yield name;
    for (const name of this.#parent?.names() ?? []) if (!this.#own.has(name)) yield name;
  }
}

/** One that gives undefined hides what is around it. */
export type OwnVariables = Readonly<Record<string, () => JsonValue | undefined>>;

/** Variables other than `$steps`, innermost first. */
export class Variables {
  readonly #parent: Variables | undefined;
  readonly #own: OwnVariables;

  constructor(own: OwnVariables, parent?: Variables) {
    this.#own = own;
    this.#parent = parent;
  }

  get(name: string): JsonValue | undefined {
    if (Object.hasOwn(this.#own, name)) return this.#own[name]?.();
    return this.#parent?.get(name);
  }

  with(own: OwnVariables): Variables {
    return new Variables(own, this);
  }
}
