import type { Storage } from 'runsheet';
import type { RunRecord } from '../src/storage/index.js';

/** The picture as SVG. */
export function exampleRun(draw: (storage: Storage, record: RunRecord) => Promise<string>): Promise<string>;
