import type { LogMethod, Logger } from '../handlers/index.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  /** Errors among them as what they say. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What the engine and the handlers log, line by line. */
export function lineLogger(write: (line: LogLine) => void): Logger {
  const method =
    (level: LogLevel): LogMethod =>
    (fields: object | string, message?: string) => {
      const given = typeof fields === 'string' ? {} : fields;
      const text = typeof fields === 'string' ? fields : (message ?? '');
      const readable = Object.entries(given).map(([name, value]) => [name, fieldOf(value)] as const);
      write({ level, message: text, fields: Object.fromEntries(readable) });
    };
  return { debug: method('debug'), info: method('info'), warn: method('warn'), error: method('error') };
}

function fieldOf(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const code = 'code' in value && typeof value.code === 'string' ? { code: value.code } : {};
  return { name: value.name, ...code, message: value.message };
}
