import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hasStrace, syncsBetweenMarks, underStrace } from './strace.js';

const childFile = fileURLToPath(new URL('child.js', import.meta.url));

/**
 * Where the parts measure. Each workload is run by a process of its own, so that no part finds code
 * warmed up, or a heap filled, by another.
 */
export class Lab {
  /** A folder on the disk that is measured; removed at the end. */
  folder;
  /** Fewer rounds, smaller workloads. */
  quick;
  /** Fsyncs can be counted. */
  hasStrace;

  constructor({ folder, quick }) {
    this.folder = folder;
    this.quick = quick;
    this.hasStrace = hasStrace();
  }

  get rounds() {
    return this.quick ? 1 : 5;
  }

  newFolder() {
    return mkdtempSync(`${this.folder}/`);
  }

  /**
   * Runs a part's `workload(spec)` in a process of its own; answers what it returned.
   *
   * @param {{ nodeOptions?: string[], prefix?: string[] }} [options] `prefix`: a command to run it under
   */
  async workload(part, spec, { nodeOptions = [], prefix = [] } = {}) {
    const folder = this.newFolder();
    const node = [process.execPath, ...nodeOptions, childFile, part, JSON.stringify({ folder, ...spec })];
    const [command, ...args] = [...prefix, ...node];
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece) => (text += piece));
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    if (code !== 0) throw new Error(`the workload ${part} ${JSON.stringify(spec)} ended with exit code ${code}`);
    return JSON.parse(text);
  }

  /** As `workload`, and counts the syncs between the workload's two marks (`markForStrace`), or none without strace. */
  async countedWorkload(part, spec) {
    if (!this.hasStrace) return { ...(await this.workload(part, { ...spec, count: true })), fsyncs: undefined };
    const log = `${this.newFolder()}/strace`;
    const result = await this.workload(part, { ...spec, count: true }, { prefix: underStrace(log) });
    return { ...result, fsyncs: syncsBetweenMarks(log) };
  }

  /** Does `work` so many times, one after the other; answers all results. */
  async repeat(work, rounds = this.rounds) {
    const results = [];
    for (let round = 0; round < rounds; round += 1) results.push(await work(round));
    return results;
  }
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) throw new Error('the median of nothing');
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median of each number that the results have. */
export function medians(results) {
  return Object.fromEntries(
    Object.keys(results[0] ?? {}).map((name) => [name, median(results.map((result) => result[name]))]),
  );
}
