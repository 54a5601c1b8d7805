import { firstProblem, problemText } from '../../definition/index.js';
import type { HandlerDescription } from '../../handlers/index.js';
import { type Path, nearest } from '../../syntax/index.js';
import { scenariosOf } from './check-names.js';
import type { Reply, Script } from './document.generated.js';
import { type FileCheck, headOf, rangeOf } from './test-check.js';
import { pathIn, problemRange } from './value-problems.js';

/** Errors that a call may end with whatever its handler declares. */
const anyHandler: ReadonlySet<string> = new Set(['Timeout', 'Interrupted', 'NoEffectError', 'NonRetryableError']);

/** What handlers answer, against what they say of themselves. */
export function checkAnswers(check: FileCheck): void {
  for (const { path, test } of scenariosOf(check)) {
    if (test.handlers === undefined || test.handlers === 'real') continue;
    for (const [name, script] of Object.entries(test.handlers)) {
      const described = check.handlers?.get(name);
      if (described === undefined) continue;
      for (const each of repliesOf(script))
        checkReply(each.reply, [...path, 'handlers', name, ...each.path], described, check);
    }
  }
}

/** The answers of a script with their places in it. */
export function repliesOf(script: Script): { reply: Reply; path: Path }[] {
  if (script === 'real') return [];
  return Array.isArray(script)
    ? script.map((reply, index) => ({ reply, path: [index] }))
    : [{ reply: script, path: [] }];
}

function checkReply(reply: Reply, path: Path, described: HandlerDescription, { root, report }: FileCheck): void {
  const { name, output, errors } = described;
  if (reply.throws !== undefined) {
    const thrown = reply.throws.name;
    if (errors === undefined || errors.includes(thrown) || anyHandler.has(thrown)) return;
    const guess = nearest(thrown, errors);
    // Handlers declare what they throw on purpose; a test may well show what comes of a full disk.
    if (guess === undefined) return;
    const message = `the handler \`${name}\` declares no error \`${thrown}\``;
    report.warning('RS6032', rangeOf(root, [...path, 'throws', 'name']), message, `did you mean \`${guess}\`?`);
    return;
  }
  if (output === undefined) return;
  const returned = 'returns' in reply ? reply.returns : undefined;
  const problem = firstProblem(output, returned ?? null);
  if (problem === undefined) return;
  if (returned === undefined) {
    const message = `an answer without \`returns\` does not fit the output of \`${name}\``;
    report.error('RS6031', headOf(root, path), message, 'say what it returns');
    return;
  }
  const at = [...path, 'returns', ...pathIn(returned, problem.path)];
  const message = `this does not fit the output of \`${name}\`: ${problemText(problem)}`;
  report.error(
    'RS6031',
    problemRange(root, at, problem),
    message,
    'write what the handler gives, or mend its output schema',
  );
}
