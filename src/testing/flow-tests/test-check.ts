import type { HandlerCatalogue } from '../../handlers/index.js';
import { type Path, type Range, type SyntaxNode, entryOf, nearest, nodeAt } from '../../syntax/index.js';
import { type Report, listed } from '../../definition/index.js';
import type { FlowTestDocument } from './document.generated.js';
import type { FlowUnderTest } from './flow-under-test.js';
import { type Scenario, scenarioOf } from './scenario.js';

/** What the checks of a file of flow tests look at. */
export interface FileCheck {
  readonly root: SyntaxNode;
  readonly document: FlowTestDocument;
  readonly flow: FlowUnderTest;
  /** The flows that may be its children, at any depth, by name. */
  readonly children: ReadonlyMap<string, FlowUnderTest>;
  /** Absent: nothing is known of the handlers. */
  readonly handlers?: HandlerCatalogue;
  readonly report: Report;
}

/** One test of the file, with its defaults, and where its parts stand. */
export interface TestCheck extends FileCheck {
  readonly index: number;
  readonly scenario: Scenario;
}

export function testChecksOf(file: FileCheck): TestCheck[] {
  return file.document.tests.map((_, index) => ({ ...file, index, scenario: scenarioOf(file.document, index) }));
}

/** Where a part of a test is written: in the test itself, else in the defaults. */
export function pathOf({ root, index }: TestCheck, key: string): Path {
  const own = ['tests', index, key];
  return nodeAt(root, own) === undefined ? ['defaults', key] : own;
}

/** Of a value; where there is none, of the nearest map or list around it. */
export function rangeOf(root: SyntaxNode, path: Path): Range {
  for (let length = path.length; length > 0; length -= 1) {
    const node = nodeAt(root, path.slice(0, length));
    if (node !== undefined)
      return length === path.length || node.kind === 'scalar' ? node.range : headOf(root, path.slice(0, length));
  }
  return root.range;
}

/** Of the key under which something stands; of an element of a list, its first key. */
export function headOf(root: SyntaxNode, path: Path): Range {
  const last = path.at(-1);
  const parent = nodeAt(root, path.slice(0, -1));
  if (typeof last === 'string') return entryOf(parent, last)?.key.range ?? rangeOf(root, path.slice(0, -1));
  const node = nodeAt(root, path);
  return (node?.kind === 'mapping' ? node.entries[0]?.key.range : undefined) ?? node?.range ?? root.range;
}

/** "did you mean `x`?", else the names that there are. */
export function meant(name: string, known: Iterable<string>, none: string): string {
  const names = [...known];
  const guess = nearest(name, names);
  if (guess !== undefined) return `did you mean \`${guess}\`?`;
  if (names.length === 0) return none;
  if (names.length === 1) return `there is only \`${names[0]}\``;
  const shown = names.slice(0, 8);
  return `there are ${listed(shown, names.length > shown.length ? ',' : 'and')}${names.length > shown.length ? ', …' : ''}`;
}
