import { spawnSync } from 'node:child_process';
import { fdatasyncSync, readFileSync } from 'node:fs';

/** Counting the syncs of a process and of those that it starts, between two marks that it sets itself. */

export function hasStrace() {
  return spawnSync('strace', ['-V']).status === 0;
}

/** What goes before a command whose syncs are to be written to the file `log`. */
export function underStrace(log) {
  return ['strace', '-f', '-qq', '-e', 'trace=fsync,fdatasync', '-o', log];
}

/** A descriptor that no process has: a sync of it fails, and stands in strace's log. */
const markDescriptor = 2 ** 31 - 1;

/** Where strace is to begin, or to end, to count. */
export function markForStrace() {
  try {
    fdatasyncSync(markDescriptor);
  } catch (error) {
    if (error.code !== 'EBADF') throw error;
  }
}

export function syncsBetweenMarks(log) {
  // A call that strace splits into two lines is counted by its first.
  const calls = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => /f(data)?sync\(/.test(line));
  const isMark = (line) => line.includes(`sync(${markDescriptor}`);
  const first = calls.findIndex(isMark);
  const last = calls.findLastIndex(isMark);
  if (first === -1 || last === first) throw new Error('the log of strace has no marks');
  return last - first - 1;
}
