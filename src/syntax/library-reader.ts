import type { CST, Composer, Document, YAMLError } from 'yaml';
import { type Place, findPlace } from './cst-walk.js';
import { type Diagnostic, byPlace } from './diagnostic.js';
import { FormulaEnds } from './formula-ends.js';
import { type Mask, type Slip, colonSlip, flowFormulaSlip, markerSlip } from './formula-slips.js';
import { explainLibraryError } from './library-errors.js';
import { limits } from './limits.js';
import type { ParsedDocument } from './parsed-document.js';
import { roughDocument } from './rough-document.js';
import type { Source } from './source.js';
import type { SyntaxNode } from './tree.js';
import { TreeBuilder } from './tree-builder.js';
import { yamlLibrary } from './yaml-library.js';

/**
 * Reads a text with the YAML library, which knows all of YAML. All mistakes that are independent of one another are
 * reported at once; after one that makes the rest unreadable only what stands before it.
 */
export function readByLibrary(source: Source): ParsedDocument {
  const reading = readPastSlips(source.text);
  const diagnostics = [...reading.slips, ...readingErrors(reading)];
  const fatalAt = reading.fatal?.range.start ?? Infinity;
  const [document] = reading.documents;
  let root: SyntaxNode | undefined;
  const words = reading.masks.filter(({ as }) => as === 'word').map(({ range }) => range);
  if (document !== undefined && !isEmpty(document)) {
    const builder = new TreeBuilder(source, words);
    root = builder.build(document);
    const masked = reading.slips.map((slip) => slip.range);
    diagnostics.push(
      ...builder.diagnostics.filter(
        ({ range }) =>
          range.start < fatalAt && !masked.some(({ start, end }) => range.start < end && start < range.end),
      ),
    );
  }
  diagnostics.sort(byPlace);
  if (root === undefined || reading.fatal !== undefined) return { diagnostics };
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return { root, diagnostics };
  const rough = reading.isGuessable ? roughDocument(root, errors, reading.masks, source.text) : undefined;
  return { ...(rough !== undefined && { rough }), diagnostics };
}

interface Reading {
  readonly slips: readonly Diagnostic[];
  /** What was masked on their account. */
  readonly masks: readonly Mask[];
  /** Whether what is masked stands for single values, so that the rest is as it was meant. */
  readonly isGuessable: boolean;
  /** The first thing that the library could not read. */
  readonly fatal?: Diagnostic;
  readonly documents: readonly Document.Parsed[];
  readonly tokens: readonly CST.Token[];
}

/**
 * Mistakes of known extent are masked and the text is read again, since otherwise each would drag along
 * errors about whatever follows. Rounds are bounded so that a hostile file costs no more than a few full reads.
 */
function readPastSlips(original: string): Reading {
  const slips: Diagnostic[] = [];
  const masks: Mask[] = [];
  let isGuessable = true;
  const rounds = Math.max(3, Math.min(50, Math.floor((4 * limits.bytes) / (original.length + 1))));
  let text = original;
  for (let round = 1; ; round += 1) {
    const tokens = [...new (yamlLibrary().Parser)().parse(text)];
    const { slips: seen, tooDeep } = slipsIn(tokens, original);
    if (tooDeep !== undefined) return { slips, masks, isGuessable, fatal: tooDeep, documents: [], tokens };
    // What is masked can still look like a slip; said once, it is read past.
    const keyOf = ({ code, range }: Diagnostic): string => `${code} ${range.start}`;
    const said = new Set(slips.map(keyOf));
    const found = seen.filter(({ diagnostic }) => !said.has(keyOf(diagnostic)));
    if (said.size + found.length > limits.diagnostics) {
      const all = [...slips, ...found.map(({ diagnostic }) => diagnostic)];
      return { slips: all, masks, isGuessable: false, documents: [], tokens };
    }
    if (found.length > 0 && round < rounds) {
      slips.push(...found.map((slip) => slip.diagnostic));
      masks.push(...found.flatMap((slip): readonly Mask[] => slip.masks));
      isGuessable &&= found.every((slip) => slip.masks.length === 1);
      text = masked(text, found);
      continue;
    }
    const documents = [...newComposer().compose(tokens)];
    const [first] =
      documents[0] === undefined ? [] : [...documents[0].errors, ...documents[0].warnings].sort(byPosition);
    const fatal = first === undefined ? undefined : explainLibraryError(first, tokens, text);
    return { slips, masks, isGuessable, documents, tokens, ...(fatal === undefined ? {} : { fatal }) };
  }
}

/** What comes later is mostly a consequence of the first; of several at one place the library names the cause first. */
function byPosition(left: YAMLError, right: YAMLError): number {
  return left.pos[0] - right.pos[0];
}

function newComposer(): Composer {
  return new (yamlLibrary().Composer)({
    version: '1.2',
    merge: false,
    strict: true,
    stringKeys: true,
    uniqueKeys: false,
    keepSourceTokens: true,
  });
}

/** The slips of a text, unless something in it is nested too deep to be composed. */
function slipsIn(tokens: readonly CST.Token[], original: string): { slips: Slip[]; tooDeep?: Diagnostic } {
  const slips: Slip[] = [];
  const ends = new FormulaEnds(original);
  let until = -1;
  const tooDeep = findPlace(tokens, (place) => {
    if (isTooDeep(place)) return true;
    if (place.token.offset < until) return false;
    const slip =
      bannedSyntax(place.token) ??
      markerSlip(place, original) ??
      flowFormulaSlip(place, original, ends) ??
      colonSlip(place, original);
    if (slip === undefined) return false;
    slips.push(slip);
    until = Math.max(...slip.masks.map((mask) => mask.range.end));
    return false;
  });
  return { slips, ...(tooDeep !== undefined && { tooDeep: depthProblem(tooDeep) }) };
}

function isTooDeep({ token, depth }: Place): boolean {
  if (depth <= limits.depth) return false;
  return token.type === 'flow-collection' || (token.type.startsWith('block-') && 'items' in token);
}

function depthProblem({ token }: Place): Diagnostic {
  return {
    code: 'RS1005',
    severity: 'error',
    message: `values are nested more than ${limits.depth} deep`,
    range: { start: token.offset, end: token.offset + 1 },
    help: 'move the inner part into a workflow or a handler of its own',
  };
}

function bannedSyntax(token: CST.Token): Slip | undefined {
  if (token.type !== 'directive' && token.type !== 'tag') return undefined;
  const range = { start: token.offset, end: token.offset + token.source.trimEnd().length };
  const diagnostic: Diagnostic =
    token.type === 'directive'
      ? {
          code: 'RS1007',
          severity: 'error',
          message: `directives such as \`${token.source.split(/\s/)[0] ?? ''}\` are not part of the language`,
          range,
          help: 'remove the line; flow files are YAML 1.2',
        }
      : {
          code: 'RS1008',
          severity: 'error',
          message: `the explicit tag \`${token.source}\` is not part of the language`,
          range,
          help: `remove it; if text is meant, quote the value`,
        };
  return { diagnostic, masks: [{ range, as: token.type === 'directive' ? 'comment' : 'blank' }] };
}

function masked(text: string, slips: readonly Slip[]): string {
  const units = text.split('');
  for (const { range, as } of slips.flatMap((slip): readonly Mask[] => slip.masks)) {
    if (as === 'comment') {
      units[range.start] = '#';
      continue;
    }
    for (let at = range.start; at < range.end; at += 1) {
      if (/\S/.test(units[at] ?? '')) units[at] = as === 'blank' ? ' ' : '_';
    }
  }
  return units.join('');
}

function readingErrors({ fatal, documents, tokens, slips }: Reading): Diagnostic[] {
  const errors = fatal === undefined ? [] : [fatal];
  const [first] = documents;
  const isUnread = documents.length === 0 && slips.length > limits.diagnostics;
  if (fatal === undefined && !isUnread && (first === undefined || (documents.length === 1 && isEmpty(first)))) {
    const help = 'a flow begins with `workflow: <name>`';
    errors.push({ code: 'RS1002', severity: 'error', message: 'the file is empty', range: { start: 0, end: 0 }, help });
  }
  const second = tokens.filter((token) => token.type === 'document')[1];
  if (second !== undefined && (fatal === undefined || fatal.range.start < second.offset)) {
    const marker = second.start.find((token) => token.type === 'doc-start');
    const start = marker?.offset ?? second.value?.offset ?? second.offset;
    errors.push({
      code: 'RS1003',
      severity: 'error',
      message: 'a second document begins here',
      range: { start, end: start + (marker?.source.length ?? 1) },
      help: 'one file holds one flow: move the rest into a file of its own',
    });
  }
  return errors;
}

function isEmpty(document: Document.Parsed): boolean {
  const { contents } = document;
  return (
    contents === null ||
    ('source' in contents && contents.source === '' && 'type' in contents && contents.type === 'PLAIN')
  );
}
