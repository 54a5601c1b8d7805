import { tooLong, tooMuch } from './fault.js';
import { limits } from './limits.js';
import { isFunctionValue } from './value-names.js';

/**
 * Weighs what a formula makes: the number of values inside it plus the characters of its strings, each
 * counted wherever it stands. A few lines can build a list that holds itself a million million times over
 * (each level twice the one below); it costs nothing until somebody compares, prints or copies it, and then
 * it hangs the process. So a value that is too heavy is refused where it is made.
 *
 * Weights of parts are remembered, which makes weighing as cheap as making. `remember: false` is for
 * formulas with a transform (`|…|…|`), which changes objects after they were made.
 */
export class Scales {
  readonly #known = new WeakMap<object, number>();
  readonly #remember: boolean;
  #made = 0;

  constructor(remember: boolean) {
    this.#remember = remember;
  }

  /** Throws a `Fault` when the value, or all that was made so far, is too large. */
  weigh(value: unknown): void {
    if (typeof value === 'string') {
      if (value.length > limits.length) throw tooLong('a string');
      this.#count(value.length / 8);
    } else if (typeof value === 'object' && value !== null && !this.#known.has(value)) {
      if (Array.isArray(value)) {
        if (value.length > limits.length) throw tooLong('a list');
        this.#count(value.length);
      }
      this.#heaviness(value, 0);
    }
  }

  #count(items: number): void {
    this.#made += items;
    if (this.#made > limits.made) throw tooMuch();
  }

  #heaviness(value: unknown, soFar: number): number {
    if (typeof value === 'string') return value.length + 1;
    if (typeof value !== 'object' || value === null || isFunctionValue(value)) return 1;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    let weight = 1;
    for (const [key, part] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      if (typeof key === 'string') weight += key.length;
      weight += this.#heaviness(part, soFar + weight);
      if (soFar + weight > limits.weight) throw tooMuch();
    }
    if (this.#remember) this.#known.set(value, weight);
    return weight;
  }
}
