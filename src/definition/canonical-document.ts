import { type JsonObject, type JsonValue, isJsonObject } from '../common/index.js';
import type {
  Arm,
  Compensation,
  Condition,
  Item,
  OnErrorEntry,
  Reminder,
  Retry,
  RetryPolicy,
  Until,
  WorkflowDocument,
} from './document.generated.js';
import { mapSchemas } from './json-schema-walk.js';

/**
 * What remains of a document for its identity: no `labels`, `$schema` or `description` (of the workflow, of items,
 * of JSON Schemas; never in data), formulas trimmed, formula-only fields without their `=`, a plain true or false
 * in them as text. Nothing is filled in and no order changed; that is the serialiser's work.
 */
export function canonicalDocument(document: WorkflowDocument): WorkflowDocument {
  const { $schema: _schema, labels: _labels, description: _description, ...rest } = document;
  return {
    ...rest,
    ...(rest.input !== undefined && { input: mapValues(rest.input, schema) }),
    ...(rest.inputSchema !== undefined && { inputSchema: schema(rest.inputSchema) }),
    ...(rest.defaults !== undefined && { defaults: withRetry(rest.defaults) }),
    ...(rest.retryPolicies !== undefined && { retryPolicies: mapValues(rest.retryPolicies, retryPolicy) }),
    steps: rest.steps.map(canonicalItem),
    ...(rest.onFailure !== undefined && { onFailure: rest.onFailure.map(canonicalItem) }),
    ...(rest.finally !== undefined && { finally: rest.finally.map(canonicalItem) }),
    ...(rest.output !== undefined && { output: template(rest.output) }),
  };
}

/** The text of a formula: without its leading `=`, trimmed; a plain true or false is that formula. */
export function formulaText(formula: Condition): string {
  const text = String(formula).trim();
  return text.startsWith('=') ? text.slice(1).trim() : text;
}

function canonicalItem(item: Item): Item {
  const { description: _description, ...rest } = item;
  const canonical = canonicalVerb(rest as Item);
  return {
    ...canonical,
    ...(canonical.when !== undefined && { when: formulaText(canonical.when) }),
    ...(canonical.onError !== undefined && { onError: canonical.onError.map(onErrorEntry) }),
  };
}

function canonicalVerb(item: Item): Item {
  if ('step' in item) {
    const call = withRetry(withArguments(item));
    return call.compensate === undefined ? call : { ...call, compensate: compensation(call.compensate) };
  }
  if ('set' in item) return { ...item, set: template(item.set) };
  if ('group' in item) return { ...item, group: item.group.map(canonicalItem) };
  if ('branch' in item) return { ...item, branch: item.branch.map(arm) };
  if ('parallel' in item) return { ...item, parallel: mapValues(item.parallel, (list) => list.map(canonicalItem)) };
  if ('forEach' in item) {
    const list = typeof item.forEach === 'string' ? formulaText(item.forEach) : item.forEach.map(template);
    return { ...item, forEach: list, do: item.do.map(canonicalItem) };
  }
  if ('doWhile' in item) return { ...item, doWhile: formulaText(item.doWhile), do: item.do.map(canonicalItem) };
  if ('doUntil' in item) return { ...item, doUntil: formulaText(item.doUntil), do: item.do.map(canonicalItem) };
  if ('waitFor' in item) {
    return {
      ...item,
      timeout: untilOr(item.timeout),
      ...(item.schema !== undefined && { schema: schema(item.schema) }),
      ...(item.filter !== undefined && { filter: formulaText(item.filter) }),
      ...(item.onTimeout !== undefined && { onTimeout: template(item.onTimeout) }),
      ...(item.remind !== undefined && { remind: withArguments<Reminder>(item.remind) }),
    };
  }
  if ('sleep' in item) return { ...item, sleep: untilOr(item.sleep) };
  if ('subWorkflow' in item) return withArguments(item);
  if ('complete' in item) return { ...item, complete: template(item.complete) };
  if ('fail' in item) {
    return {
      ...item,
      ...(item.message !== undefined && { message: textTemplate(item.message) }),
      ...(item.details !== undefined && { details: template(item.details) }),
    };
  }
  return item;
}

function arm(each: Arm): Arm {
  if ('else' in each) return { else: each.else.map(canonicalItem) };
  return { ...each, when: formulaText(each.when), do: each.do.map(canonicalItem) };
}

function onErrorEntry(entry: OnErrorEntry): OnErrorEntry {
  return {
    ...entry,
    ...(entry.when !== undefined && { when: formulaText(entry.when) }),
    do: entry.do.map(canonicalItem),
  };
}

function compensation(each: Compensation): Compensation {
  return withRetry(withArguments(each));
}

function withArguments<T extends { with?: JsonObject | string }>(call: T): T {
  if (call.with === undefined) return call;
  return { ...call, with: typeof call.with === 'string' ? textTemplate(call.with) : mapValues(call.with, template) };
}

function withRetry<T extends { retry?: Retry }>(holder: T): T {
  if (holder.retry === undefined || typeof holder.retry === 'string') return holder;
  return { ...holder, retry: retryPolicy(holder.retry) };
}

function retryPolicy(policy: RetryPolicy): RetryPolicy {
  return policy.when === undefined ? policy : { ...policy, when: formulaText(policy.when) };
}

function untilOr(value: string | Until): string | Until {
  return typeof value === 'string' ? value : { until: formulaText(value.until) };
}

/** Values with formulas at any depth: only texts that begin with `=` are formulas, and keys never. */
function template(value: JsonValue): JsonValue {
  if (typeof value === 'string') return textTemplate(value);
  if (Array.isArray(value)) return value.map(template);
  return isJsonObject(value) ? mapValues(value, template) : value;
}

function textTemplate(text: string): string {
  return text.startsWith('=') ? `=${text.slice(1).trim()}` : text;
}

function schema(value: JsonObject | boolean): JsonObject | boolean {
  return typeof value === 'boolean' ? value : (mapSchemas(value, withoutDescription) as JsonObject);
}

function withoutDescription(value: JsonObject): JsonObject {
  const { description: _description, ...rest } = value;
  return rest;
}

function mapValues<A, B>(map: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}
