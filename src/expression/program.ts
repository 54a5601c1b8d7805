import type { Expression } from 'jsonata';

import type { JsonValue } from '../common/index.js';

import type { JsonataNode } from './jsonata-tree.js';
import type { PlainPath } from './plain-path.js';

/** What a formula compiled to. */
export interface Program {
  readonly expression: Expression;
  /** The rewritten tree, which `expression` evaluates. */
  readonly tree: JsonataNode;
  /** What is known without JSONata, where the formula is that simple. */
  readonly literal: JsonValue | undefined;
  readonly path: PlainPath | undefined;
  readonly hasTransform: boolean;
  /** Whether JSONata may write flags onto what it is given, so that it must be given copies. */
  readonly writesOnBindings: boolean;
}
