import type { DiagnosticCode } from '../syntax/index.js';

/** What a project's file `runsheet.config.*` may say. Paths are seen from the folder of that file. */
export interface RunsheetConfig {
  /** Database of the runs. Default: `.runsheet/runs.db`. */
  readonly db?: string;
  /** Folder or file of the handlers. Default: `handlers`. */
  readonly handlers?: string;
  /** Folder of the flows. Default: `definitions`. */
  readonly definitions?: string;
  /** Runs that a worker drives at once. Default: 5. */
  readonly concurrency?: number;
  /** `validate` fails if there are more warnings than this. Default: no limit. */
  readonly maxWarnings?: number;
  /** What warnings of a code count as. Errors stay errors. */
  readonly severity?: Partial<Readonly<Record<DiagnosticCode, 'off' | 'warning' | 'error'>>>;
  /** Warnings that are not reported: those of a code, those in files, or both. */
  readonly ignore?: readonly IgnoreRule[];
}

/** At least one of the two. */
export interface IgnoreRule {
  readonly code?: DiagnosticCode;
  /** A pattern of paths such as `definitions/legacy/**`, seen from the folder of the config file. */
  readonly path?: string;
}

/** A project's config and where it stands. */
export interface ProjectConfig {
  /** As messages call it. */
  readonly name: string;
  /** From which its paths are seen, and the defaults too. */
  readonly folder: string;
  readonly config: RunsheetConfig;
  /** It is code that was not executed, so that nothing of what it says is known. */
  readonly isSkipped?: boolean;
}

/**
 * Gives a config back as it is; only so that the editor knows what may stand in it.
 *
 *     export default defineConfig({ db: 'data/runs.db', severity: { RS4010: 'error' } });
 */
export function defineConfig(config: RunsheetConfig): RunsheetConfig {
  return config;
}
