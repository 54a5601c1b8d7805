import type { Path, Range } from '../../syntax/index.js';

/** Something that is not as a test says. A value: rendering it at its line is the last step. */
export interface TestFailure {
  /** Of the expectation, in the document of the test; of the test itself where nothing stands for it. */
  readonly path: Path;
  /** What to show of the file instead, where that is known better. */
  readonly range?: Range;
  /** One sentence without a full stop. */
  readonly message: string;
  /** What was expected (`-`) and what is there (`+`), line by line. */
  readonly diff?: readonly string[];
  /** How to mend it. */
  readonly help?: string;
}
