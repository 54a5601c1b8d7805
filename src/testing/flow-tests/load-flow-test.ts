import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { applyIgnoreComments } from '../../check/index.js';
import type { Definition } from '../../definition/index.js';
import type { HandlerCatalogue } from '../../handlers/index.js';
import { type Diagnostic, Source, type SyntaxNode, nearest, toValue } from '../../syntax/index.js';
import { checkFlowTest } from './check-flow-test.js';
import type { FlowTestDocument } from './document.generated.js';
import { FlowLibrary, type LibraryFlow } from './flow-library.js';
import { FlowTestReport } from './flow-test-report.js';
import { flowUnderTest } from './flow-under-test.js';
import { readFlowTest } from './read-flow-test.js';
import { mistakesByTest, soundPart } from './sound-part.js';
import { rangeOf } from './test-check.js';

export interface LoadFlowTestOptions {
  /** Folder in which flows are looked up beside that of the test file. */
  readonly definitions?: string;
  /** What handlers say of themselves. Absent: nothing is said about what they answer. */
  readonly handlers?: HandlerCatalogue;
  /** Shared by many files of tests, so that each flow is read once. */
  readonly library?: FlowLibrary;
  /** Paths of flows whose mistakes are told of themselves, so that a test need not say that there are any. */
  readonly toldElsewhere?: ReadonlySet<string>;
}

export interface LoadedFlowTest {
  readonly source: Source;
  readonly root?: SyntaxNode;
  /** Absent if something that all tests share has mistakes; of the tests in `mistakes` the shape may be wrong. */
  readonly document?: FlowTestDocument;
  /** By their place in the list, the tests that cannot be run, with what is wrong. */
  readonly mistakes: ReadonlyMap<number, readonly Diagnostic[]>;
  /** The flow under test; absent if it does not exist or has mistakes. */
  readonly workflow?: Definition;
  /** The flows that it may start, at any depth, as far as they were found; of one name the newest revision. */
  readonly children: readonly Definition[];
  /** In order of position, those of `mistakes` too. If none is an error, `document` and `workflow` are there. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a file of flow tests, finds its flow and the children of it, and checks all that is known before a run. */
export async function loadFlowTest(path: string, options: LoadFlowTestOptions = {}): Promise<LoadedFlowTest> {
  return checkFlowTestSource(Source.fromBytes(path, await readFile(path)), options);
}

/** As `loadFlowTest`, of a text; flows are looked up from the folder of `source.name`. */
export async function checkFlowTestSource(source: Source, options: LoadFlowTestOptions = {}): Promise<LoadedFlowTest> {
  const { root, diagnostics } = readFlowTest(source);
  const heeded = (found: readonly Diagnostic[]): readonly Diagnostic[] =>
    applyIgnoreComments(source, found, options.handlers !== undefined);
  const sound = root === undefined ? undefined : soundPart(root, diagnostics);
  if (root === undefined || sound === undefined) {
    return {
      source,
      ...(root !== undefined && { root }),
      children: [],
      mistakes: new Map(),
      diagnostics: heeded(diagnostics),
    };
  }
  const report = new FlowTestReport();
  report.diagnostics.push(...diagnostics);
  const found = await findFlows(sound.document.workflow, source.name, options);
  const { toldElsewhere } = options;
  const workflow = reportFlow(found, { root: sound.root, name: sound.document.workflow, toldElsewhere }, report);
  if (workflow !== undefined) {
    const { handlers } = options;
    const children = found.children.flatMap(({ definition }) => definition ?? []);
    const checked = { source, ...sound, workflow, children, ...(handlers !== undefined && { handlers }) };
    report.diagnostics.push(...checkFlowTest(checked));
  }
  const all = heeded(report.inOrder());
  const mistakes = mistakesByTest(root, all);
  return {
    source,
    root,
    ...(mistakes !== undefined && { document: toValue(root) as unknown as FlowTestDocument }),
    mistakes: mistakes ?? new Map(),
    ...(workflow !== undefined && { workflow }),
    children: found.children.flatMap(({ definition }) => definition ?? []),
    diagnostics: all,
  };
}

interface FoundFlows {
  /** Undefined where there is no such flow. */
  readonly flow?: LibraryFlow;
  /** Children of the flow, at any depth; those with mistakes too. */
  readonly children: readonly LibraryFlow[];
  /** What there is beside the test, for the nearest name. */
  readonly names: readonly string[];
}

async function findFlows(name: string, testFile: string, options: LoadFlowTestOptions): Promise<FoundFlows> {
  const { definitions, library = new FlowLibrary() } = options;
  const isPath = /[/\\]|\.(yaml|yml|json)$/.test(name);
  const beside = dirname(testFile);
  const path = isAbsolute(name) ? name : join(beside, name);
  const folders = [isPath ? dirname(path) : beside, ...(definitions === undefined ? [] : [definitions])];
  const around = (await Promise.all(folders.map((folder) => library.folder(folder)))).flat();
  const flow = isPath ? await library.file(path) : newest(around, name);
  const names = around.flatMap((each) => (isPath ? `./${relative(beside, each.path)}` : (each.name ?? [])));
  return { ...(flow !== undefined && { flow }), children: childrenOf(flow, around), names };
}

function newest(flows: readonly LibraryFlow[], name: string): LibraryFlow | undefined {
  const named = flows.filter((flow) => flow.name === name);
  return named.sort((a, b) => (b.definition?.revision ?? 0) - (a.definition?.revision ?? 0))[0];
}

function childrenOf(flow: LibraryFlow | undefined, around: readonly LibraryFlow[]): LibraryFlow[] {
  const children = new Map<string, LibraryFlow>();
  const pending = [flow];
  for (const each of pending) {
    for (const name of each?.definition === undefined ? [] : flowUnderTest(each.definition).children) {
      if (children.has(name) || name === flow?.name) continue;
      const child = newest(around, name);
      if (child === undefined) continue;
      children.set(name, child);
      pending.push(child);
    }
  }
  return [...children.values()];
}

/** The definition of the flow under test, or what is wrong with it or with a child. */
function reportFlow(
  { flow, children, names }: FoundFlows,
  { root, name, toldElsewhere }: { root: SyntaxNode; name: string; toldElsewhere: ReadonlySet<string> | undefined },
  report: FlowTestReport,
): Definition | undefined {
  const range = rangeOf(root, ['workflow']);
  if (flow === undefined) {
    const guess = nearest(name, names);
    const help =
      guess === undefined
        ? 'write its path from this file, such as `./order-fulfilment.yaml`, or its name'
        : `did you mean \`${guess}\`?`;
    report.error('RS6020', range, `there is no flow \`${name}\``, help);
    return undefined;
  }
  for (const each of [flow, ...children]) {
    if (each.definition !== undefined || toldElsewhere?.has(resolve(each.path)) === true) continue;
    const what = each === flow ? 'the flow under test' : `\`${each.name ?? each.path}\`, which it starts,`;
    report.error('RS6021', range, `${what} has mistakes`, `see \`runsheet validate ${each.path}\``);
  }
  return flow.definition;
}
