import type { Command } from 'commander';
import type { ExitCode } from './exit-codes.js';
import type { Io } from './io.js';

/** Makes a command, of the program or of another command, with the options that all have. */
export type NewCommand = (synopsis: string, description: string, parent?: Command) => Command;

/**
 * Adds some commands to the program. A group loads what a command needs only once it is called, so that the program
 * starts at once; `done` takes what the process is to end with.
 */
export type CommandGroup = (command: NewCommand, io: Io, done: (code: ExitCode) => void) => void;
