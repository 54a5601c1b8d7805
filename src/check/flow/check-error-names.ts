import { type Report, listed } from '../../definition/index.js';
import type { HandlerCatalogue } from '../../handlers/index.js';
import { type SyntaxNode, type TextNode, entryOf, isText, nearest } from '../../syntax/index.js';
import type { FlowItem, FlowModel } from '../flow-model.js';
import { stepsWithPolicy } from './policy-users.js';

/** What the language itself raises, and the names that its classes give to the errors of handlers. */
const languageErrors: readonly string[] = [
  ...['Timeout', 'ValidationError', 'ExpressionError', 'LoopLimitExceeded', 'WaitTimeout', 'RunTimeout', 'JoinFailed'],
  ...['ChildFailed', 'SerializationError', 'PayloadTooLarge', 'SecretMissing', 'Interrupted', 'Cancelled'],
  ...['Error', 'NoEffectError', 'NonRetryableError', '*'],
];

/** The names of errors that can be raised somewhere; undefined if a handler there may raise any. */
type Raised = ReadonlySet<string> | undefined;

/** Names of errors that nothing in reach raises. Said only where every handler in reach declares what it raises. */
export function checkErrorNames(root: SyntaxNode, model: FlowModel, handlers: HandlerCatalogue, report: Report): void {
  const check = new ErrorNames(model, handlers, report);
  for (const item of model.items) check.item(item);
  check.policies(root);
}

class ErrorNames {
  readonly #model: FlowModel;
  readonly #handlers: HandlerCatalogue;
  readonly #report: Report;

  constructor(model: FlowModel, handlers: HandlerCatalogue, report: Report) {
    this.#model = model;
    this.#handlers = handlers;
    this.#report = report;
  }

  item(item: FlowItem): void {
    const { node } = item;
    if (item.handlers.length > 0) {
      const raised = this.#raisedByVerb(item);
      for (const handler of item.handlers) this.#names(handler.node, ['errors'], raised);
    }
    if (item.verb !== 'step') return;
    const own = this.#raisedByHandler(item.handler);
    this.#names(entryOf(node, 'retry')?.value, ['errors', 'exceptErrors'], own);
    const compensation = entryOf(node, 'compensate')?.value;
    this.#names(compensation, ['exceptErrors'], own);
    const undoing = entryOf(compensation, 'step')?.value;
    const raised = this.#raisedByHandler(undoing?.kind === 'scalar' ? String(undoing.value) : undefined);
    this.#names(entryOf(compensation, 'retry')?.value, ['errors', 'exceptErrors'], raised);
  }

  policies(root: SyntaxNode): void {
    const named = entryOf(root, 'retryPolicies')?.value;
    for (const { key, value } of named?.kind === 'mapping' ? named.entries : []) this.#policy(value, key.value);
    this.#policy(entryOf(entryOf(root, 'defaults')?.value, 'retry')?.value, undefined);
  }

  #policy(node: SyntaxNode | undefined, name: string | undefined): void {
    const users = stepsWithPolicy(this.#model, name);
    // A compensation may use it too.
    const uses = this.#model.policies.filter((use) => use.name === name);
    if (users.length === 0 || uses.some(({ ofCompensation }) => ofCompensation === true)) return;
    this.#names(node, ['errors', 'exceptErrors'], union(users.map((user) => this.#raisedByHandler(user.handler))));
  }

  #names(node: SyntaxNode | undefined, keys: readonly string[], raised: Raised): void {
    if (raised === undefined) return;
    for (const name of keys.flatMap((key) => textsIn(entryOf(node, key)?.value))) {
      if (raised.has(name.value) || languageErrors.includes(name.value)) continue;
      const guess = nearest(name.value, [...raised, ...languageErrors]);
      const help =
        guess !== undefined
          ? `did you mean \`${guess}\`?`
          : raised.size === 0
            ? 'what is in reach declares no errors of its own'
            : `what is in reach declares ${listed([...raised].sort(), 'and')}`;
      this.#report.warning('RS4025', name.range, `nothing in reach raises \`${name.value}\``, help);
    }
  }

  #raisedByVerb(item: FlowItem): Raised {
    switch (item.verb) {
      case 'step':
        return this.#raisedByHandler(item.handler);
      case 'fail':
        return new Set(textsIn(entryOf(item.node, 'fail')?.value).map(({ value }) => value));
      case 'rethrow':
        // It raises what the items around it do.
        return undefined;
      default:
        return union(item.bodies.flatMap(({ items }) => items).map((each) => this.#raisedBy(each)));
    }
  }

  /** By the item or by what handles its errors. */
  #raisedBy(item: FlowItem): Raised {
    const handling = item.handlers.flatMap(({ items }) => items).filter(({ verb }) => verb !== 'rethrow');
    return union([this.#raisedByVerb(item), ...handling.map((each) => this.#raisedBy(each))]);
  }

  #raisedByHandler(name: string | undefined): Raised {
    const errors = this.#handlers.get(name ?? '')?.errors;
    return errors && new Set(errors);
  }
}

function union(parts: readonly Raised[]): Raised {
  const all = new Set<string>();
  for (const part of parts) {
    if (part === undefined) return undefined;
    for (const name of part) all.add(name);
  }
  return all;
}

function textsIn(node: SyntaxNode | undefined): TextNode[] {
  if (node === undefined || node.kind === 'mapping') return [];
  const nodes = node.kind === 'sequence' ? node.items : [node];
  return nodes.filter(isText);
}
