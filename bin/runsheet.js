#!/usr/bin/env node
import { readFileSync } from 'node:fs';

// `runsheet list | head` closes the pipe early, which is no mistake of anybody's; a full disk is told.
// A command that has work to bring to an end first (`worker`) listens to it.
let isBeingEnded = false;
process.stdout.on('error', (error) => {
  isBeingEnded ||= process.emit('runsheet:output-lost', error);
  if (isBeingEnded) return;
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`error: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});
// Where nobody reads what is told, what is told of goes on.
process.stderr.on('error', () => {});

// The version is asked for by scripts, again and again: loading the command line would take longer than all the rest.
if (process.argv.length === 3 && process.argv[2] === '--version') {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  process.stdout.write(`${JSON.parse(manifest).version}\n`);
} else {
  const { endOnFault, main } = await import('../dist/cli/index.js');
  endOnFault(process.argv);
  const exitCode = await main(process.argv);
  // What handlers left open (sockets, timers) must not keep the command from ending, but all output must be out.
  // An error of a stream is told a moment after the write.
  process.stdout.write('', () => process.stderr.write('', () => setImmediate(() => process.exit(exitCode))));
}
