import type { Expression } from 'jsonata';

import type { Direct } from './direct.js';
import type { JsonataNode } from './jsonata-tree.js';
import type { PlainPath } from './plain-path.js';

/** What a formula compiled to. */
export interface Program {
  readonly expression: Expression;
  /** The rewritten tree, which `expression` evaluates. */
  readonly tree: JsonataNode;
  /** Where the formula is a plain path. */
  readonly path: PlainPath | undefined;
  /** The way without JSONata, where there is one; it may still give up. */
  readonly direct: Direct | undefined;
  readonly hasTransform: boolean;
  /** Whether JSONata may write flags onto what it is given, so that it must be given copies. */
  readonly writesOnBindings: boolean;
}
