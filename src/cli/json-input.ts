import { readFile } from 'node:fs/promises';
import { type JsonValue, readJson } from '../common/index.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure, systemCodeOf } from './failure.js';
import { type Io, pathOf } from './io.js';

/**
 * JSON given on the command line: the text itself, `@file`, or `-` for stdin.
 *
 * @throws CommandFailure (usage) for what is no JSON, naming the place, or cannot be read
 */
export async function readJsonInput(option: string, argument: string, io: Io): Promise<JsonValue> {
  const { text, name } = await textOf(option, argument, io);
  try {
    return readJson(text);
  } catch (error) {
    const reason = text.trim() === '' ? 'it is empty' : error instanceof Error ? error.message : String(error);
    const hint = argument === text ? `; quote it for the shell, or write ${option} @file.json` : '';
    const what = isJson(text) ? 'cannot be taken' : 'is not JSON';
    const message = `${name} ${what}: ${reason}${isJson(text) ? '' : hint}`;
    throw new CommandFailure(exitCodes.usage, message, { cause: error });
  }
}

async function textOf(option: string, argument: string, io: Io): Promise<{ text: string; name: string }> {
  if (argument === '-') return { text: await io.readStdin(), name: 'the input on stdin' };
  if (!argument.startsWith('@')) return { text: argument, name: option };
  const path = argument.slice(1);
  try {
    return { text: (await readFile(pathOf(io, path), 'utf8')).replace(/^\ufeff/, ''), name: path };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message =
      systemCodeOf(error) === 'ENOENT'
        ? `${option} ${argument} cannot be read: there is no file ${path}`
        : `${option} ${argument} cannot be read: ${reason}`;
    throw new CommandFailure(exitCodes.usage, message, { cause: error });
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
