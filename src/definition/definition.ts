import { createHash } from 'node:crypto';
import { type JsonValue, RunsheetError, canonicalJson, isJsonObject } from '../common/index.js';
import type { Source } from '../syntax/index.js';
import { canonicalDocument } from './canonical-document.js';
import type { WorkflowDocument } from './document.generated.js';

/** The version of the language; part of every hash, since it says what the words of the document mean. */
const language = 'runsheet/1';

/** One revision of a workflow, sealed: what it does can no longer change, and its hash says which it is. */
export interface Definition {
  readonly name: string;
  readonly revision: number;
  /** SHA-256 of `canonical`, lower-case hex. */
  readonly hash: string;
  /** RFC 8785 text of `{ language, definition }`: what is hashed, stored, and read back by `definitionFromCanonical`. */
  readonly canonical: string;
  /** The canonical document (see `canonicalDocument`), deeply frozen. Runs are driven from this one. */
  readonly document: WorkflowDocument;
  /** The file it was written in, where there is one; for messages only. */
  readonly source?: Source;
}

/** Seals a checked document. Layout, comments, key order and quoting of its file make no difference. */
export function sealDefinition(document: WorkflowDocument, source?: Source): Definition {
  const definition = canonicalDocument(document) as unknown as JsonValue;
  return seal(canonicalJson({ language, definition }), source);
}

/**
 * The definition of a stored canonical text. The hash is computed anew, so that it tells whether the text is still
 * the one that was stored. Throws `RS_DEFINITION_INVALID` if the text is no canonical definition of this language.
 */
export function definitionFromCanonical(text: string): Definition {
  let parsed: JsonValue;
  try {
    parsed = JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new RunsheetError('RS_DEFINITION_INVALID', 'the stored definition is not JSON', { cause });
  }
  if (!isJsonObject(parsed) || parsed.language !== language || !isJsonObject(parsed.definition)) {
    throw new RunsheetError('RS_DEFINITION_INVALID', `the stored definition is not one of the language ${language}`);
  }
  if (canonicalJson(parsed) !== text) {
    throw new RunsheetError('RS_DEFINITION_INVALID', 'the stored definition is not in canonical form');
  }
  return seal(text);
}

function seal(canonical: string, source?: Source): Definition {
  // Parsed back, so that runs see the keys in canonical order whatever the order in the file was.
  const { definition } = JSON.parse(canonical) as { definition: WorkflowDocument };
  return Object.freeze({
    name: definition.workflow,
    revision: definition.revision ?? 1,
    hash: createHash('sha256').update(canonical).digest('hex'),
    canonical,
    document: deepFreeze(definition),
    ...(source !== undefined && { source }),
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
