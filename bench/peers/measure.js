import { spawn } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { median } from '../lab.js';
import { rawCommits } from '../raw.js';
import { hasStrace, syncsBetweenMarks, underStrace } from '../strace.js';
import { engine as runsheet } from './engines/runsheet.js';
import { runtimes } from './packages.js';

const childFile = fileURLToPath(new URL('child.js', import.meta.url));
const rawMs = 300;

/** What the design asks of 100 runs at once beside engines on SQLite, by the durability they share. */
const targets = { power: 15, process: 8 };

/** Puts engines to work below a folder on the disk that is measured. */
export class Bench {
  #folder;
  #rounds;
  #runsheetFsyncs = new Map();

  constructor({ folder, rounds }) {
    this.#folder = folder;
    this.#rounds = rounds;
  }

  /** One line of the table: a peer in one variant with so many runs at once, Runsheet and the raw limit in turn with it. */
  async compare(name, engine, variant, atOnce) {
    const { durability } = variant;
    const spec = { durability, atOnce };
    const rounds = [];
    for (let round = 0; round < this.#rounds; round += 1) {
      const raw = this.#rawPerSecond(durability);
      const ours = await this.#work('runsheet', runsheet, spec);
      const theirs = await this.#work(name, engine, spec);
      rounds.push({ raw, ours, theirs, load: loadavg()[0] });
    }
    const of = (figure) => spread(rounds.map(figure));
    const figures = (whose) => ({
      perSecond: of((round) => round[whose].perSecond),
      toRaw: of((round) => round[whose].perSecond / round.raw),
      cpuMs: of((round) => round[whose].cpuMs),
    });
    return {
      variant: variant.name,
      durability,
      atOnce,
      facts: rounds[0].theirs.facts,
      theirs: figures('theirs'),
      ours: figures('ours'),
      oursToTheirs: of(({ ours, theirs }) => ours.perSecond / theirs.perSecond),
      rawPerSecond: of(({ raw }) => raw),
      load: of(({ load }) => load),
      fsyncsARun: await this.#fsyncs(name, engine, spec),
      ...(engine.isSqlite && atOnce === 100 && { target: { atLeast: targets[durability] } }),
    };
  }

  #rawPerSecond(durability) {
    const synchronous = durability === 'power' ? 'FULL' : 'NORMAL';
    return rawCommits(`${this.#newFolder()}/raw.db`, { synchronous, rowsPerCommit: 1, forMs: rawMs }).perSecond;
  }

  async #fsyncs(name, engine, spec) {
    if (!hasStrace()) return undefined;
    const key = JSON.stringify(spec);
    const count = async (...of) => (await this.#work(...of, { ...spec, count: true })).fsyncsARun;
    if (!this.#runsheetFsyncs.has(key)) this.#runsheetFsyncs.set(key, await count('runsheet', runsheet));
    return { theirs: await count(name, engine), ours: this.#runsheetFsyncs.get(key) };
  }

  /** Has an engine work in a process of its own. Throws what kept it from it. */
  async #work(name, engine, spec) {
    const folder = this.#newFolder();
    const [resultFile, said, syncs] = ['result.json', 'said', 'strace'].map((file) => `${folder}/${file}`);
    const child = [childFile, name, JSON.stringify({ folder, resultFile, ...spec })];
    const [command, ...args] = [...(spec.count ? underStrace(syncs) : []), runtimes[engine.runtime].command, ...child];
    const output = openSync(said, 'w');
    const running = spawn(command, args, { stdio: ['ignore', output, output] });
    const end = () => running.kill();
    process.once('exit', end);
    const code = await new Promise((resolve, reject) => running.once('error', reject).once('exit', resolve));
    process.off('exit', end);
    closeSync(output);
    const { failed, runs, ms, cpuMs, facts } = existsSync(resultFile)
      ? JSON.parse(readFileSync(resultFile, 'utf8'))
      : { failed: `ended with ${code}: ${readFileSync(said, 'utf8').trim().slice(-500)}` };
    if (failed !== undefined) throw new Error(failed);
    return {
      perSecond: runs / (ms / 1000),
      cpuMs: cpuMs / runs,
      facts,
      ...(spec.count && { fsyncsARun: syncsBetweenMarks(syncs) / runs }),
    };
  }

  #newFolder() {
    const folder = mkdtempSync(`${this.#folder}/`);
    // PostgreSQL, which refuses to run as root, has to get through as another user.
    chmodSync(folder, 0o755);
    return folder;
  }
}

function spread(numbers) {
  return { median: median(numbers), least: Math.min(...numbers), most: Math.max(...numbers) };
}
