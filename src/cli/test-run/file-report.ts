import type { DiagnosticsJson } from '../../syntax/index.js';
import type { FlowMarks } from '../../testing/flow-runner/index.js';

/** What came of one file of tests. Plain data: it may come from another thread. */
export interface FileReport {
  /** As its user called it. */
  readonly file: string;
  /** What all of its tests share has mistakes, so nothing was run. */
  readonly isInvalid: boolean;
  readonly diagnostics: DiagnosticsJson['diagnostics'];
  /** The same for people. */
  readonly diagnosticsText: string;
  readonly tests: readonly TestReport[];
  /** Of the flow under test and of its children that were run, what their runs came to. */
  readonly flows: readonly FlowMarks[];
}

export interface TestReport {
  readonly name: string;
  readonly ok: boolean;
  /** It has mistakes, and was not run. */
  readonly isInvalid: boolean;
  readonly durationMs: number;
  /** The first thing that is wrong, in one sentence; null where it passed. */
  readonly summary: string | null;
  /** All that is wrong, at its line, and what the run did; empty where it passed. */
  readonly text: string;
}
