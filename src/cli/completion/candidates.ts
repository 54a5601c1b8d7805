import type { Command, Option } from 'commander';

/** A word that could stand where the cursor is. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

export interface Completion {
  readonly candidates: readonly Candidate[];
  /** Paths would do as well. */
  readonly files: boolean;
}

/** The values of the options that were typed before, by their long names. */
export type TypedOptions = ReadonlyMap<string, string>;

/**
 * The values of a placeholder of a synopsis: of `<flow>` as argument or of `--db <path>` as option. Undefined: nothing
 * is known of it.
 */
export type ValuesOf = (
  placeholder: string,
  option: string | undefined,
  typed: TypedOptions,
) => Promise<Completion | undefined>;

const none: Completion = { candidates: [], files: false };

/** What can stand in place of the last of these words, which follow the name of the program. */
export async function completionOf(
  program: Command,
  words: readonly string[],
  valuesOf: ValuesOf,
): Promise<Completion> {
  const current = words.at(-1) ?? '';
  const reading = read(program, words.slice(0, -1));
  const { command, positionals, pending, typed } = reading;
  if (pending !== undefined) return startingWith(current, await optionValues(pending, typed, valuesOf));
  const assigned = /^(--[\w-]+)=/.exec(current)?.[1];
  if (assigned !== undefined) {
    const values = await optionValues(optionNamed(command, assigned), typed, valuesOf);
    return startingWith(current, {
      ...values,
      candidates: values.candidates.map((one) => prefixed(`${assigned}=`, one)),
    });
  }
  if (current.startsWith('-')) return startingWith(current, { candidates: optionsOf(command), files: false });
  const inner = positionals === 0 ? commandsOf(command) : [];
  const values = await argumentValues(reading, valuesOf);
  return startingWith(current, { candidates: [...inner, ...values.candidates], files: values.files });
}

interface Reading {
  readonly command: Command;
  /** How many arguments the command has been given. */
  readonly positionals: number;
  /** An option that waits for its value. */
  readonly pending: Option | undefined;
  readonly typed: TypedOptions;
}

function read(program: Command, words: readonly string[]): Reading {
  let command = program;
  let positionals = 0;
  let pending: Option | undefined;
  const typed = new Map<string, string>();
  for (const word of words) {
    const [, assigned, value] = /^(--[\w-]+)=(.*)$/.exec(word) ?? [];
    if (pending !== undefined) {
      if (pending.long) typed.set(pending.long, word);
      pending = undefined;
    } else if (assigned !== undefined && value !== undefined) {
      typed.set(assigned, value);
    } else if (word.startsWith('-') && word !== '-') {
      const option = optionNamed(command, word);
      if (option?.required === true || option?.optional === true) pending = option;
    } else {
      const inner = positionals === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (inner === undefined) positionals += 1;
      else command = inner;
    }
  }
  return { command, positionals, pending, typed };
}

function optionNamed(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => flag === long || flag === short);
}

async function optionValues(option: Option | undefined, typed: TypedOptions, valuesOf: ValuesOf): Promise<Completion> {
  if (option === undefined) return none;
  if (option.argChoices !== undefined) return choices(option.argChoices);
  const placeholder = /[<[]([\w-]+)/.exec(option.flags)?.[1] ?? '';
  return (await valuesOf(placeholder, option.long, typed)) ?? none;
}

async function argumentValues({ command, positionals, typed }: Reading, valuesOf: ValuesOf): Promise<Completion> {
  const { registeredArguments } = command;
  const argument = registeredArguments[positionals] ?? registeredArguments.findLast(({ variadic }) => variadic);
  if (argument === undefined) return none;
  if (argument.argChoices !== undefined) return choices(argument.argChoices);
  return (await valuesOf(argument.name(), undefined, typed)) ?? none;
}

function choices(values: readonly string[]): Completion {
  return { candidates: values.map((value) => ({ value, description: '' })), files: false };
}

function optionsOf(command: Command): Candidate[] {
  const visible = command.createHelp().visibleOptions(command);
  return visible.flatMap(({ long, description }) => (long ? [{ value: long, description }] : []));
}

function commandsOf(command: Command): Candidate[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible.map((one) => ({ value: one.name(), description: one.description() }));
}

function prefixed(prefix: string, { value, description }: Candidate): Candidate {
  return { value: prefix + value, description };
}

function startingWith(current: string, { candidates, files }: Completion): Completion {
  return { candidates: candidates.filter(({ value }) => value.startsWith(current)), files };
}
