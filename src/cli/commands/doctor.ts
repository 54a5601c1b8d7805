import { paint } from '../../common/index.js';
import { checkDatabase } from '../doctor/database.js';
import type { Finding } from '../doctor/finding.js';
import { checkInstallation } from '../doctor/installation.js';
import { checkProject } from '../doctor/project.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { type Io, wantsColor } from '../io.js';
import { definitionsSetting } from '../settings.js';
import { columnsOf, hanging } from '../terminal-text.js';
import { oneLine, printedJson } from '../text.js';

export interface DoctorOptions {
  readonly json: boolean;
  readonly db?: string;
  readonly handlers?: string;
  readonly definitions?: string;
}

/** Looks at all that runs need, and says what to do about what is wrong. Fails if something is a problem. */
export async function doctor(options: DoctorOptions, io: Io): Promise<ExitCode> {
  const { json, db, handlers, definitions } = options;
  const installation = await checkInstallation();
  const project = await checkProject(handlers, definitionsSetting(definitions, io), io);
  // Without its native module the database cannot be looked at; why is said already.
  const canOpen = installation.every(({ state }) => state !== 'problem');
  const database = canOpen ? await checkDatabase(db, project, { db, handlers, definitions }, io) : [];
  const findings = [...installation, ...project.findings, ...database];
  if (json) io.data(`${printedJson({ version: 1, findings })}\n`);
  else {
    const columns = columnsOf(io, 'out');
    const color = wantsColor(io, io.outIsTerminal);
    io.out(findings.map((finding) => textOf(finding, columns, color)).join(''));
  }
  return findings.some(({ state }) => state === 'problem') ? exitCodes.failed : exitCodes.fine;
}

const marks = { fine: 'ok', warning: 'warning', problem: 'problem' } as const;
const colors = { fine: 'green', warning: 'yellow', problem: 'red' } as const;
const markWidth = 9;

function textOf({ subject, state, message, remedy }: Finding, columns: number | undefined, inColor: boolean): string {
  const mark = marks[state];
  const first = hanging(oneLine(`${mark.padEnd(markWidth)}${subject}: ${message}`), columns, markWidth);
  const painted = inColor ? first.replace(mark, paint(mark, colors[state])) : first;
  const indent = ' '.repeat(markWidth);
  return remedy === undefined
    ? `${painted}\n`
    : `${painted}\n${hanging(indent + oneLine(remedy), columns, markWidth)}\n`;
}
