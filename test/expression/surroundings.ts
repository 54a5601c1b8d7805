import type { JsonObject, JsonValue } from '../../src/common/index.js';
import {
  type Bindings,
  type Surroundings,
  compileFormula,
  evaluate,
  evaluateCondition,
  evaluateList,
} from '../../src/expression/index.js';

/** Binds `$name` to each property, `$steps` to `steps`. */
export function bind(values: JsonObject, steps: JsonObject = {}): Bindings {
  const own = (object: JsonObject, name: string): JsonValue | undefined =>
    Object.hasOwn(object, name) ? object[name] : undefined;
  return {
    variable: (name) => own(values, name),
    step: (id) => own(steps, id),
    stepIds: () => Object.keys(steps),
  };
}

export const noon: Surroundings = { now: Date.UTC(2026, 2, 14, 12), random: () => 0.25 };

/** What one customer ordered, as the flows of the manual have it. */
export const order: JsonObject = {
  input: {
    orderId: 'A-17',
    customer: { id: 'c1', email: 'ann@example.test', phone: null },
    items: [
      { sku: 'tea', qty: 2, price: 3.5 },
      { sku: 'cup', qty: 1, price: 8 },
    ],
    total: 15,
    express: true,
    tags: [],
  },
  constants: { approvalLimit: 10 },
};
export const done: JsonObject = { reserve: { reservationId: 'r-9' }, decision: {}, nothing: null };

export const valueOf = async (formula: string, bindings = bind(order, done)): Promise<JsonValue | undefined> =>
  evaluate(compileFormula(formula), bindings, noon);
export const conditionOf = async (formula: string, bindings = bind(order, done)): Promise<boolean> =>
  evaluateCondition(compileFormula(formula), bindings, noon);
export const listOf = async (formula: string, bindings = bind(order, done)): Promise<JsonValue[]> =>
  evaluateList(compileFormula(formula), bindings, noon);

/** The value of a formula over an input. */
export const givenInput = async (formula: string, input: JsonObject = {}): Promise<JsonValue | undefined> =>
  valueOf(formula, bind({ input }));
