import { type JsonValue, parseDuration } from '../common/index.js';
import { type Definition, formulaText, itemKey, secretReferences, walkItems } from '../definition/index.js';
import type * as document from '../definition/index.js';
import { type Formula, type Template, compileFormula, compileTemplate } from '../expression/index.js';
import type { Path } from '../syntax/index.js';
import type { Body, Call, ErrorEntry, Item, Placed, Plan, RetryPolicy, Reversal, WaitForItem } from './plan.js';
import { defaultRetry, defaultTimeoutMs } from './retry.js';
import { stepNames } from './step-names.js';

/** Makes a checked definition ready to be walked. */
export function compilePlan(definition: Definition): Plan {
  return new PlanCompiler(definition).compile();
}

class PlanCompiler {
  readonly #definition: Definition;
  readonly #places = new Map<document.Item, { key: string; place: string; path: Path }>();
  readonly #names: ReadonlyMap<document.Item, string>;

  constructor(definition: Definition) {
    this.#definition = definition;
    this.#names = stepNames(definition.document);
    walkItems(definition.document, ({ item, key, place, path }) => this.#places.set(item, { key, place, path }));
  }

  compile(): Plan {
    const { document } = this.#definition;
    return {
      definition: this.#definition,
      constants: document.constants ?? {},
      steps: this.#body(document.steps),
      onFailure: this.#body(document.onFailure ?? []),
      finally: this.#body(document.finally ?? []),
      output: document.output === undefined ? undefined : template(document.output, ['output']),
      timeoutMs: limit(document.timeout),
    };
  }

  #body(items: document.Items): Body {
    return items.map((item) => this.#item(item));
  }

  #item(item: document.Item): Item {
    const walked = this.#places.get(item);
    if (walked === undefined) throw new TypeError('fault in the interpreter: an item that the walk did not meet');
    const { key, place, path } = walked;
    const base = {
      key,
      name: this.#names.get(item),
      when: condition(item.when, [...path, 'when']),
      onError: (item.onError ?? []).map((entry, index): ErrorEntry => ({
        errors: entry.errors,
        when: condition(entry.when, [...path, 'onError', index, 'when']),
        body: this.#body(entry.do),
      })),
      blockTimeoutMs: undefined,
    };
    if ('step' in item) {
      const defaults = this.#definition.document.defaults;
      return {
        ...base,
        verb: 'step',
        handler: item.step,
        compensate: item.compensate && this.#reversal(item.compensate, [...path, 'compensate']),
        ...argumentsOf(item.with, [...path, 'with']),
        timeoutMs: item.timeout === undefined ? limit(defaults?.timeout, defaultTimeoutMs) : limit(item.timeout),
        retry:
          this.#retry(item.retry, [...path, 'retry']) ??
          this.#retry(defaults?.retry, ['defaults', 'retry']) ??
          defaultRetry,
      };
    }
    if ('set' in item) return { ...base, verb: 'set', value: template(item.set, [...path, 'set']) };
    if ('group' in item) {
      return { ...base, verb: 'group', blockTimeoutMs: limit(item.timeout), body: this.#body(item.group) };
    }
    if ('branch' in item) {
      return {
        ...base,
        verb: 'branch',
        arms: item.branch.map((arm, index) =>
          'else' in arm
            ? { when: undefined, body: this.#body(arm.else) }
            : { when: condition(arm.when, [...path, 'branch', index, 'when']), body: this.#body(arm.do) },
        ),
      };
    }
    if ('parallel' in item) {
      return {
        ...base,
        verb: 'parallel',
        blockTimeoutMs: limit(item.timeout),
        branches: Object.keys(item.parallel)
          .sort()
          .map((name) => ({ name, body: this.#body(item.parallel[name] ?? []) })),
        join: item.join === 'any' ? 1 : (item.join ?? 'all'),
        onBranchError: item.onBranchError ?? 'abort',
      };
    }
    if ('forEach' in item) {
      const listPath = [...path, 'forEach'];
      return {
        ...base,
        verb: 'forEach',
        blockTimeoutMs: limit(item.timeout),
        list:
          typeof item.forEach === 'string'
            ? { kind: 'formula', ...formula(item.forEach, listPath) }
            : { kind: 'literal', ...template(item.forEach, listPath) },
        as: item.as ?? 'item',
        concurrency: item.concurrency ?? 1,
        maxIterations: item.maxIterations ?? 1000,
        onItemError: item.onItemError ?? 'stop',
        body: this.#body(item.do),
      };
    }
    if ('doWhile' in item || 'doUntil' in item) {
      const verb = 'doWhile' in item ? 'doWhile' : 'doUntil';
      return {
        ...base,
        verb,
        blockTimeoutMs: limit(item.timeout),
        condition: formula('doWhile' in item ? item.doWhile : item.doUntil, [...path, verb]),
        maxIterations: item.maxIterations ?? 100,
        body: this.#body(item.do),
        names: this.#namesIn(item.do),
      };
    }
    if ('waitFor' in item) {
      return {
        ...base,
        verb: 'waitFor',
        signal: item.waitFor,
        timeout: gateTimeout(item.timeout, [...path, 'timeout', 'until']),
        onTimeout: item.onTimeout === undefined ? undefined : template(item.onTimeout, [...path, 'onTimeout']),
        filter: condition(item.filter, [...path, 'filter']),
        remind: item.remind && {
          key: itemKey(item.remind, `${place}.remind`),
          everyMs: parseDuration(item.remind.every),
          handler: item.remind.step,
          ...argumentsOf(item.remind.with, [...path, 'remind', 'with']),
          timeoutMs: defaultTimeoutMs,
          retry: defaultRetry,
        },
      };
    }
    if ('subWorkflow' in item) {
      return {
        ...base,
        verb: 'subWorkflow',
        workflow: item.subWorkflow,
        input: item.with === undefined ? undefined : template(item.with, [...path, 'with']),
        revision: item.revision,
        timeoutMs: limit(item.timeout),
      };
    }
    if ('pivot' in item) return { ...base, verb: 'pivot' };
    if ('sleep' in item) {
      return {
        ...base,
        verb: 'sleep',
        duration:
          typeof item.sleep === 'string'
            ? { kind: 'for', ms: parseDuration(item.sleep) }
            : { kind: 'until', ...formula(item.sleep.until, [...path, 'sleep', 'until']) },
      };
    }
    if ('complete' in item) return { ...base, verb: 'complete', value: template(item.complete, [...path, 'complete']) };
    if ('fail' in item) {
      return {
        ...base,
        verb: 'fail',
        error: item.fail,
        message: item.message === undefined ? undefined : template(item.message, [...path, 'message']),
        details: item.details === undefined ? undefined : template(item.details, [...path, 'details']),
      };
    }
    return { ...base, verb: 'rethrow' };
  }

  /** The file's defaults are for steps; a reversal has the language's own unless it states others. */
  #reversal(compensate: document.Compensation, path: Path): Reversal {
    return {
      handler: compensate.step,
      ...argumentsOf(compensate.with, [...path, 'with']),
      timeoutMs: limit(compensate.timeout, defaultTimeoutMs),
      retry: this.#retry(compensate.retry, [...path, 'retry']) ?? defaultRetry,
      exceptErrors: compensate.exceptErrors ?? [],
    };
  }

  /** What `$steps` knows of these items, at any depth. */
  #namesIn(items: document.Items): string[] {
    const names: string[] = [];
    const document = { ...this.#definition.document, steps: items, onFailure: [], finally: [] };
    walkItems(document, ({ item }) => {
      const name = this.#names.get(item);
      if (name !== undefined) names.push(name);
    });
    return names;
  }

  #retry(retry: document.Retry | undefined, path: Path): RetryPolicy | undefined {
    if (retry === undefined) return undefined;
    if (typeof retry === 'string') {
      const policy = this.#definition.document.retryPolicies?.[retry];
      if (policy === undefined) throw new TypeError(`fault in the checker: no retry policy ${retry}`);
      return retryPolicy(policy, ['retryPolicies', retry]);
    }
    return retryPolicy(retry, path);
  }
}

/** Nothing is merged: what a policy leaves out is the language's default. */
function retryPolicy(policy: document.RetryPolicy, path: Path): RetryPolicy {
  const delayMs = policy.delay === undefined ? defaultRetry.delayMs : parseDuration(policy.delay);
  return {
    attempts: policy.attempts ?? defaultRetry.attempts,
    delayMs,
    backoff: policy.backoff ?? defaultRetry.backoff,
    maxDelayMs:
      policy.maxDelay === undefined ? Math.max(defaultRetry.maxDelayMs, delayMs) : parseDuration(policy.maxDelay),
    jitter: policy.jitter ?? defaultRetry.jitter,
    maxDurationMs: policy.maxDuration === undefined ? undefined : parseDuration(policy.maxDuration),
    errors: policy.errors,
    exceptErrors: policy.exceptErrors,
    when: condition(policy.when, [...path, 'when']),
  };
}

function gateTimeout(timeout: string | document.Until, path: Path): WaitForItem['timeout'] {
  if (typeof timeout !== 'string') return { kind: 'until', ...formula(timeout.until, path) };
  return timeout === 'never' ? 'never' : { kind: 'for', ms: parseDuration(timeout) };
}

function formula(text: string | boolean, path: Path): Placed<Formula> {
  return { what: compileFormula(formulaText(text)), path };
}

function condition(text: string | boolean | undefined, path: Path): Placed<Formula> | undefined {
  return text === undefined ? undefined : formula(text, path);
}

function template(value: JsonValue, path: Path): Placed<Template> {
  return { what: compileTemplate(value), path };
}

/** What a handler is given. Secrets are found in what is written, before any data can come into it. */
function argumentsOf(written: JsonValue | undefined, path: Path): Pick<Call, 'input' | 'secrets'> {
  return { input: written === undefined ? undefined : template(written, path), secrets: secretReferences(written) };
}

/** A duration in milliseconds; undefined for `never`. */
function limit(text: string | undefined, otherwiseMs?: number): number | undefined {
  if (text === undefined) return otherwiseMs;
  return text === 'never' ? undefined : parseDuration(text);
}
