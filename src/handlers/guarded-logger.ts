import { notify } from '../common/index.js';
import { type Logger, silentLogger } from './logger.js';

const levels: ReadonlySet<PropertyKey> = new Set(['debug', 'info', 'warn', 'error'] satisfies (keyof Logger)[]);

/** The same logger, whatever else it can do, whose four methods never throw: what cannot be logged stops no run. */
export function guardedLogger(logger: Logger): Logger {
  if (logger === silentLogger) return logger;
  return new Proxy(logger, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (!levels.has(name) || typeof member !== 'function') return member;
      return (...given: unknown[]) => notify(() => Reflect.apply(member, target, given) as unknown);
    },
  });
}
