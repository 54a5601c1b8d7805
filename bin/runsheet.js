#!/usr/bin/env node
import { endOnFault, main } from '../dist/cli/index.js';

// `runsheet list | head` closes the pipe early, which is no mistake of anybody's.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

endOnFault(process.argv);
const exitCode = await main(process.argv);
// What handlers left open (sockets, timers) must not keep the command from ending, but all output must be out.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
