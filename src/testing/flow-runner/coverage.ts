import { relative, resolve } from 'node:path';
import { type Definition, type Item, type Verb, bodiesOf } from '../../definition/index.js';
import type { JournalRow } from '../../storage/index.js';
import { type Path, type Source, nodeAt, parseDocument } from '../../syntax/index.js';
import { ItemPlaces } from '../world/item-places.js';

/** A place of a flow that a test can come to. */
export interface CoveragePoint {
  readonly kind: 'item' | 'arm' | 'onError' | 'timeout' | 'compensation';
  /** For people: `the item charge`, `the arm 1 of branch@3`. */
  readonly what: string;
  /** In the flow's document. */
  readonly path: Path;
}

/** A flow's points, and those that some runs of it came to. Plain data, to be added up over files and threads. */
export interface FlowMarks {
  readonly hash: string;
  readonly workflow: string;
  readonly revision: number;
  /** Of the flow; null where it is not known. */
  readonly file: string | null;
  /** In the order of the file. */
  readonly points: readonly (CoveragePoint & { readonly mark: string; readonly line: number | null })[];
  readonly marks: readonly string[];
}

/** What the tests of a flow have come to. */
export interface Coverage {
  readonly workflow: string;
  readonly revision: number;
  readonly file: string | null;
  readonly total: number;
  readonly covered: number;
  /** Whole, from 0 to 100; 100 only where nothing is missing. */
  readonly percent: number;
  /** In the order of the file. */
  readonly missing: readonly { readonly line: number | null; readonly kind: string; readonly what: string }[];
}

/** Adds up what runs came to, by flow. */
export function mergeCoverage(flows: readonly FlowMarks[]): Coverage[] {
  const byHash = new Map<string, { readonly flow: FlowMarks; readonly marks: Set<string> }>();
  for (const flow of flows) {
    const known = byHash.get(flow.hash) ?? { flow, marks: new Set<string>() };
    for (const mark of flow.marks) known.marks.add(mark);
    byHash.set(flow.hash, known);
  }
  return [...byHash.values()].map(({ flow: { workflow, revision, file, points }, marks }) => {
    const missing = points.filter(({ mark }) => !marks.has(mark));
    const total = points.length;
    const covered = total - missing.length;
    return {
      workflow,
      revision,
      file,
      total,
      covered,
      percent: total === 0 ? 100 : Math.floor((covered / total) * 100),
      missing: missing.map(({ line, kind, what }) => ({ line, kind, what })),
    };
  });
}

/** The points of a flow, and which of them runs of it came to. */
export class FlowCoverage {
  readonly #definition: Definition;
  readonly #places: ItemPlaces;
  readonly #points = new Map<string, CoveragePoint>();
  readonly #marks = new Set<string>();

  constructor(definition: Definition) {
    this.#definition = definition;
    this.#places = new ItemPlaces(definition);
    if (definition.document.timeout !== undefined && definition.document.timeout !== 'never') {
      this.#points.set('timeout', { kind: 'timeout', what: 'the timeout of the run', path: ['timeout'] });
    }
    for (const { key, item, path } of this.#places.all) {
      this.#points.set(key, { kind: 'item', what: item === undefined ? `the reminder ${key}` : key, path });
      if (item !== undefined) this.#addParts(key, item, path);
    }
  }

  /** Looks at the entries of one run. */
  add(entries: readonly JournalRow[]): void {
    for (const row of entries) {
      for (const { place } of this.#places.begunBy(row)) this.#marks.add(place.key);
      for (const mark of marksOf(row)) this.#marks.add(mark);
    }
    this.#markTraceless();
  }

  /** @param folder from which the path of the flow's file is told */
  marks(folder: string): FlowMarks {
    const { hash, name, revision, source } = this.#definition;
    const lineOf = source === undefined ? () => null : lines(source);
    const points = [...this.#points].map(([mark, point]) => ({ ...point, mark, line: lineOf(point.path) }));
    return {
      hash,
      workflow: name,
      revision,
      file: source === undefined ? null : relative(folder, resolve(source.name)),
      points: points.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
      marks: [...this.#marks],
    };
  }

  #addParts(key: string, item: Item, path: Path): void {
    const add = (mark: string, point: CoveragePoint): void => void this.#points.set(mark, point);
    if ('branch' in item) {
      item.branch.forEach((arm, index) => {
        const name = 'else' in arm ? 'else' : (arm.name ?? String(index + 1));
        add(`${key} arm ${index}`, { kind: 'arm', what: `arm ${name} of ${key}`, path: [...path, 'branch', index] });
      });
    }
    item.onError?.forEach((entry, index) => {
      const names = entry.errors === undefined ? 'any error' : entry.errors.join(', ');
      const at: Path = [...path, 'onError', index];
      add(`${key} onError ${index}`, { kind: 'onError', what: `onError of ${key} (${names})`, path: at });
    });
    if ('step' in item && item.compensate !== undefined) {
      const at: Path = [...path, 'compensate'];
      add(`${key} compensate`, { kind: 'compensation', what: `the compensation of ${key}`, path: at });
    }
    // That of a step is one attempt's: what comes of it is a retry or an error like others.
    if ('timeout' in item && item.timeout !== undefined && item.timeout !== 'never' && !('step' in item)) {
      add(`${key} timeout`, { kind: 'timeout', what: `the timeout of ${key}`, path: [...path, 'timeout'] });
    }
  }

  /**
   * Some items leave no entry: `rethrow`, `fail` without a message, a group of such. They were come to if what
   * stands before them in their list is over, or if they are the first and their list was entered.
   */
  #markTraceless(): void {
    const visit = (list: readonly Item[], path: Path, entered: boolean): void => {
      let reached = entered;
      list.forEach((item, index) => {
        const place = this.#places.all.find((one) => one.item === item);
        if (place === undefined) return;
        const { key, verb } = place;
        if (reached && item.when === undefined && traceless.has(verb)) this.#marks.add(key);
        for (const body of bodiesOf(item)) {
          visit(body.list, [...path, index, ...body.path], this.#isEntered(place.key, verb, body.path));
        }
        reached &&= this.#marks.has(`${key} over`) || (this.#marks.has(key) && !('step' in item) && verb !== 'waitFor');
      });
    };
    const { document } = this.#definition;
    visit(document.steps, ['steps'], true);
    visit(document.onFailure ?? [], ['onFailure'], this.#marks.has('onFailure'));
    visit(document.finally ?? [], ['finally'], this.#marks.has('finally'));
  }

  #isEntered(key: string, verb: Verb | 'remind', [part, index]: Path): boolean {
    if (part === 'onError') return this.#marks.has(`${key} onError ${index}`);
    if (verb === 'branch') return this.#marks.has(`${key} arm ${index}`);
    return this.#marks.has(key) && (verb === 'group' || verb === 'parallel' || this.#marks.has(`${key} entered`));
  }
}

const traceless: ReadonlySet<Verb | 'remind'> = new Set(['rethrow', 'fail', 'group', 'parallel']);

function marksOf({ kind, step, occurrence, aspect, payload }: JournalRow): string[] {
  if (step === null) {
    if (kind === 'timer-fired' && aspect === 'deadline') return ['timeout'];
    if (kind !== 'run-outcome') return [];
    return (payload ?? '').includes('"status":"failed"') ? ['onFailure', 'finally'] : ['finally'];
  }
  switch (kind) {
    case 'decision': {
      if (aspect !== 'arm' && aspect !== 'onError' && aspect !== 'list' && aspect !== 'condition')
        return [`${step} over`];
      const { value } = JSON.parse(payload ?? '{}') as { value?: unknown };
      if (typeof value === 'number') return [`${step} ${aspect} ${value}`];
      const isTurn = Array.isArray(value) ? value.length > 0 : value === true || (occurrence ?? '0') !== '0';
      return isTurn ? [`${step} entered`] : [];
    }
    case 'compensation-started':
      return [`${step} compensate`];
    case 'timer-fired':
      return aspect === 'gate' || aspect === 'deadline' || aspect === 'child' ? [`${step} timeout`] : [`${step} over`];
    case 'step-completed':
    case 'step-skipped':
    case 'signal-consumed':
      return [`${step} over`];
    default:
      return [];
  }
}

function lines(source: Source): (path: Path) => number | null {
  const { root } = parseDocument(source);
  return (path) => {
    const node = root && nodeAt(root, path);
    return node === undefined ? null : source.position(node.range.start).line;
  };
}
