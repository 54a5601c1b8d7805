import type { Report } from '../../definition/index.js';
import { type FormulaNode, inspectFormula } from '../../expression/index.js';
import { type MappingEntry, type Source, type SyntaxNode, entryOf, nearest } from '../../syntax/index.js';
import type { FlowModel } from '../flow-model.js';

/** Constants and retry policies that nothing in the file names. */
export function checkUnused(root: SyntaxNode, model: FlowModel, source: Source, report: Report): void {
  // What could not be made out may name them.
  if (model.unplaced.size > 0) return;
  const declared = keysOf(root, 'constants').map(({ value }) => value);
  const constants = declared.length === 0 ? 'all' : usedConstants(model, declared);
  if (constants !== 'all') {
    for (const { value: name, range } of unused(root, 'constants', constants)) {
      // A literal text that says so lacks its `=`, and is reported as that.
      if (source.text.includes(`$constants.${name}`)) continue;
      const help = `read it as \`$constants.${name}\`, or remove it`;
      report.warning('RS4017', range, `nothing reads the constant \`${name}\``, help);
    }
  }
  const policies = new Set(model.policies.map(({ name }) => name));
  for (const { value: name, range } of unused(root, 'retryPolicies', policies)) {
    report.warning(
      'RS4018',
      range,
      `nothing uses the retry policy \`${name}\``,
      `write \`retry: ${name}\`, or remove it`,
    );
  }
}

/** The keys that are not used, nor meant by a misspelt name, of which it is said that it does not exist. */
function unused(root: SyntaxNode, key: string, used: ReadonlySet<string>): MappingEntry['key'][] {
  const keys = keysOf(root, key);
  const names = keys.map(({ value }) => value);
  const meant = new Set([...used].map((name) => (names.includes(name) ? name : nearest(name, names))));
  // What breaks the rules for names is reported with the shape.
  return keys.filter(({ value }) => !meant.has(value) && /^[A-Za-z_][\w.-]*$/.test(value));
}

function keysOf(root: SyntaxNode, key: string): MappingEntry['key'][] {
  const declared = entryOf(root, key)?.value;
  return declared?.kind === 'mapping' ? declared.entries.map((entry) => entry.key) : [];
}

/** `all` where some formula reads them as a whole, calls them by a misspelt name, or does not compile. */
function usedConstants({ formulas }: FlowModel, names: readonly string[]): ReadonlySet<string> | 'all' {
  const used = new Set<string>();
  for (const { text } of formulas) {
    const inspected = inspectFormula(text);
    if (!inspected.ok) return 'all';
    // The `$constants.` that is missing before it is said elsewhere.
    for (const { node } of inspected.free) if (names.includes(node.name)) used.add(node.name);
    if (inspected.free.some(({ node }) => isMisspeltConstants(node.name))) return 'all';
    let open = inspected.free.filter(({ node }) => node.name === 'constants').length;
    if (open === 0) continue;
    for (const { node } of inspected.nodes) {
      const name = constantReadBy(node);
      if (name === undefined) continue;
      used.add(name);
      open--;
    }
    if (open > 0) return 'all';
  }
  return used;
}

function isMisspeltConstants(variable: string): boolean {
  return variable !== 'constants' && nearest(variable, ['constants']) !== undefined;
}

function constantReadBy(node: FormulaNode): string | undefined {
  if (node.kind !== 'path') return undefined;
  const [first, second] = node.steps;
  if (first.kind !== 'expression' || first.node.kind !== 'variable' || second?.kind !== 'name') return undefined;
  const { name, own } = first.node;
  return name === 'constants' && !own ? second.name : undefined;
}
