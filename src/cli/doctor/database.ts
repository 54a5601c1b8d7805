import { existsSync } from 'node:fs';
import { RunsheetError } from '../../common/index.js';
import { definitionFromCanonical, handlersOf, walkItems } from '../../definition/index.js';
import type { DatabaseState, RunRecord, Storage, Survey } from '../../storage/index.js';
import { databasePath, withExistingStorage } from '../database.js';
import type { Io } from '../io.js';
import { type Given, adoptCommand, showCommand } from '../next-commands.js';
import { countText, shortHash, timeText } from '../text.js';
import { type Finding, fine, problem, warning } from './finding.js';
import type { Project } from './project.js';

/** A log of this size is no longer copied in passing: somebody keeps it from being. */
const largeWalBytes = 256 * 1024 * 1024;
/** Clocks of processes on one machine agree; what lies further ahead was written by another clock. */
const clockToleranceMs = 60_000;
/** Who asks for a survey is an engine with a name; the doctor drives nothing and has none of its own. */
const nobody = 'runsheet doctor';

/** Whether the database is sound and what in it nobody will move on. Changes nothing in a database of this version. */
export async function checkDatabase(
  db: string | undefined,
  project: Project,
  given: Given,
  io: Io,
): Promise<Finding[]> {
  const path = databasePath(db, io);
  const { inspectDatabase, writeRefusal } = await import('../../storage/index.js');
  const refusal = writeRefusal(path);
  if (!existsSync(path)) {
    if (refusal !== undefined)
      return [problem('database', refusal.message, 'mend that first, or name another by --db')];
    return [fine('database', `there is none yet; \`runsheet run\` makes ${path}`)];
  }
  try {
    const state = await inspectDatabase(path);
    const findings = [...fileFindings(path, state), ...clockFindings(state, io.clock.now())];
    // What is damaged, or would be migrated, is not opened by one who only looks.
    if (state.faults.length > 0 || state.version < state.newestVersion) return findings;
    if (refusal !== undefined) return [...findings, unopened(refusal)];
    return [...findings, ...(await withExistingStorage(db, io, (storage) => runFindings(storage, project, given, io)))];
  } catch (error) {
    if (!(error instanceof RunsheetError)) throw error;
    return [unopened(error)];
  }
}

function unopened({ message }: RunsheetError): Finding {
  return problem('database', message, 'mend that first; the runs in it were not looked at');
}

function fileFindings(path: string, { version, newestVersion, bytes, walBytes, faults }: DatabaseState): Finding[] {
  const [fault] = faults;
  if (fault !== undefined) {
    return [problem('database', `${path} is damaged: ${fault}`, 'stop all workers and restore a backup')];
  }
  if (version < newestVersion) {
    const message = `${path} has version ${version}, this Runsheet works with ${newestVersion}`;
    return [warning('database', message, 'bring it up to date by `runsheet migrate`, after a backup')];
  }
  const findings = [fine('database', `${path}, version ${version}, ${sizeText(bytes)}, sound`)];
  if (walBytes > largeWalBytes) {
    const remedy = 'end programs that have kept the database open for long (database browsers, backups)';
    findings.push(warning('database', `its write-ahead log has grown to ${sizeText(walBytes)}`, remedy));
  }
  return findings;
}

function clockFindings({ newestAt }: DatabaseState, now: number): Finding[] {
  if (newestAt === null || newestAt <= now + clockToleranceMs) return [fine('clock', timeText(now))];
  const message = `the newest run was made at ${timeText(newestAt)}, and it is ${timeText(now)} now`;
  return [problem('clock', message, 'set the clock right: until then sleeps and deadlines end late')];
}

async function runFindings(storage: Storage, project: Project, given: Given, io: Io): Promise<Finding[]> {
  const now = io.clock.now();
  const hashes = project.definitions.map(({ hash }) => hash);
  const survey = await storage.survey(nobody, hashes, now);
  // One that is due has been decided about.
  const stuck = (await storage.listRuns({ statuses: ['compensation-stuck'] })).runs
    .filter((run) => run.dueAt === null)
    .map(({ id }) => id);
  const dueAt = await storage.nextDueAt(hashes);
  const findings = [
    ...stuckFindings(stuck, given),
    ...(await missingFindings(storage, survey, project, given)),
    ...namedFindings(survey.suspects, 'interrupted again and again', given),
    ...namedFindings(survey.orphans, 'whose parent run is gone', given),
  ];
  const left = survey.othersAlive ? [] : await leftRuns(storage);
  if (left.length > 0) {
    const [verb, was] = left.length === 1 ? ['was', 'it'] : ['were', 'them'];
    const message = `${countText(left.length, 'run')} ${verb} being executed by an engine that is gone, and no worker is running`;
    findings.push(warning('runs', message, `start \`runsheet worker\`, which takes ${was} over at once`));
  } else if (dueAt !== undefined && dueAt <= now && !survey.othersAlive) {
    const remedy = 'drive them by `runsheet worker`';
    findings.push(warning('runs', `there are runs due since ${timeText(dueAt)}, and no worker is at work`, remedy));
  }
  return findings.length > 0 ? findings : [fine('runs', 'none is stuck')];
}

/** Runs that somebody holds, whatever their leases say, while no engine is alive. */
async function leftRuns(storage: Storage): Promise<RunRecord[]> {
  const { runs } = await storage.listRuns({ statuses: ['running', 'compensating'], limit: 1000 });
  return runs.filter(({ owner }) => owner !== null);
}

function stuckFindings(stuck: readonly string[], given: Given): Finding[] {
  const [first] = stuck;
  if (first === undefined) return [];
  const verb = stuck.length === 1 ? 'waits' : 'wait';
  const message = `${countText(stuck.length, 'run')} could not undo a step and ${verb} for a decision`;
  return [problem('runs', message, `\`${showCommand(first, given)}\` says why, and how to go on`)];
}

function namedFindings(runs: readonly string[], what: string, given: Given): Finding[] {
  const [first] = runs;
  if (first === undefined) return [];
  return [warning('runs', `${countText(runs.length, 'run')} ${what}`, `look at \`${showCommand(first, given)}\``)];
}

/** Runs whose flow is gone, by its content; with the handlers that what is stored of it would need. */
async function missingFindings(
  storage: Storage,
  { withoutDefinition }: Survey,
  { handlers }: Project,
  given: Given,
): Promise<Finding[]> {
  const byHash = new Map<string, RunRecord[]>();
  for (const run of withoutDefinition) {
    byHash.set(run.definitionHash, [...(byHash.get(run.definitionHash) ?? []), run]);
  }
  const findings: Finding[] = [];
  for (const [hash, runs] of byHash) {
    const [{ workflow, revision } = { workflow: '', revision: 0 }] = runs;
    const message = `${countText(runs.length, 'run')} of ${workflow} revision ${revision} without ${runs.length === 1 ? 'its' : 'their'} flow (hash ${shortHash(hash)})`;
    const stored = await storage.readDefinition(hash);
    const lacking = stored === undefined ? [] : lackingHandlers(stored.document, handlers?.names() ?? []);
    const remedy =
      lacking.length > 0
        ? `put the flow back among the definitions, and the handlers ${lacking.join(', ')} with it`
        : `put the flow back among the definitions, or go on from what is stored: \`${adoptCommand(given)}\``;
    findings.push(problem('runs', message, remedy));
  }
  return findings;
}

function lackingHandlers(canonical: string, known: readonly string[]): string[] {
  const needed = new Set<string>();
  walkItems(definitionFromCanonical(canonical).document, ({ item }) => {
    for (const handler of handlersOf(item)) needed.add(handler);
  });
  return [...needed].filter((name) => !known.includes(name));
}

function sizeText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${Number(size.toFixed(unit === 0 ? 0 : 1))} ${units[unit]}`;
}
