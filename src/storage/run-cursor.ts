import { RunsheetError } from '../common/index.js';

/** Where a page of `listRuns` ended: the last run's place in the order. */
export interface RunCursor {
  readonly createdAt: number;
  readonly run: number;
}

export function encodeCursor({ createdAt, run }: RunCursor): string {
  return `${createdAt}.${run}`;
}

export function decodeCursor(text: string): RunCursor {
  const match = /^(-?\d{1,16})\.(\d{1,16})$/.exec(text);
  if (match === null) {
    throw new RunsheetError(
      'RS_OPTIONS_INVALID',
      `the cursor ${JSON.stringify(text)} is none that an earlier list ended with; leave it out to begin with the newest run`,
    );
  }
  return { createdAt: Number(match[1]), run: Number(match[2]) };
}
